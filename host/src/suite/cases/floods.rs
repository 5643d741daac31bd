//! Output that is too much, too long, or no text at all.

use crate::suite::case::{Case, Proof, require};
use crate::suite::expectation::outcome;
use crate::suite::lab::Lab;
use serde_json::{Value, json};

pub fn cases() -> Vec<Case> {
    let floods: [(&str, &str, Vec<Value>); 4] = [
        (
            "stdout",
            "many megabytes of lines on stdout",
            vec![
                json!({"flood": {"text": "no event at all\n", "total_bytes": 16 << 20, "to": "stdout"}}),
            ],
        ),
        (
            "stderr",
            "many megabytes on stderr that nobody reads",
            vec![
                json!({"flood": {"text": "warning: x\n", "total_bytes": 16 << 20, "to": "stderr"}}),
            ],
        ),
        (
            "long_line",
            "a line of many megabytes",
            vec![
                json!({"flood": {"text": "x", "total_bytes": 20 << 20, "to": "stdout"}}),
                json!({"stdout": {"text": "\n"}}),
            ],
        ),
        (
            "invalid_utf8",
            "bytes that are no UTF-8",
            vec![json!({"stdout": {"bytes": [255, 254, 34, 10, 123, 192, 10]}})],
        ),
    ];
    floods
        .into_iter()
        .map(|(name, what, steps)| {
            Case::new(
                format!("floods.{name}"),
                format!("{what} before the work change nothing about what is observed"),
                move |lab| {
                    let steps = steps.clone();
                    Box::pin(async move { survives(lab, steps).await })
                },
            )
        })
        .collect()
}

async fn survives(lab: &Lab, steps: Vec<Value>) -> Proof {
    let completes = &lab.recordings()?.completes;
    let place = lab.stage(&completes.scenario.clone().begin_with(steps))?;
    let (_, observed) = lab.drive_well(&place).await?;
    let found = outcome(&observed);
    require(Some(&found) == completes.expected.get("outcome"), || {
        format!("expected the outcome completed, observed {found}")
    })?;
    let message = json!(observed.final_message);
    require(
        Some(&message) == completes.expected.get("final_message"),
        || format!("observed the final message {message}"),
    )
}
