//! A streamed response, event by event.

use crate::item::Item;
use crate::reply::{End, Stream};
use serde_json::{Value, json};

/// The events of a stream, and whether the client gets to see its end.
#[derive(Debug)]
pub(crate) struct Events(pub(crate) Vec<Value>);

/// `response.created`, the first event of every stream.
pub(crate) fn created(id: &str, model: &str) -> Value {
    json!({"type": "response.created", "response": response(id, model, "in_progress")})
}

impl Events {
    /// `id` and `model` are used where the stream names none of its own.
    pub(crate) fn of(stream: &Stream, id: &str, model: &str) -> Self {
        let id = stream.id.as_deref().unwrap_or(id);
        let model = stream.model.as_deref().unwrap_or(model);
        let mut events = vec![created(id, model)];
        let items: Vec<Value> = stream
            .items
            .iter()
            .enumerate()
            .map(|(index, item)| item.to_json(id, index))
            .collect();
        for (index, (source, item)) in stream.items.iter().zip(&items).enumerate() {
            if let Item::Message { text, .. } = source {
                push_text(&mut events, index, item, text);
            }
            events.push(json!({
                "type": "response.output_item.done",
                "output_index": index,
                "item": item,
            }));
        }
        push_end(&mut events, &stream.end, id, model, &items);
        Self(events)
    }
}

fn push_text(events: &mut Vec<Value>, index: usize, item: &Value, text: &str) {
    let mut begun = item.clone();
    begun["content"] = json!([]);
    begun["status"] = json!("in_progress");
    events.push(json!({
        "type": "response.output_item.added",
        "output_index": index,
        "item": begun,
    }));
    events.push(json!({
        "type": "response.output_text.delta",
        "item_id": item["id"],
        "output_index": index,
        "content_index": 0,
        "delta": text,
    }));
}

fn push_end(events: &mut Vec<Value>, end: &End, id: &str, model: &str, items: &[Value]) {
    let usage_json = |usage: &Option<_>| usage.map(crate::item::Usage::to_json);
    match end {
        End::Completed { usage } => {
            let mut response = response(id, model, "completed");
            response["output"] = json!(items);
            if let Some(usage) = usage_json(usage) {
                response["usage"] = usage;
            }
            events.push(json!({"type": "response.completed", "response": response}));
        }
        End::Failed { code, message } => {
            let mut response = response(id, model, "failed");
            response["error"] = json!({"code": code, "message": message});
            events.push(json!({"type": "response.failed", "response": response}));
        }
        End::Incomplete { reason, usage } => {
            let mut response = response(id, model, "incomplete");
            response["incomplete_details"] = json!({"reason": reason});
            if let Some(usage) = usage_json(usage) {
                response["usage"] = usage;
            }
            events.push(json!({"type": "response.incomplete", "response": response}));
        }
        End::Cut { after_events } => events.truncate(after_events.unwrap_or(usize::MAX)),
    }
}

fn response(id: &str, model: &str, status: &str) -> Value {
    json!({"id": id, "object": "response", "status": status, "model": model, "output": []})
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]

    use super::*;
    use crate::reply::{Action, Reply};

    fn events(reply: Reply) -> Vec<Value> {
        match reply.action {
            Action::Stream(stream) => Events::of(&stream, "resp_1", "mock-model").0,
            other => panic!("not a stream: {other:?}"),
        }
    }

    fn types(reply: Reply) -> Vec<String> {
        events(reply)
            .iter()
            .map(|event| event["type"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    #[test]
    fn a_message_is_announced_streamed_and_finished() {
        let expected = [
            "response.created",
            "response.output_item.added",
            "response.output_text.delta",
            "response.output_item.done",
            "response.completed",
        ];
        assert_eq!(types(Reply::message("hi")), expected);
        assert_eq!(types(Reply::message("hi").cut_before_end()), expected[..4]);
        assert_eq!(types(Reply::message("hi").cut_after(2)), expected[..2]);
    }

    #[test]
    fn usage_is_sent_only_if_the_script_names_it() {
        let last = |reply| events(reply).pop().unwrap_or_default();
        assert!(
            last(Reply::message("hi"))["response"]
                .get("usage")
                .is_none()
        );
        let end = last(Reply::message("hi").usage(1100, 900, 20, 5));
        assert_eq!(
            end["response"]["usage"]["input_tokens_details"]["cached_tokens"],
            900
        );
        assert_eq!(
            end["response"]["usage"]["output_tokens_details"]["reasoning_tokens"],
            5
        );
        let end = last(Reply::incomplete("max_output_tokens").usage(7, 0, 3, 0));
        assert_eq!(
            end["response"]["incomplete_details"]["reason"],
            "max_output_tokens"
        );
        assert_eq!(end["response"]["usage"]["total_tokens"], 10);
    }

    #[test]
    fn a_failure_carries_its_code() {
        let end = events(Reply::failed("server_is_overloaded", "busy"))
            .pop()
            .unwrap_or_default();
        assert_eq!(end["type"], "response.failed");
        assert_eq!(end["response"]["error"]["code"], "server_is_overloaded");
    }
}
