//! Playing one reply to one client.

use crate::events::{self, Events};
use crate::http;
use crate::reply::{Action, HangPoint, Reply};
use serde_json::Value;
use std::io::{self, Read, Write};
use std::net::TcpStream;

/// Answers the request with `number` (counted from 1) for `model`. The delay is the
/// caller's business.
pub(crate) fn play(
    mut client: &TcpStream,
    reply: &Reply,
    number: usize,
    model: &str,
) -> io::Result<()> {
    let id = format!("resp_{number}");
    match &reply.action {
        Action::Stream(stream) => {
            http::write_stream_head(&mut client)?;
            let Events(events) = Events::of(stream, &id, model);
            for event in &events {
                write_event(client, event)?;
            }
            Ok(())
        }
        Action::Status {
            code,
            body,
            headers,
        } => {
            let body = match body {
                Value::Null => Vec::new(),
                Value::String(text) => text.clone().into_bytes(),
                other => other.to_string().into_bytes(),
            };
            let default = ("content-type", "application/json");
            let typed = headers
                .keys()
                .any(|name| name.eq_ignore_ascii_case(default.0));
            let own = headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()));
            http::write_answer(
                &mut client,
                *code,
                own.chain((!typed).then_some(default)),
                &body,
            )
        }
        Action::Hang(point) => {
            if matches!(point, HangPoint::AfterHeaders | HangPoint::AfterCreated) {
                http::write_stream_head(&mut client)?;
            }
            if matches!(point, HangPoint::AfterCreated) {
                write_event(client, &events::created(&id, model))?;
            }
            wait_until_gone(client)
        }
        Action::Disconnect => Ok(()),
    }
}

/// What the server answers where it has no script: the list of models, and 404.
pub(crate) fn play_other(mut client: &TcpStream, method: &str, path: &str) -> io::Result<()> {
    let json = [("content-type", "application/json")];
    let path = path.split('?').next().unwrap_or_default();
    if method == "GET" && path.ends_with("/models") {
        // `data` is the public API's key, `models` the one that the Codex CLI reads.
        let body = br#"{"object":"list","data":[],"models":[]}"#;
        http::write_answer(&mut client, 200, json, body)
    } else {
        let body = br#"{"error":{"message":"this server answers POST .../responses only","type":"invalid_request_error","param":null,"code":"not_found"}}"#;
        http::write_answer(&mut client, 404, json, body)
    }
}

fn write_event(mut client: &TcpStream, event: &Value) -> io::Result<()> {
    let kind = event["type"].as_str().unwrap_or_default();
    // One write per event, so that an event is seldom torn into two packets.
    client.write_all(format!("event: {kind}\ndata: {event}\n\n").as_bytes())
}

/// Returns when the client closes the connection, or the server shuts it down.
fn wait_until_gone(mut client: &TcpStream) -> io::Result<()> {
    let mut ignored = [0; 1024];
    while client.read(&mut ignored)? > 0 {}
    Ok(())
}
