//! The agent crashes: by each signal, in the middle of its work.

use crate::contract::observed::{Fault, Outcome};
use crate::suite::case::{Case, Proof, failed, require};
use crate::suite::expectation::outcome;
use crate::suite::lab::Lab;
use crate::suite::scenario::Keep;
use serde_json::json;

const SIGNALS: [&str; 10] = [
    "SIGABRT", "SIGBUS", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGKILL", "SIGPIPE", "SIGSEGV",
    "SIGTERM",
];

pub fn cases() -> Vec<Case> {
    SIGNALS
        .into_iter()
        .map(|signal| {
            Case::new(
                format!("crashes.{}", signal.to_lowercase()),
                format!(
                    "an agent that {signal} ends in its work has failed, and nobody cancelled it"
                ),
                move |lab| Box::pin(by(lab, signal)),
            )
        })
        .collect()
}

async fn by(lab: &Lab, signal: &'static str) -> Proof {
    let completes = lab.recordings()?.completes.scenario.clone();
    let half = completes.cut(Keep::Half).map_err(super::unusable)?;
    let place = lab.stage(&half.end_with([json!({"kill_self": signal})]))?;
    let (_, observed) = lab.drive_well(&place).await?;
    let Some(Outcome::Failed(failure)) = &observed.outcome else {
        return Err(failed(format!(
            "expected a failure, observed {}",
            outcome(&observed)
        )));
    };
    let fault = failure.class.fault();
    require(matches!(fault, Fault::Agent | Fault::Unknown), || {
        format!(
            "the crash is called the fault of {fault:?} ({:?})",
            failure.class
        )
    })
}
