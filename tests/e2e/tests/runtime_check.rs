//! `akbench runtime check`: what an endpoint says to one request.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench_e2e::scene::{CREDENTIAL, Ran, Scene};
use akbench_responses_server::{Server, scripts};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

/// An endpoint that takes one request, answers with these bytes, and tells what it was asked. With
/// no bytes it stays silent until the other side goes.
fn endpoint(answer: &'static str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let asked = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let asked = head(&stream);
        stream.write_all(answer.as_bytes()).unwrap();
        if answer.is_empty() {
            let mut rest = String::new();
            // Over once the client has given up.
            let _ = BufReader::new(&stream).read_line(&mut rest);
        }
        asked
    });
    (url, asked)
}

fn head(stream: &TcpStream) -> String {
    let mut lines = BufReader::new(stream).lines();
    let mut head = String::new();
    while let Some(Ok(line)) = lines.next()
        && !line.is_empty()
    {
        head.push_str(&line);
        head.push('\n');
    }
    head
}

fn check(url: &str, more: &[&str], code: i32) -> Ran {
    let scene = Scene::new();
    let mut command = scene.akbench(["runtime", "check", "llm-router"]);
    let ran = scene.run(command.args(more).env("AKBENCH_LLM_ROUTER_URL", url));
    assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
    let text = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!text.contains(CREDENTIAL), "{text}");
    ran
}

#[test]
fn an_endpoint_that_lists_models_answers() {
    let (url, asked) = endpoint(concat!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n",
        r#"{"object":"list","data":[{"id":"gpt-5.5"},{"id":"other"}]}"#,
    ));
    let answer = check(&url, &["--json"], 0).result();
    assert_eq!(answer["status"], 200);
    assert_eq!(answer["class"], Value::Null);
    assert_eq!(answer["models"], json!(["gpt-5.5", "other"]));
    assert_eq!(answer["model_listed"], true);
    assert_eq!(answer["credential_variable"], "AKBENCH_LLM_ROUTER_KEY");
    let asked = asked.join().unwrap();
    assert!(asked.starts_with("GET /v1/models HTTP/1.1\n"), "{asked}");
    let sent = format!("authorization: bearer {CREDENTIAL}");
    assert!(asked.to_lowercase().contains(&sent), "{asked}");
}

#[test]
fn the_scripted_server_answers_one_request_that_asks_no_model() {
    let server = Server::start(scripts::happy()).unwrap();
    let page = check(&server.base_url(), &[], 0).stdout;
    assert!(page.starts_with("llm-router@1.0.0 answers\n"), "{page}");
    assert!(page.contains("gpt-5.5 is not listed"), "{page}");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(server.model_requests().len(), 0);
}

#[test]
fn a_refused_credential_is_an_authentication_failure_with_its_typed_code() {
    let (url, _) = endpoint(concat!(
        "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n",
        r#"{"error":{"type":"invalid_request_error","code":"invalid_api_key","#,
        r#""message":"Incorrect API key provided: canary-credential-4711"}}"#,
    ));
    let answer = check(&url, &["--json"], 3).result();
    assert_eq!(answer["status"], 401);
    assert_eq!(answer["class"], "authentication");
    assert_eq!(answer["fault"], "infrastructure");
    assert_eq!(answer["error_type"], "invalid_request_error");
    assert_eq!(answer["error_code"], "invalid_api_key");
    assert_eq!(answer["models"], Value::Null);
}

#[test]
fn an_endpoint_without_a_list_of_models_answers_and_proves_no_more() {
    let (url, _) = endpoint("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\nno such page");
    let page = check(&url, &[], 0).stdout;
    assert!(
        page.contains("neither credential nor model is proven"),
        "{page}"
    );
}

#[test]
fn a_redirect_is_not_followed_with_the_credential() {
    let (elsewhere, _other) = endpoint("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}");
    let answer: &'static str = Box::leak(
        format!("HTTP/1.1 302 Found\r\nLocation: {elsewhere}\r\nConnection: close\r\n\r\n")
            .into_boxed_str(),
    );
    let (url, _) = endpoint(answer);
    let answer = check(&url, &["--json"], 3).result();
    assert_eq!(answer["status"], 302);
    assert_eq!(answer["class"], "unknown");
}

#[test]
fn an_endpoint_that_is_not_there_or_silent_or_no_endpoint_is_told_apart() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let refused = check(&format!("http://{free}/v1"), &["--json"], 3).result();
    assert_eq!(refused["status"], Value::Null);
    assert_eq!(refused["class"], "network");
    let (url, _) = endpoint("");
    let silent = check(&url, &["--json", "--timeout", "300ms"], 3).result();
    assert_eq!(silent["class"], "provider_timeout");
    assert!(silent["latency_ms"].as_u64().unwrap() >= 300);
    let (url, _) = endpoint("this is no HTTP\r\n\r\n");
    let strange = check(&url, &["--json"], 3).result();
    assert_eq!(strange["class"], "provider_error");
}

#[test]
fn without_a_credential_or_with_a_wrong_name_it_is_an_error_of_usage() {
    let scene = Scene::new();
    let mut command = scene.akbench(["runtime", "check"]);
    let ran = scene.run(command.env_remove("AKBENCH_LLM_ROUTER_KEY"));
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("AKBENCH_LLM_ROUTER_KEY"),
        "{}",
        ran.stderr
    );
    let ran = scene.run(&mut scene.akbench(["runtime", "check", "nothing"]));
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("there is no runtime `nothing`"),
        "{}",
        ran.stderr
    );
}
