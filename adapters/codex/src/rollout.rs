//! A session file of the program, `rollout-<time>-<thread id>.jsonl`: one conversation,
//! with everything that the model asked for and used.

use crate::json_line::{self, Faults, text};
use crate::relevant::Relevant;
use crate::turn::{Turn, TurnEnd};
use akbench_adapter_sdk::evidence::{Evidence, EvidenceError, for_each_line};
use akbench_adapter_sdk::lines::Line;
use memchr::memmem::Finder;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::LazyLock;

/// Who a conversation belongs to, from the first line of its file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Meta {
    /// The conversation's own id.
    pub thread_id: Option<String>,
    /// Shared with its sub-agents; `None` in old versions.
    pub session_id: Option<String>,
    /// The conversation that started this one as a sub-agent.
    pub parent: Option<String>,
    /// A sub-agent's name.
    pub nickname: Option<String>,
    /// The version that began the conversation, not necessarily the one that continued it.
    pub cli_version: Option<String>,
}

impl Meta {
    /// Reads the payload of a `session_meta` line.
    pub fn read(payload: &Value) -> Self {
        let owned = |key: &str| text(payload, key).map(str::to_owned);
        let spawn = payload
            .get("source")
            .and_then(|source| source.get("subagent"))
            .and_then(|agent| agent.get("thread_spawn"));
        let spawned = |key: &str| spawn.and_then(|spawn| text(spawn, key)).map(str::to_owned);
        Self {
            thread_id: owned("id"),
            session_id: owned("session_id"),
            parent: owned("parent_thread_id").or_else(|| spawned("parent_thread_id")),
            nickname: owned("agent_nickname").or_else(|| spawned("agent_nickname")),
            cli_version: owned("cli_version"),
        }
    }
}

/// What matters of a session file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rollout {
    /// Relative to the evidence.
    pub path: String,
    /// From its first line.
    pub meta: Meta,
    /// The turns asked for, oldest first.
    pub turns: Vec<Turn>,
    /// How many turns came before these.
    pub earlier_turns: usize,
    /// What could not be read.
    pub faults: Faults,
}

impl Rollout {
    /// True if the turns are all that the conversation has: it began with them.
    pub fn is_new(&self) -> bool {
        self.earlier_turns == 0 && !self.turns.is_empty()
    }
}

/// Reads a session file. Only its last `keep` turns are kept, `None` keeps all: a continued
/// conversation begins with turns of earlier processes.
///
/// # Errors
///
/// If the file can't be read.
pub fn read(
    evidence: &dyn Evidence,
    path: &str,
    keep: Option<usize>,
) -> Result<Rollout, EvidenceError> {
    let mut reader = Reader {
        keep,
        ..Reader::default()
    };
    for_each_line(evidence, path, |line| reader.line(line))?;
    Ok(Rollout {
        path: path.to_owned(),
        meta: reader.meta.unwrap_or_default(),
        turns: reader.turns.into(),
        earlier_turns: reader.dropped,
        faults: reader.faults,
    })
}

#[derive(Default)]
struct Reader {
    keep: Option<usize>,
    meta: Option<Meta>,
    turns: VecDeque<Turn>,
    dropped: usize,
    faults: Faults,
}

impl Reader {
    fn line(&mut self, line: Line<'_>) {
        if line.terminated && !line.oversized {
            match skim(line.bytes) {
                Some(Skimmed::Nothing) => return,
                Some(Skimmed::Output) => return self.note_output(),
                Some(Skimmed::Input) => return self.note_input(),
                None => {}
            }
        }
        match json_line::read(line, &mut String::new()) {
            Ok(Some(Relevant(value @ Value::Object(_)))) => self.value(&value, line.number),
            Ok(Some(_)) => self.faults.count(json_line::fault(line)),
            Ok(None) => {}
            Err(fault) => self.faults.count(fault),
        }
    }

    fn value(&mut self, value: &Value, line: u64) {
        let Some(payload) = value.get("payload") else {
            return;
        };
        match text(value, "type").unwrap_or_default() {
            // A copied history brings further ones along; the first is the file's own.
            "session_meta" => {
                self.meta.get_or_insert_with(|| Meta::read(payload));
            }
            "turn_context" => self.turn().context(payload),
            "token_usage_record" if self.is_own(payload) => {
                self.turn().usage_record(payload, line);
            }
            "response_item" => self.response_item(payload),
            "event_msg" => self.event(payload, line),
            _ => {}
        }
    }

    fn response_item(&mut self, payload: &Value) {
        let kind = text(payload, "type").unwrap_or_default();
        if kind.ends_with("_call") || kind.ends_with("_call_output") {
            self.turn().calls.response_item(payload);
        }
        if kind.ends_with("_output") || (kind == "message" && !is_by_model(payload)) {
            self.note_input();
        } else if kind.ends_with("_call") || matches!(kind, "message" | "reasoning") {
            self.note_output();
        }
    }

    fn note_output(&mut self) {
        if let Some(turn) = self.turns.back_mut() {
            turn.responses.output();
        }
    }

    /// What stands before the first turn belongs to none.
    fn note_input(&mut self) {
        if let Some(turn) = self.turns.back_mut() {
            turn.responses.input();
        }
    }

    fn event(&mut self, payload: &Value, line: u64) {
        match text(payload, "type").unwrap_or_default() {
            "task_started" => self.start(payload, true),
            "user_message" if self.begins_turn() => self.start(payload, false),
            "token_count" => self.turn().token_count(payload),
            "item_completed" => self.turn().calls.item_completed(payload),
            "exec_command_end" | "patch_apply_end" => self.turn().calls.older_end(payload),
            "task_complete" => {
                self.turn().end = Some(TurnEnd::Complete {
                    last_message: text(payload, "last_agent_message").map(str::to_owned),
                    error: payload
                        .get("error")
                        .filter(|error| error.is_object())
                        .cloned(),
                    line,
                });
            }
            "turn_aborted" => {
                let turn = self.turn();
                let request_lost = !turn.calls.any_aborted();
                turn.end = Some(TurnEnd::Aborted { line, request_lost });
            }
            _ => {}
        }
    }

    /// Old versions do not mark where a turn starts; there a message of the user does.
    fn begins_turn(&self) -> bool {
        self.turns
            .back()
            .is_none_or(|turn| !turn.marked || turn.end.is_some())
    }

    fn start(&mut self, payload: &Value, marked: bool) {
        let before = self.turns.back().and_then(Turn::total);
        let mut turn = Turn::new(before);
        turn.id = text(payload, "turn_id").map(str::to_owned);
        turn.root = text(payload, "root_turn_id").map(str::to_owned);
        turn.marked = marked;
        self.turns.push_back(turn);
        if self.keep.is_some_and(|keep| self.turns.len() > keep.max(1)) {
            self.turns.pop_front();
            self.dropped += 1;
        }
    }

    /// The turn that goes on, or one without a beginning.
    fn turn(&mut self) -> &mut Turn {
        if self.turns.is_empty() {
            self.turns.push_back(Turn::default());
        }
        let last = self.turns.len() - 1;
        &mut self.turns[last]
    }

    /// A copied history holds the records of another conversation.
    fn is_own(&self, record: &Value) -> bool {
        let own = self
            .meta
            .as_ref()
            .and_then(|meta| meta.thread_id.as_deref());
        match (own, text(record, "thread_id")) {
            (Some(own), Some(thread)) => own == thread,
            _ => true,
        }
    }
}

fn is_by_model(message: &Value) -> bool {
    text(message, "role") == Some("assistant")
}

/// What a line is, without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Skimmed {
    /// Nothing that is counted here.
    Nothing,
    /// Something that the model wrote.
    Output,
    /// Something that the model was given.
    Input,
}

/// Looks for the words that tell what a line is. Made once: making one costs more than looking
/// through the head of a line.
struct Words {
    payload: Finder<'static>,
    response_item: Finder<'static>,
    world_state: Finder<'static>,
    compacted: Finder<'static>,
    content: Finder<'static>,
    role: Finder<'static>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| Words {
    payload: Finder::new(b"\"payload\":"),
    response_item: Finder::new(b"\"response_item\""),
    world_state: Finder::new(b"\"world_state\""),
    compacted: Finder::new(b"\"compacted\""),
    content: Finder::new(b"\"content\":"),
    role: Finder::new(b"\"role\":"),
});

/// Texts of the conversation make up most of a file and say nothing else that is counted
/// here. What stands before a line's payload, and before a message's content, holds no text,
/// so that the words found there are the line's own. `None` if the line has to be parsed.
fn skim(line: &[u8]) -> Option<Skimmed> {
    const HEAD: usize = 160;
    const MESSAGE_HEAD: usize = 512;
    if !line.starts_with(b"{\"timestamp\":") || !line.ends_with(b"}") {
        return None;
    }
    let words = &*WORDS;
    let head = &line[..line.len().min(HEAD)];
    let payload = words.payload.find(head)?;
    let before = &head[..payload];
    if words.response_item.find(before).is_some() {
        let start = payload + words.payload.needle().len();
        let after = &line[start..line.len().min(start + MESSAGE_HEAD)];
        let kind = after.trim_ascii_start().strip_prefix(b"{\"type\":")?;
        let kind = kind.trim_ascii_start();
        if kind.starts_with(b"\"reasoning\"") {
            return Some(Skimmed::Output);
        }
        let message = kind.strip_prefix(b"\"message\"")?;
        return role(message, words);
    }
    let skipped =
        words.world_state.find(before).is_some() || words.compacted.find(before).is_some();
    skipped.then_some(Skimmed::Nothing)
}

/// Whose message it is, if its role stands before its content.
fn role(message: &[u8], words: &Words) -> Option<Skimmed> {
    let message = &message[..words.content.find(message)?];
    let at = words.role.find(message)? + words.role.needle().len();
    let role = message[at..].trim_ascii_start();
    Some(if role.starts_with(b"\"assistant\"") {
        Skimmed::Output
    } else {
        Skimmed::Input
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use akbench_adapter_sdk::evidence::FolderEvidence;
    use serde_json::json;

    fn line(kind: &str, payload: Value) -> String {
        format!(
            "{}\n",
            json!({"timestamp": "t", "type": kind, "payload": payload})
        )
    }

    fn event(payload: Value) -> String {
        line("event_msg", payload)
    }

    fn read_text(text: &str, keep: Option<usize>) -> Rollout {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("r"), text).unwrap();
        read(&FolderEvidence(folder.path().to_owned()), "r", keep).unwrap()
    }

    #[test]
    fn turns_are_told_apart_in_marked_and_in_old_files() {
        let marked = [
            event(json!({"type": "task_started", "turn_id": "a"})),
            event(json!({"type": "user_message"})),
            event(json!({"type": "task_complete", "last_agent_message": "x"})),
            event(json!({"type": "task_started", "turn_id": "b"})),
        ]
        .concat();
        let old = [
            event(json!({"type": "user_message"})),
            event(json!({"type": "user_message"})),
            event(json!({"type": "task_started", "turn_id": "c"})),
            event(json!({"type": "user_message"})),
        ]
        .concat();
        assert_eq!(read_text(&marked, None).turns.len(), 2);
        assert_eq!(read_text(&old, None).turns.len(), 3);
        let last = read_text(&old, Some(1)).turns;
        assert_eq!(last.len(), 1);
        assert_eq!(last[0].id.as_deref(), Some("c"));
    }

    #[test]
    fn a_kept_turn_knows_the_total_before_it() {
        let count = |input: u64| {
            let tokens = json!({"input_tokens": input, "output_tokens": 1});
            event(json!({"type": "token_count", "info": {"total_token_usage": tokens}}))
        };
        let text = [
            event(json!({"type": "task_started"})),
            count(10),
            event(json!({"type": "task_started"})),
            count(25),
        ]
        .concat();
        let turns = read_text(&text, Some(1)).turns;
        assert_eq!(turns[0].counted_usage().unwrap().input, Some(15));
    }

    #[test]
    fn the_record_of_another_conversation_is_not_counted() {
        let usage = json!({"input_tokens": 1, "output_tokens": 1});
        let record = |thread: &str| {
            line(
                "token_usage_record",
                json!({"thread_id": thread, "response_id": thread, "usage": usage}),
            )
        };
        let text = [
            line("session_meta", json!({"id": "own"})),
            line("session_meta", json!({"id": "other"})),
            record("other"),
            record("own"),
        ]
        .concat();
        let rollout = read_text(&text, None);
        assert_eq!(rollout.meta.thread_id.as_deref(), Some("own"));
        assert_eq!(rollout.turns[0].recorded_responses(), 1);
    }

    #[test]
    fn texts_are_skipped_and_a_text_that_looks_like_a_type_is_not() {
        // As the program writes it: its own order, the role before the content.
        let message = |role: &str| {
            let head = r#"{"timestamp":"t","type":"response_item","payload":{"type":"message""#;
            let content = r#"[{"text":"{\"role\":\"assistant\"}"}]"#;
            format!(r#"{head}","id":"m","role":"{role}","content":{content}}}}}"#)
        };
        let skimmed = |line: &str| skim(line.trim().as_bytes());
        assert_eq!(skimmed(&message("user")), Some(Skimmed::Input));
        assert_eq!(skimmed(&message("assistant")), Some(Skimmed::Output));
        let reasoning = line("response_item", json!({"type": "reasoning"}));
        assert_eq!(skimmed(&reasoning), Some(Skimmed::Output));
        let state = line("world_state", json!({"state": {}}));
        assert_eq!(skimmed(&state), Some(Skimmed::Nothing));
        let no_content = line("response_item", json!({"type": "message"}));
        assert_eq!(skimmed(&no_content), None);
        let call = line(
            "response_item",
            json!({"name": "message", "type": "function_call"}),
        );
        assert_eq!(skimmed(&call), None);
        let record = line(
            "token_usage_record",
            json!({"response_id": "\"world_state\""}),
        );
        assert_eq!(skimmed(&record), None);
    }

    #[test]
    fn what_is_left_out_of_a_line_changes_nothing_in_any_recording() {
        let root = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/codex/recordings"
        );
        let mut files = 0;
        for recording in std::fs::read_dir(root).unwrap() {
            let rollouts = recording.unwrap().path().join("rollouts");
            for file in std::fs::read_dir(rollouts).into_iter().flatten() {
                let text = std::fs::read(file.unwrap().path()).unwrap();
                let (mut whole, mut relevant) = (Reader::default(), Reader::default());
                akbench_adapter_sdk::lines::for_each_line(text.as_slice(), |line| {
                    if let Ok(value) = json_line::parse(line) {
                        whole.value(&value, line.number);
                        let Relevant(value) = serde_json::from_value(value).unwrap();
                        relevant.value(&value, line.number);
                    }
                })
                .unwrap();
                assert_eq!((whole.meta, whole.turns), (relevant.meta, relevant.turns));
                files += 1;
            }
        }
        assert!(files > 100, "{files} session files");
    }

    #[test]
    fn a_torn_end_and_a_broken_line_are_counted_and_the_rest_is_read() {
        let text = format!(
            "{}garbage\n{}{{\"timestamp\":\"t\",\"type\":\"ev",
            line("session_meta", json!({"id": "t"})),
            event(json!({"type": "turn_aborted", "reason": "interrupted"})),
        );
        let rollout = read_text(&text, None);
        assert_eq!(
            rollout.faults,
            Faults {
                torn: true,
                malformed: 1
            }
        );
        let end = TurnEnd::Aborted {
            line: 3,
            request_lost: true,
        };
        assert_eq!(rollout.turns[0].end, Some(end));
    }

    #[test]
    fn a_sub_agent_names_its_parent() {
        let meta = Meta::read(&json!({"id": "c", "source": {"subagent": {"thread_spawn":
            {"parent_thread_id": "p", "agent_nickname": "Noether"}}}}));
        assert_eq!(meta.parent.as_deref(), Some("p"));
        assert_eq!(meta.nickname.as_deref(), Some("Noether"));
        assert_eq!(
            Meta::read(&json!({"id": "c", "source": "exec"})).parent,
            None
        );
    }
}
