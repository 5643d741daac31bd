//! Output that is too much, too long, or no text at all.

use crate::suite::case::{Case, Proof, could_not, require};
use crate::suite::expectation::summary;
use crate::suite::lab::Lab;
use serde_json::{Value, json};

/// The steps of a flood of about so many bytes.
type Flood = fn(u64) -> Vec<Value>;

pub fn cases() -> Vec<Case> {
    let floods: [(&str, &str, Flood); 4] = [
        ("stdout", "many megabytes of lines on stdout", |bytes| {
            vec![flood("no event at all\n", bytes, "stdout")]
        }),
        (
            "stderr",
            "many megabytes on stderr that nobody reads",
            |bytes| vec![flood("warning: x\n", bytes, "stderr")],
        ),
        ("long_line", "a line of many megabytes", |bytes| {
            let end = json!({"stdout": {"text": "\n"}});
            vec![flood("x", bytes + bytes / 4, "stdout"), end]
        }),
        ("invalid_utf8", "bytes that are no UTF-8", |_| {
            vec![json!({"stdout": {"bytes": [255, 254, 34, 10, 123, 192, 10]}})]
        }),
    ];
    let mut cases: Vec<Case> = floods
        .into_iter()
        .map(|(name, what, steps)| {
            Case::new(
                format!("floods.{name}"),
                format!("{what} before the work change nothing about what is observed"),
                move |lab| Box::pin(async move { survives(lab, steps(lab.flood_bytes())).await }),
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

fn flood(text: &str, bytes: u64, to: &str) -> Value {
    json!({"flood": {"text": text, "total_bytes": bytes, "to": to}})
}

/// The engine drops events beyond a session's share, because an agent may print without end.
/// This recording does not, so the flood is the adapter's.
async fn own_events(lab: &Lab) -> Proof {
    let place = &lab.completed().await?.place;
    let events = std::fs::metadata(place.folder.events()).map_err(could_not("read events"))?;
    require(events.len() <= lab.flood_bytes(), || {
        format!("emitted {} bytes of events", events.len())
    })
}

async fn survives(lab: &Lab, steps: Vec<Value>) -> Proof {
    let completes = &lab.recordings()?.completes;
    let place = lab.stage(&completes.scenario.clone().begin_with(steps))?;
    let (_, observed) = lab.drive_well(&place).await?;
    let (found, without) = (
        summary(&observed),
        summary(&lab.completed().await?.observed),
    );
    require(found == without, || {
        format!("observed {}, without it {}", json!(found), json!(without))
    })
}
