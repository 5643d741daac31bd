//! Output that is too much, too long, or no text at all.

use crate::suite::case::{Case, Proof, could_not, require};
use crate::suite::expectation::outcome;
use crate::suite::lab::Lab;
use serde_json::{Value, json};

/// Bytes of events that a recording may come to.
const MOST_OWN_EVENTS: u64 = 16 << 20;

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
    let mut cases: Vec<Case> = floods
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
            .alone()
        })
        .collect();
    cases.push(Case::new(
        "floods.own_events",
        "of a few lines of work the adapter itself makes no flood of events",
        |lab| Box::pin(own_events(lab)),
    ));
    cases
}

/// The engine drops events beyond a session's share, because an agent may print without end.
/// This recording does not, so the flood is the adapter's.
async fn own_events(lab: &Lab) -> Proof {
    let place = lab.completing()?;
    lab.drive_well(&place).await?;
    let events = std::fs::metadata(place.folder.events()).map_err(could_not("read events"))?;
    require(events.len() <= MOST_OWN_EVENTS, || {
        format!("emitted {} bytes of events", events.len())
    })
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
