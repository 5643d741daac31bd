//! What the task used: tokens and requests, over the conversation and its sub-agents.

use crate::command_line::Continuation;
use crate::completeness;
use crate::session_files::SessionFiles;
use crate::stream::{Stream, Terminal};
use crate::turn::Turn;
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
    /// Responses of the model; `None` if there may have been some that left no trace.
    pub requests: Option<u32>,
    /// By model; `None` unless every turn says its one model.
    pub by_model: Option<BTreeMap<String, Tokens>>,
    /// What the sum is known to omit.
    pub missing: Vec<&'static str>,
}

/// Adds up what the evidence knows; `None` if it knows nothing, which is not zero.
/// `died_by_signal` says that a signal ended the program.
pub fn measure(
    files: &SessionFiles,
    stream: &Stream,
    continuation: Continuation,
    died_by_signal: bool,
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
    let mut missing = completeness::missing(files, stream, died_by_signal);
    let printed = stream.usage.filter(|tokens| {
        // The event holds the whole conversation's tokens in most versions.
        !tokens.says_nothing() && continuation == Continuation::Fresh
    });
    let Some(tokens) = Tokens::sum(used.iter().map(|(_, tokens)| *tokens)) else {
        let tokens = printed?;
        missing.push("session file");
        if stream.used_sub_agents {
            missing.push("sub-agents");
        }
        return Some(Measured {
            tokens,
            source: STREAM,
            requests: None,
            by_model: None,
            missing: missing.into_inner(),
        });
    };
    let lacking = completeness::lacks_usage(files, stream, main_usage, printed);
    if lacking {
        missing.push("requests without a record");
    }
    let responses = used.iter().map(|(turn, _)| turn.recorded_responses()).sum();
    // A request that failed leaves no trace.
    let all_known = stream.terminal == Some(Terminal::Completed) && !stream.retried && !lacking;
    let recorded = used.iter().all(|(turn, _)| turn.has_records());
    Some(Measured {
        tokens,
        source: if recorded { RECORDS } else { COUNTS },
        requests: all_known.then_some(responses),
        by_model: by_model(&used),
        missing: missing.into_inner(),
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
