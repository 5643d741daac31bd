#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use serde_json::json;

fn load(change: impl FnOnce(&mut Value)) -> Result<RuntimeDescriptor, Vec<RegistryError>> {
    let mut document = json!({
        "schema": "akbench.runtime/1", "id": "acme-router", "version": "1.0.0", "name": "Acme",
        "base_url": {"environment": "ACME_URL", "default": "http://localhost:1/v1/"},
        "wire_api": "responses", "credential": {"environment": "ACME_KEY"},
        "default_model": "acme-1", "model_environment": "ACME_MODEL",
        "headers": {"X-B": "2", "X-A": "1"},
    });
    change(&mut document);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("acme.json");
    std::fs::write(&path, document.to_string()).expect("a file");
    RuntimeDescriptor::load(&path)
}

fn environment<'a>(variables: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
    |name| {
        variables
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    }
}

#[test]
fn defaults_hold_until_the_environment_says_otherwise() {
    let runtime = load(|_| {}).expect("valid");
    let resolved = runtime
        .resolve(environment(&[("ACME_URL", ""), ("ACME_MODEL", "")]))
        .expect("resolved");
    assert_eq!(resolved.name, "acme-router");
    assert_eq!(resolved.base_url, "http://localhost:1/v1");
    assert_eq!(resolved.model.as_deref(), Some("acme-1"));
    assert_eq!(resolved.credential_variable.as_deref(), Some("ACME_KEY"));
    assert_eq!(
        resolved.headers,
        [
            ("X-B".to_owned(), "2".to_owned()),
            ("X-A".to_owned(), "1".to_owned())
        ]
    );
    let variables = [
        ("ACME_URL", "https://[::1]:8443/x"),
        ("ACME_MODEL", "acme-2"),
    ];
    let resolved = runtime.resolve(environment(&variables)).expect("resolved");
    assert_eq!(resolved.base_url, "https://[::1]:8443/x");
    assert_eq!(resolved.model.as_deref(), Some("acme-2"));
}

#[test]
fn a_bad_address_is_named_with_its_variable_and_without_its_password() {
    let runtime = load(|_| {}).expect("valid");
    for (value, part) in [
        ("localhost:1", "http://"),
        ("ftp://host", "http://"),
        ("http://", "a host"),
        ("http:///v1", "a host"),
        ("http://:80/v1", "a host"),
        ("http://host:0/", "a port"),
        ("http://host:99999/", "a port"),
        ("http://host:/", "a port"),
        ("http://[::1/v1", "`]`"),
        ("http://ho st/", "spaces"),
        ("http://host/v1\n", "line breaks"),
        ("http://user:sesame@host/v1", "user and password"),
        ("http://user:ses/ame@host?sesame", "query"),
        ("http://host/v1?key=sesame", "query"),
    ] {
        let error = runtime
            .resolve(environment(&[("ACME_URL", value)]))
            .expect_err(value)
            .to_string();
        assert!(
            error.contains("`ACME_URL`") && error.contains(part),
            "{value}: {error}"
        );
        assert!(
            !error.contains("sesame") && !error.contains("ses/ame"),
            "{error}"
        );
    }
}

#[test]
fn an_address_without_default_has_to_be_set() {
    let runtime =
        load(|document| document["base_url"] = json!({"environment": "ACME_URL"})).expect("valid");
    let error = runtime.resolve(|_| None).expect_err("unset");
    assert!(
        error.to_string().contains("`ACME_URL` is not set"),
        "{error}"
    );
}

#[test]
fn the_credential_comes_from_its_variable_alone() {
    let runtime = load(|_| {}).expect("valid");
    let secret = runtime
        .credential(environment(&[("ACME_KEY", "hunter2hunter2")]))
        .expect("there")
        .expect("needed");
    assert_eq!(secret.expose(), "hunter2hunter2");
    for variables in [&[][..], &[("ACME_KEY", "")]] {
        let error = runtime
            .credential(environment(variables))
            .expect_err("missing");
        assert_eq!(
            (error.variable.as_str(), error.problem),
            ("ACME_KEY", CredentialProblem::Unset)
        );
    }
    let open = load(|document| {
        document
            .as_object_mut()
            .expect("an object")
            .remove("credential");
    });
    assert!(
        open.expect("valid")
            .credential(|_| None)
            .expect("none needed")
            .is_none()
    );
}

#[test]
fn mistakes_in_a_file_are_reported_together_with_their_pointers() {
    let errors = load(|document| {
        document["wire_ap"] = json!("x");
        document["base_url"] = json!({"text": "localhost", "default": "http://a"});
        document["headers"] = json!({"Authorization": "Bearer x", "x-a": "1", "X-A": "2"});
        document["model_environment"] = json!("1X");
    })
    .expect_err("mistakes");
    let shown: Vec<String> = errors
        .iter()
        .map(|error| error.problem.to_string())
        .collect();
    for part in [
        "at `/wire_ap`: unknown key; did you mean `wire_api`?",
        "at `/base_url/text`: expected an http or https URL with a host",
        "at `/base_url`: the key `environment` is missing",
        "at `/headers/Authorization`: expected the name of an HTTP header that carries no secret",
        "at `/headers/X-A`: expected a header other than `x-a`",
        "at `/model_environment`: expected the name of an environment variable",
    ] {
        assert!(
            shown.iter().any(|line| line.contains(part)),
            "{part}\n{shown:#?}"
        );
    }
}

#[test]
fn an_address_comes_from_exactly_one_place() {
    for base_url in [json!({}), json!({"text": "http://a", "environment": "A"})] {
        let errors = load(|document| document["base_url"] = base_url).expect_err("none or two");
        let shown: Vec<String> = errors
            .iter()
            .map(|error| error.problem.to_string())
            .collect();
        assert_eq!(shown.len(), 1, "{shown:?}");
        assert!(
            shown[0].starts_with("at `/base_url`: expected either `text`, or `environment`"),
            "{shown:?}"
        );
    }
}
