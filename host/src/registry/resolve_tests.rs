#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

#[derive(Debug, Clone, PartialEq)]
struct Item(String, Version);

impl Versioned for Item {
    fn id(&self) -> &str {
        &self.0
    }

    fn version(&self) -> &Version {
        &self.1
    }
}

fn items(names: &[&str]) -> Vec<Item> {
    let item = |name: &&str| {
        let (id, version) = name.split_once('@').expect("a full name");
        Item(id.to_owned(), Version::parse(version).expect("a version"))
    };
    names.iter().map(item).collect()
}

#[test]
fn names_take_the_newest_that_fits() {
    let items = items(&[
        "acme@1.2.0",
        "acme@1.10.0",
        "acme@0.9.0",
        "acme@2.0.0",
        "acme@3.0.0-rc.1",
        "acme@2.0.0-rc.1",
        "beta@0.1.0-a",
    ]);
    for (spec, expected) in [
        ("acme", "acme@2.0.0"),
        ("acme@1", "acme@1.10.0"),
        ("acme@1.2", "acme@1.2.0"),
        ("acme@1.2.0", "acme@1.2.0"),
        ("acme@0", "acme@0.9.0"),
        ("acme@3", "acme@3.0.0-rc.1"),
        ("acme@2.0.0-rc.1", "acme@2.0.0-rc.1"),
        ("beta", "beta@0.1.0-a"),
    ] {
        assert_eq!(
            full_name(&resolve(Kind::Agent, &items, spec).expect(spec)),
            expected,
            "{spec}"
        );
    }
}

#[test]
fn what_does_not_exist_is_answered_with_what_does() {
    let items = items(&["acme@1.10.0", "acme@1.2.0", "beta@2.0.0"]);
    for (spec, expected) in [
        (
            "acne",
            "there is no task `acne`; did you mean `acme`?; there are `acme@1.2.0`, `acme@1.10.0`, `beta@2.0.0`",
        ),
        (
            "zzz",
            "there is no task `zzz`; there are `acme@1.2.0`, `acme@1.10.0`, `beta@2.0.0`",
        ),
        (
            "acme@2",
            "there is no version `2` of task `acme`; there are `acme@1.2.0`, `acme@1.10.0`",
        ),
        (
            "acme@1.2.1",
            "there is no version `1.2.1` of task `acme`; there are `acme@1.2.0`, `acme@1.10.0`",
        ),
    ] {
        assert_eq!(
            resolve(Kind::Task, &items, spec)
                .expect_err(spec)
                .to_string(),
            expected
        );
    }
    for spec in [
        "acme@",
        "acme@v1",
        "acme@01",
        "acme@1.2.3.4",
        "acme@+1",
        "acme@1.",
        "@1",
        "acme@1@2",
        "acme@*",
    ] {
        let error = resolve(Kind::Task, &items, spec).expect_err(spec);
        assert!(
            matches!(error, ResolveError::Malformed { .. }),
            "{spec}: {error}"
        );
    }
    let error = resolve::<Item>(Kind::Task, &[], "acme").expect_err("nothing there");
    assert_eq!(error.to_string(), "there is no task `acme`; there are none");
}

#[test]
fn resolution_does_not_depend_on_order_and_every_full_name_finds_itself() {
    let mut all = Vec::new();
    for major in 0..4 {
        for minor in 0..3 {
            for patch in 0..3 {
                all.push(Item("acme".to_owned(), Version::new(major, minor, patch)));
            }
        }
    }
    for rotation in 0..all.len() {
        all.rotate_left(1);
        for item in &all {
            let name = full_name(item);
            assert_eq!(
                resolve(Kind::Agent, &all, &name).expect(&name),
                item,
                "rotation {rotation}"
            );
            let version = item.version();
            let by_major =
                resolve(Kind::Agent, &all, &format!("acme@{}", version.major)).expect("there");
            assert_eq!(by_major.version().major, version.major);
            assert!(by_major.version() >= version);
            let by_minor = format!("acme@{}.{}", version.major, version.minor);
            let by_minor = resolve(Kind::Agent, &all, &by_minor).expect("there");
            assert!(by_minor.version() >= version && by_minor.version() <= by_major.version());
            assert!(
                resolve(Kind::Agent, &all, "acme").expect("there").version() >= by_major.version()
            );
        }
    }
}
