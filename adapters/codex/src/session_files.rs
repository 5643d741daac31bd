//! Which session files, and which turns in them, belong to the task submitted last.
//!
//! The rule: the conversation is the one that the stream names. If the command started it,
//! every turn of its file is the task's, and every sub-agent's turn too. If the command
//! continued it, the task's turns are the last ones, as many as the stream started (a
//! process never writes into the past); of the sub-agents count the turns that name one of
//! these as their root.

use crate::command_line::Continuation;
use crate::json_line::{self, Faults};
use crate::rollout::{self, Meta, Rollout};
use crate::turn::Turn;
use crate::usage::Tokens;
use akbench_adapter_sdk::evidence::{Evidence, EvidenceError, walk};
use akbench_adapter_sdk::lines::LineSplitter;
use std::collections::BTreeSet;
use std::io::Read;

/// The session files of one task.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionFiles {
    /// The conversation itself; `None` if its file is missing.
    pub main: Option<Rollout>,
    /// Its sub-agents, with turns of this task only.
    pub sub_agents: Vec<Rollout>,
    /// Whether a sub-agent's turns could not be assigned.
    pub sub_agents_unclear: bool,
    /// What could not be read, in all of them.
    pub faults: Faults,
}

impl SessionFiles {
    /// Gives up the turns of the conversation if its file ends before `printed`, the total with
    /// which the program ended: then the last turns of the file may be those of an earlier
    /// process. For a continued conversation of which nothing else is known.
    pub fn give_up_if_cut(&mut self, printed: Option<Tokens>) {
        let Some(main) = &mut self.main else {
            return;
        };
        let total = main.turns.last().and_then(Turn::total);
        if let (Some(total), Some(printed)) = (total, printed)
            && total.is_below(printed)
        {
            main.earlier_turns += main.turns.len();
            main.turns.clear();
            self.sub_agents_unclear |= !self.sub_agents.is_empty();
            self.sub_agents.clear();
        }
    }
}

/// Finds and reads the session files below `home/`. `turns` is how many turns the process
/// started, `earlier` how many the processes before it started in the same conversation, if
/// all of them are known.
///
/// # Errors
///
/// If a file exists and can't be read.
pub fn find(
    evidence: &dyn Evidence,
    thread: Option<&str>,
    continuation: Continuation,
    turns: u32,
    earlier: Option<u32>,
) -> Result<SessionFiles, EvidenceError> {
    let mut files = Vec::new();
    for path in walk(evidence, "home")? {
        let name = path.rsplit('/').next().unwrap_or_default();
        if name.starts_with("rollout-") && name.ends_with(".jsonl") {
            files.push((read_meta(evidence, &path)?, path));
        }
    }
    let Some(at) = main_file(&files, thread, continuation) else {
        return Ok(SessionFiles::default());
    };
    let (meta, path) = files.remove(at);
    let fresh = continuation == Continuation::Fresh;
    let keep = (!fresh && earlier.is_none()).then_some(turns as usize);
    let mut main = rollout::read(evidence, &path, keep)?;
    if !fresh {
        // A turn that ended before it was written must not turn an earlier one into its own.
        let earlier = earlier.map_or(0, |earlier| earlier as usize);
        let rest = main.turns.split_off(earlier.min(main.turns.len()));
        let surplus = rest.len().saturating_sub(turns as usize);
        main.earlier_turns += main.turns.len() + surplus;
        main.turns = rest.into_iter().skip(surplus).collect();
    }
    let mut found = SessionFiles {
        faults: main.faults,
        ..SessionFiles::default()
    };
    let own: BTreeSet<String> = main
        .turns
        .iter()
        .filter_map(|turn| turn.id.clone())
        .collect();
    let mut known = own.clone();
    for path in sub_agents(&meta, files) {
        let mut rollout = rollout::read(evidence, &path, None)?;
        // A copied history keeps its turns: those of the agent that began this one, whose
        // file is the older one.
        rollout
            .turns
            .retain(|turn| turn.id.as_ref().is_none_or(|id| !known.contains(id)));
        known.extend(rollout.turns.iter().filter_map(|turn| turn.id.clone()));
        if !fresh {
            found.sub_agents_unclear |= rollout.turns.iter().any(|turn| turn.root.is_none());
            rollout
                .turns
                .retain(|turn| turn.root.as_ref().is_some_and(|root| own.contains(root)));
        }
        if !rollout.turns.is_empty() {
            found.faults.torn |= rollout.faults.torn;
            found.faults.malformed += rollout.faults.malformed;
            found.sub_agents.push(rollout);
        }
    }
    found.main = Some(main);
    Ok(found)
}

fn main_file(
    files: &[(Meta, String)],
    thread: Option<&str>,
    continuation: Continuation,
) -> Option<usize> {
    match thread {
        Some(thread) => {
            let ending = format!("-{thread}.jsonl");
            files
                .iter()
                .rposition(|(meta, path)| match &meta.thread_id {
                    Some(id) => id == thread,
                    None => path.ends_with(&ending),
                })
        }
        // The stream was lost before it named the conversation: a lone new one is the one.
        None if continuation == Continuation::Fresh => {
            let mut roots = files
                .iter()
                .enumerate()
                .filter(|(_, (meta, _))| meta.parent.is_none());
            let (first, others) = (roots.next(), roots.next());
            first.filter(|_| others.is_none()).map(|(at, _)| at)
        }
        None => None,
    }
}

/// The files of the sub-agents of `main`, and of theirs.
fn sub_agents(main: &Meta, mut files: Vec<(Meta, String)>) -> Vec<String> {
    let session = main.session_id.as_ref().or(main.thread_id.as_ref());
    let mut members: BTreeSet<String> = main.thread_id.iter().cloned().collect();
    let mut paths = Vec::new();
    loop {
        let (found, rest): (Vec<_>, Vec<_>) = files.into_iter().partition(|(meta, _)| {
            let by_session = meta.session_id.is_some()
                && meta.session_id.as_ref() == session
                && meta.thread_id != main.thread_id;
            by_session
                || meta
                    .parent
                    .as_ref()
                    .is_some_and(|parent| members.contains(parent))
        });
        if found.is_empty() {
            paths.sort();
            return paths;
        }
        for (meta, path) in found {
            members.extend(meta.thread_id);
            paths.push(path);
        }
        files = rest;
    }
}

/// Reads no more of a file than its first line.
fn read_meta(evidence: &dyn Evidence, path: &str) -> Result<Meta, EvidenceError> {
    let Some(mut file) = evidence.open(path)? else {
        return Ok(Meta::default());
    };
    let mut splitter = LineSplitter::default();
    let mut first = None;
    let mut chunk = vec![0; 32 << 10];
    while first.is_none() {
        let read = file.read(&mut chunk).map_err(|error| EvidenceError {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        let take = |line: akbench_adapter_sdk::lines::Line<'_>| {
            if first.is_none() {
                let value = json_line::parse(line).ok();
                let meta = value.as_ref().and_then(|value| value.get("payload"));
                first = Some(meta.map(Meta::read).unwrap_or_default());
            }
        };
        if read == 0 {
            splitter.finish(take);
            break;
        }
        splitter.push(&chunk[..read], take);
    }
    Ok(first.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use akbench_adapter_sdk::evidence::FolderEvidence;
    use serde_json::{Value, json};
    use std::fs;

    struct Home(tempfile::TempDir);

    impl Home {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn file(&self, name: &str, meta: Value, turns: &[(&str, &str)]) -> &Self {
            let folder = self.0.path().join("home/sessions/2026");
            fs::create_dir_all(&folder).unwrap();
            let mut text = format!("{}\n", json!({"type": "session_meta", "payload": meta}));
            for (id, root) in turns {
                let payload = json!({"type": "task_started", "turn_id": id, "root_turn_id": root});
                text += &format!("{}\n", json!({"type": "event_msg", "payload": payload}));
            }
            fs::write(folder.join(format!("rollout-{name}.jsonl")), text).unwrap();
            self
        }

        fn find(&self, thread: Option<&str>, how: Continuation, turns: u32) -> SessionFiles {
            self.find_after(thread, how, turns, None)
        }

        fn find_after(
            &self,
            thread: Option<&str>,
            how: Continuation,
            turns: u32,
            earlier: Option<u32>,
        ) -> SessionFiles {
            let evidence = FolderEvidence(self.0.path().to_owned());
            find(&evidence, thread, how, turns, earlier).unwrap()
        }
    }

    fn ids(rollout: &Rollout) -> Vec<&str> {
        rollout
            .turns
            .iter()
            .filter_map(|turn| turn.id.as_deref())
            .collect()
    }

    #[test]
    fn a_new_conversation_has_all_turns_and_its_sub_agents() {
        let home = Home::new();
        home.file("1-m", json!({"id": "m", "session_id": "m"}), &[("a", "a")])
            .file(
                "2-s",
                json!({"id": "s", "session_id": "m", "parent_thread_id": "m"}),
                &[("b", "a")],
            )
            .file(
                "3-g",
                json!({"id": "g", "parent_thread_id": "s"}),
                &[("c", "a")],
            )
            .file("4-o", json!({"id": "o", "session_id": "o"}), &[("d", "d")]);
        let found = home.find(Some("m"), Continuation::Fresh, 1);
        assert_eq!(ids(found.main.as_ref().unwrap()), ["a"]);
        let subs: Vec<_> = found.sub_agents.iter().map(ids).collect();
        assert_eq!(subs, [["b"], ["c"]]);
    }

    #[test]
    fn a_continued_conversation_has_its_last_turns_only() {
        let home = Home::new();
        home.file(
            "1-m",
            json!({"id": "m", "session_id": "m"}),
            &[("a", "a"), ("b", "b")],
        )
        .file(
            "2-s",
            json!({"id": "s", "session_id": "m"}),
            &[("x", "a"), ("y", "b")],
        );
        let found = home.find(Some("m"), Continuation::Resumed, 1);
        assert_eq!(ids(found.main.as_ref().unwrap()), ["b"]);
        assert_eq!(ids(&found.sub_agents[0]), ["y"]);
        assert!(!found.sub_agents_unclear);
        let nothing = home.find(Some("m"), Continuation::Resumed, 0);
        assert!(nothing.main.unwrap().turns.is_empty());
    }

    #[test]
    fn a_turn_that_was_never_written_does_not_take_over_an_earlier_one() {
        let home = Home::new();
        home.file("1-m", json!({"id": "m"}), &[("a", "a")]);
        let found = home.find_after(Some("m"), Continuation::Resumed, 1, Some(1));
        assert!(found.main.unwrap().turns.is_empty());
        let found = home.find_after(Some("m"), Continuation::Resumed, 1, Some(0));
        assert_eq!(found.main.unwrap().turns.len(), 1);
    }

    #[test]
    fn a_copied_history_is_not_counted_again() {
        let home = Home::new();
        home.file("1-m", json!({"id": "m"}), &[("a", "a")]).file(
            "2-s",
            json!({"id": "s", "parent_thread_id": "m"}),
            &[("a", "a"), ("b", "a")],
        );
        let found = home.find(Some("m"), Continuation::Fresh, 1);
        assert_eq!(ids(&found.sub_agents[0]), ["b"]);
    }

    #[test]
    fn without_a_stream_only_a_lone_conversation_is_taken() {
        let home = Home::new();
        home.file("1-m", json!({"id": "m"}), &[("a", "a")]);
        assert!(home.find(None, Continuation::Fresh, 0).main.is_some());
        assert!(home.find(None, Continuation::Resumed, 0).main.is_none());
        home.file("2-n", json!({"id": "n"}), &[("b", "b")]);
        assert!(home.find(None, Continuation::Fresh, 0).main.is_none());
        assert!(home.find(Some("z"), Continuation::Fresh, 0).main.is_none());
    }
}
