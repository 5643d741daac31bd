//! What the task used: tokens and requests, over the conversation and its sub-agents.

use crate::command_line::Continuation;
use crate::session_files::SessionFiles;
use crate::stream::{Stream, Terminal};
use crate::turn::{Turn, TurnEnd};
use crate::usage::Tokens;
use std::collections::BTreeMap;

/// Where the tokens of a task were found.
pub const RECORDS: &str = "rollout:token_usage_record";
/// The running totals of a session file.
pub const COUNTS: &str = "rollout:token_count";
/// The last event of the stream.
pub const STREAM: &str = "stdout:turn.completed";

/// The tokens of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// Their sum.
    pub tokens: Tokens,
    /// Where they were found.
    pub source: &'static str,
    /// Responses with a usage; `None` if they were not recorded one by one.
    pub requests: Option<u32>,
    /// By model; `None` unless every turn says its one model.
    pub by_model: Option<BTreeMap<String, Tokens>>,
    /// What the sum is known to omit.
    pub missing: Vec<&'static str>,
}

/// Adds up what the evidence knows; `None` if it knows nothing, which is not zero.
pub fn measure(
    files: &SessionFiles,
    stream: &Stream,
    continuation: Continuation,
) -> Option<Measured> {
    let main = files.main.iter().flat_map(|main| &main.turns);
    let main_usage = Tokens::sum(
        main.clone()
            .filter_map(|turn| turn_usage(turn, continuation)),
    );
    let turns = main.chain(files.sub_agents.iter().flat_map(|agent| &agent.turns));
    let used: Vec<(&Turn, Tokens)> = turns
        .filter_map(|turn| Some((turn, turn_usage(turn, continuation)?)))
        .collect();
    let mut missing = missing(files, stream);
    let printed = stream.usage.filter(|tokens| {
        // The event holds the whole conversation's tokens in most versions.
        !tokens.says_nothing() && continuation == Continuation::Fresh
    });
    let Some(tokens) = Tokens::sum(used.iter().map(|(_, tokens)| *tokens)) else {
        let tokens = printed?;
        if stream.used_sub_agents {
            push(&mut missing, "sub-agents");
        }
        return Some(Measured {
            tokens,
            source: STREAM,
            requests: None,
            by_model: None,
            missing,
        });
    };
    if let (Some(main), Some(printed)) = (main_usage, printed)
        && main.is_below(printed)
    {
        push(&mut missing, "requests without a record");
    }
    let responses: Option<Vec<usize>> = used.iter().map(|(turn, _)| turn.responses()).collect();
    let recorded = responses.is_some();
    Some(Measured {
        tokens,
        source: if recorded { RECORDS } else { COUNTS },
        requests: responses.and_then(|counts| u32::try_from(counts.iter().sum::<usize>()).ok()),
        by_model: by_model(&used),
        missing,
    })
}

fn turn_usage(turn: &Turn, continuation: Continuation) -> Option<Tokens> {
    // A copied conversation goes on counting from a total that its own file does not hold.
    let counted = || {
        turn.counted_usage()
            .filter(|_| continuation != Continuation::Forked)
    };
    turn.recorded_usage()
        .or_else(counted)
        .filter(|tokens| !tokens.says_nothing())
}

fn by_model(used: &[(&Turn, Tokens)]) -> Option<BTreeMap<String, Tokens>> {
    let mut models = BTreeMap::new();
    for (turn, tokens) in used {
        let model = turn
            .settings
            .as_ref()
            .and_then(|settings| settings.model.clone());
        let model = model.filter(|_| !turn.several_models)?;
        models
            .entry(model)
            .and_modify(|sum: &mut Tokens| *sum = sum.plus(*tokens))
            .or_insert(*tokens);
    }
    Some(models)
}

fn missing(files: &SessionFiles, stream: &Stream) -> Vec<&'static str> {
    let mut missing = Vec::new();
    if files.main.is_none() {
        push(&mut missing, "session file");
    }
    if files.faults.any() || stream.faults.any() {
        push(&mut missing, "unreadable lines");
    }
    if stream.retried || matches!(stream.terminal, Some(Terminal::Failed(_))) {
        push(&mut missing, "failed requests");
    }
    let last = files.main.as_ref().and_then(|main| main.turns.last());
    let orderly = match last.and_then(|turn| turn.end.as_ref()) {
        // Old versions don't write down a call that was interrupted; the stream shows it.
        Some(TurnEnd::Aborted { request_lost, .. }) => !request_lost || stream.has_running_tool(),
        Some(TurnEnd::Complete { .. }) => true,
        None => stream.terminal.is_some(),
    };
    if !orderly {
        push(&mut missing, "last request");
    }
    if files.sub_agents_unclear || (stream.used_sub_agents && files.sub_agents.is_empty()) {
        push(&mut missing, "sub-agents");
    }
    missing
}

fn push(missing: &mut Vec<&'static str>, what: &'static str) {
    if !missing.contains(&what) {
        missing.push(what);
    }
}
