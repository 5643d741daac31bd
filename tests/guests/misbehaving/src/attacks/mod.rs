//! Attacks on the host, chosen by the parameter `attack`: the name of one, or `all` for those
//! that are over when they have failed. Each tells what came of it in an event `attack`;
//! afterwards the session goes on as if nothing had been.
//!
//! `tests/e2e/tests/hostile_adapter` makes each of them in a real run.

mod environment;
mod files;
mod network;
mod programs;
mod resources;
mod state;
mod time;

use akbench_adapter_sdk::events::{self, CustomEvent, Event};
use serde_json::json;

/// What was reached, or why it was not.
pub type Attempt = Result<String, String>;

/// An attack and its name.
pub type Attack = (&'static str, fn() -> Attempt);

/// Those that are over when they have failed.
fn harmless() -> impl Iterator<Item = Attack> {
    [
        files::ATTACKS,
        programs::ATTACKS,
        environment::ATTACKS,
        network::ATTACKS,
        state::ATTACKS,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// Makes the attack of this name.
pub fn attack(name: &str) {
    if name == "all" {
        harmless().for_each(make);
    } else {
        let breaking = [resources::ATTACKS, time::ATTACKS].into_iter().flatten();
        harmless()
            .chain(breaking.copied())
            .filter(|(known, _)| *known == name)
            .for_each(make);
    }
}

fn make((name, attempt): Attack) {
    let (outcome, detail) = match attempt() {
        Err(why) => ("denied", why),
        Ok(what) => ("ESCAPED", what),
    };
    events::emit(&Event::Other(CustomEvent {
        name: "attack".to_owned(),
        data: json!({"attack": name, "outcome": outcome, "detail": detail}).to_string(),
    }));
}

/// Denied only if each of these is; the reasons are joined.
fn all_of(attempts: impl IntoIterator<Item = Attempt>) -> Attempt {
    let mut why = Vec::new();
    for attempt in attempts {
        match attempt {
            Ok(reached) => return Ok(reached),
            Err(reason) => why.push(reason),
        }
    }
    Err(why.join("; "))
}
