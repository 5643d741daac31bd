//! Inputs that once broke something break it no more, and no seed breaks anything.

#![allow(clippy::expect_used, clippy::panic)]

use akbench_fuzz::{Target, seeds, targets};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn the_regression_corpus_is_survived() {
    let mut played = 0;
    for target in targets::ALL {
        let Ok(entries) = fs::read_dir(target.regressions()) else {
            continue;
        };
        for entry in entries {
            let path = entry.expect("an entry").path();
            eprintln!("{}", path.display());
            (target.run)(&fs::read(&path).expect("a readable input"));
            played += 1;
        }
    }
    assert!(played > 0, "no regression was found where they are kept");
}

#[test]
fn every_folder_of_regressions_is_a_targets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    for entry in fs::read_dir(root).expect("the corpus") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        assert!(Target::named(&name).is_some(), "{name} is no target");
    }
}

#[test]
fn names_of_targets_are_unique() {
    let names: BTreeSet<&str> = targets::ALL.iter().map(|target| target.name).collect();
    assert_eq!(names.len(), targets::ALL.len());
}

/// One test for each target, so that they run side by side and name what they break.
macro_rules! seeds_are_survived {
    ($($target:ident)*) => {
        $(#[test]
        fn $target() {
            survives_its_seeds(stringify!($target));
        })*

        #[test]
        fn every_target_plays_its_seeds() {
            let tested = BTreeSet::from([$(stringify!($target)),*]);
            let all = targets::ALL.iter().map(|target| target.name).collect();
            assert_eq!(tested, all);
        }
    };
}

mod seeds_are_survived_by {
    use super::*;

    seeds_are_survived! {
        event_stream rollout evidence fake_evidence agent runtime catalog task component run
        protocol redaction
    }
}

/// Whole, and cut at a few places, as a crash would cut them.
fn survives_its_seeds(name: &str) {
    let target = Target::named(name).expect("a target");
    let seeds = seeds::of(name);
    assert!(!seeds.is_empty(), "{name} has no seeds");
    for seed in seeds {
        for part in [1, 3, 7, 10] {
            (target.run)(&seed[..seed.len() * part / 10]);
        }
    }
}
