//! The server as a client on a bare socket sees it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench_responses_server::{HangPoint, Item, Reply, Script, Server, scripts};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(30);

fn send(address: SocketAddr, body: &str) -> TcpStream {
    let mut client = TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(SOON)).unwrap();
    let request = format!(
        "POST /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-key\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    client.write_all(request.as_bytes()).unwrap();
    client
}

fn ask(server: &Server, body: &str) -> String {
    let mut answer = String::new();
    send(server.address(), body)
        .read_to_string(&mut answer)
        .unwrap();
    answer
}

fn events(answer: &str) -> Vec<Value> {
    answer
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[test]
fn a_shell_call_and_a_message_are_streamed_in_turn_and_the_requests_are_recorded() {
    let server = Server::start(scripts::happy()).unwrap();
    let first = ask(&server, r#"{"model": "mock-model", "input": []}"#);
    assert!(first.starts_with("HTTP/1.1 200 OK\r\n"), "{first}");
    assert!(
        first.contains("content-type: text/event-stream\r\n"),
        "{first}"
    );
    let first = events(&first);
    assert_eq!(first[0]["type"], "response.created");
    assert_eq!(first[0]["response"]["model"], "mock-model");
    assert_eq!(first[1]["item"]["name"], "exec_command");
    let arguments: Value =
        serde_json::from_str(first[1]["item"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(
        arguments,
        json!({"cmd": "echo hi > out.txt && cat out.txt"})
    );
    assert_eq!(first[2]["response"]["usage"]["input_tokens"], 1000);

    let output =
        r#"{"input": [{"type": "function_call_output", "call_id": "call_1", "output": "hi"}]}"#;
    let second = events(&ask(&server, output));
    assert_eq!(
        second.last().unwrap()["response"]["usage"]["total_tokens"],
        1120
    );
    assert_eq!(second.last().unwrap()["response"]["id"], "resp_2");

    let third = ask(&server, "{}");
    assert!(third.starts_with("HTTP/1.1 400 "), "{third}");
    assert!(third.contains("script_exhausted"), "{third}");

    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].method, "POST");
    assert_eq!(requests[0].path, "/v1/responses");
    assert_eq!(requests[0].headers["authorization"], "Bearer test-key");
    assert_eq!(requests[0].model(), Some("mock-model"));
    assert_eq!(requests[1].tool_output("call_1").as_deref(), Some("hi"));
}

#[test]
fn a_plain_status_keeps_its_headers_and_body() {
    let server = Server::start(scripts::rate_limited_once_then_happy()).unwrap();
    let answer = ask(&server, "{}");
    assert!(
        answer.starts_with("HTTP/1.1 429 Too Many Requests\r\n"),
        "{answer}"
    );
    assert!(answer.contains("retry-after: 1\r\n"), "{answer}");
    let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(body["error"]["code"], "rate_limit_exceeded");
    assert!(ask(&server, "{}").starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_cut_stream_ends_without_its_last_event() {
    let server = Server::start(scripts::cut_always()).unwrap();
    for _ in 0..2 {
        let events = events(&ask(&server, "{}"));
        assert_eq!(events.last().unwrap()["type"], "response.output_item.done");
    }
}

#[test]
fn a_disconnect_sends_nothing() {
    let server = Server::start(Script::always(Reply::disconnect())).unwrap();
    assert_eq!(ask(&server, "{}"), "");
}

#[test]
fn every_kind_of_item_is_sent() {
    let items = [
        Item::Reasoning {
            summary: vec!["think".to_owned()],
        },
        Item::CustomToolCall {
            name: "apply_patch".to_owned(),
            input: "text".to_owned(),
            call_id: "call_9".to_owned(),
        },
        Item::WebSearch {
            id: "ws_1".to_owned(),
            query: "weather".to_owned(),
        },
        Item::Raw(json!({"type": "unheard_of"})),
    ];
    let server = Server::start(Script::new([Reply::items(items)])).unwrap();
    let kinds: Vec<String> = events(&ask(&server, "{}"))
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| event["item"]["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        kinds,
        [
            "reasoning",
            "custom_tool_call",
            "web_search_call",
            "unheard_of"
        ]
    );
}

#[test]
fn dropping_the_server_ends_connections_that_hang_wherever_they_hang() {
    let replies = [
        Reply::hang_before_headers(),
        Reply::hang_after_headers(),
        Reply::hang_after_created(),
        Reply::message("late").delay_ms(3_600_000),
    ];
    let server = Server::start(Script::new(replies)).unwrap();
    // What each client sees before the silence; read here, so that the drop comes after it.
    let mut clients = Vec::new();
    for (number, last_line) in [(1, None), (2, Some("\r\n")), (3, Some("\n")), (4, None)] {
        let mut client = BufReader::new(send(server.address(), "{}"));
        assert!(server.wait_for_requests(number, SOON));
        let mut seen = String::new();
        while last_line.is_some_and(|line| !seen.ends_with(&format!("\n{line}"))) {
            assert!(client.read_line(&mut seen).unwrap() > 0, "{seen}");
        }
        clients.push((client, seen));
    }
    assert!(clients[1].1.ends_with("\r\n\r\n"), "{}", clients[1].1);
    assert_eq!(events(&clients[2].1)[0]["type"], "response.created");
    // A client that never finishes its request must not keep the server either.
    let mut silent = TcpStream::connect(server.address()).unwrap();
    silent.write_all(b"POST /v1/resp").unwrap();

    let (done, dropped) = mpsc::channel();
    thread::spawn(move || {
        drop(server);
        done.send(()).unwrap();
    });
    dropped.recv_timeout(SOON).expect("drop returns");
    for (mut client, _) in clients {
        let mut rest = Vec::new();
        // The end may come as a reset.
        let _ = client.read_to_end(&mut rest);
        assert_eq!(rest, b"");
    }
}

#[test]
fn a_hanging_reply_notices_that_its_client_left() {
    let server = Server::start(Script::always(Reply::new(
        akbench_responses_server::Action::Hang(HangPoint::BeforeHeaders),
    )))
    .unwrap();
    let client = send(server.address(), "{}");
    assert!(server.wait_for_requests(1, SOON));
    assert!(!server.wait_until_idle(Duration::ZERO));
    drop(client);
    assert!(server.wait_until_idle(SOON));
}

#[test]
fn waiting_for_requests_gives_up_in_time() {
    let server = Server::start(scripts::happy()).unwrap();
    assert!(!server.wait_for_requests(1, Duration::from_millis(1)));
    assert!(server.wait_for_requests(0, Duration::ZERO));
}

#[test]
fn other_paths_take_no_reply_of_the_script() {
    let server = Server::start(scripts::happy()).unwrap();
    let get = |path: &str| {
        let mut client = TcpStream::connect(server.address()).unwrap();
        write!(client, "GET {path} HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(get("/v1/models?client_version=1").starts_with("HTTP/1.1 200 "));
    assert!(get("/elsewhere").starts_with("HTTP/1.1 404 "));
    assert_eq!(server.requests().len(), 2);
    assert_eq!(server.model_requests().len(), 0);
    assert!(ask(&server, "{}").contains("exec_command"));
}

#[test]
fn the_program_plays_a_script_file_and_logs_the_requests() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.json");
    let log = folder.path().join("requests.jsonl");
    std::fs::write(
        &script,
        serde_json::to_string(&scripts::unauthorized()).unwrap(),
    )
    .unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_responses-server"))
        .arg("--script")
        .arg(&script)
        .arg("--log")
        .arg(&log)
        .env_clear()
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut url)
        .unwrap();
    let address = url
        .trim()
        .strip_prefix("http://")
        .unwrap()
        .strip_suffix("/v1")
        .unwrap();
    let mut answer = String::new();
    send(address.parse().unwrap(), r#"{"model": "m"}"#)
        .read_to_string(&mut answer)
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 401 Unauthorized\r\n"),
        "{answer}"
    );
    let line: Value = serde_json::from_str(std::fs::read_to_string(&log).unwrap().trim()).unwrap();
    assert_eq!(line["body"], json!({"model": "m"}));
}

#[test]
fn the_program_refuses_a_bad_script_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.json");
    std::fs::write(&script, "{\n\"replys\": []}").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_responses-server"))
        .arg("--script")
        .arg(&script)
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        message.contains("unknown field `replys`") && message.contains("line 2"),
        "{message}"
    );
}
