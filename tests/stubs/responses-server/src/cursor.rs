//! Where a script stands: which replies are left, and which one a request gets.

use crate::reply::Reply;
use crate::script::{Exhausted, Script};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Cursor {
    script: Script,
    /// How often each reply may still be used.
    left: Vec<u32>,
}

impl Cursor {
    pub(crate) fn new(script: Script) -> Self {
        let left = script.replies.iter().map(|reply| reply.times).collect();
        Self { script, left }
    }

    /// The reply for the `number`-th request to the model, counted from 1.
    pub(crate) fn next(&mut self, number: usize, raw: &[u8], json: Option<&Value>) -> Reply {
        let meets = |reply: &Reply| {
            reply
                .when
                .as_ref()
                .is_none_or(|when| when.is_met(raw, json))
        };
        for (reply, left) in self.script.replies.iter().zip(&mut self.left) {
            if *left > 0 && meets(reply) {
                *left -= 1;
                return reply.clone();
            }
        }
        let after_the_last = match &self.script.exhausted {
            Exhausted::Error => None,
            Exhausted::RepeatLast => self
                .script
                .replies
                .iter()
                .rev()
                .find(|reply| meets(reply))
                .cloned(),
            Exhausted::Reply(reply) => Some(Reply::clone(reply)),
        };
        after_the_last.unwrap_or_else(|| {
            Reply::error(
                400,
                "invalid_request_error",
                "script_exhausted",
                &format!(
                    "the script has no reply left for request {number}: add one, or set `exhausted`"
                ),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::{Action, Reply};

    fn text(cursor: &mut Cursor, body: &str) -> String {
        match cursor.next(1, body.as_bytes(), None).action {
            Action::Stream(stream) => stream.items[0].to_json("resp_1", 0)["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_condition_keeps_a_reply_for_the_requests_that_it_is_meant_for() {
        let mut cursor = Cursor::new(Script::new([
            Reply::message("child").when_body_contains("CHILD"),
            Reply::message("main 1"),
            Reply::message("main 2"),
        ]));
        assert_eq!(text(&mut cursor, "MAIN"), "main 1");
        assert_eq!(text(&mut cursor, "CHILD"), "child");
        assert_eq!(text(&mut cursor, "MAIN"), "main 2");
        assert!(text(&mut cursor, "MAIN").contains("script_exhausted"));
    }

    #[test]
    fn the_last_reply_that_fits_is_repeated() {
        let script = Script::new([
            Reply::message("twice").times(2),
            Reply::message("main"),
            Reply::message("child").when_body_contains("CHILD"),
        ]);
        let mut cursor = Cursor::new(script.repeat_last());
        let answers =
            ["A", "A", "A", "A", "CHILD", "CHILD", "A"].map(|body| text(&mut cursor, body));
        assert_eq!(
            answers,
            ["twice", "twice", "main", "main", "child", "child", "main"]
        );
    }
}
