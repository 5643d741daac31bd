//! What a usage is known to omit. Only what the evidence shows to be whole is whole.

use crate::session_files::SessionFiles;
use crate::stream::{Stream, Terminal};
use crate::turn::{Turn, TurnEnd};
use crate::usage::Tokens;

/// What is known to be missing, in words for people.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Missing(Vec<&'static str>);

impl Missing {
    /// Adds something, once.
    pub fn push(&mut self, what: &'static str) {
        if !self.0.contains(&what) {
            self.0.push(what);
        }
    }

    /// All of it.
    pub fn into_inner(self) -> Vec<&'static str> {
        self.0
    }
}

/// What the session files and the stream are known to omit, whatever they add up to.
/// `died_by_signal` says that a signal ended the program.
pub fn missing(files: &SessionFiles, stream: &Stream, died_by_signal: bool) -> Missing {
    let mut missing = Missing::default();
    if files.main.is_none() {
        missing.push("session file");
    }
    if files.faults.any() || stream.faults.any() {
        missing.push("unreadable lines");
    }
    if stream.lost_request || matches!(stream.terminal, Some(Terminal::Failed(_))) {
        missing.push("failed requests");
    }
    let last = files.main.as_ref().and_then(|main| main.turns.last());
    if !is_orderly(last, stream, died_by_signal) {
        missing.push("last request");
    }
    let unfinished = files
        .sub_agents
        .iter()
        .any(|agent| agent.turns.last().is_some_and(may_lack_a_request));
    let unseen = stream.used_sub_agents && files.sub_agents.is_empty();
    if files.sub_agents_unclear || unseen || unfinished {
        missing.push("sub-agents");
    }
    missing
}

/// Whether the last turn came to an end that loses nothing.
fn is_orderly(last: Option<&Turn>, stream: &Stream, died_by_signal: bool) -> bool {
    let printed = stream.terminal.is_some();
    match last.and_then(|turn| turn.end.as_ref()) {
        // The stream has to show it too: what it lacks may have been a retry.
        Some(TurnEnd::Complete { .. }) => printed,
        // With a tool under way there was no request whose usage could be lost.
        Some(TurnEnd::Aborted { request_lost, .. }) => {
            !request_lost && stream.has_running_tool() && !died_by_signal
        }
        None => printed && !last.is_some_and(Turn::is_cut_off),
    }
}

/// Whether a sub-agent's turn may have had a request under way when it stopped.
fn may_lack_a_request(turn: &Turn) -> bool {
    match turn.end {
        Some(TurnEnd::Complete { .. }) => false,
        Some(TurnEnd::Aborted { request_lost, .. }) => request_lost,
        None => turn.is_cut_off(),
    }
}

/// Whether the session file lacks the usage of a response: one that it shows, or one that
/// only the total at the end of the stream tells of. `own` is what the conversation's own
/// turns add up to, `printed` what the stream says they should.
pub fn lacks_usage(
    files: &SessionFiles,
    stream: &Stream,
    own: Option<Tokens>,
    printed: Option<Tokens>,
) -> bool {
    let main = files.main.iter().flat_map(|main| &main.turns);
    let others = files.sub_agents.iter().flat_map(|agent| &agent.turns);
    // Whoever began the conversation, its last total is what the program prints in the end.
    let total = files.main.as_ref().and_then(|main| main.turns.last());
    let total = total.and_then(Turn::total);
    main.chain(others).any(Turn::lacks_usage)
        || is_below(own, printed)
        || is_below(total, stream.usage)
}

fn is_below(known: Option<Tokens>, printed: Option<Tokens>) -> bool {
    matches!((known, printed), (Some(known), Some(printed)) if known.is_below(printed))
}
