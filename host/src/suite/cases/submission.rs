//! Task submission: every instruction reaches the agent as it is, whatever is in it.

use crate::contract::observed::FailureClass;
use crate::runner::stop::stop_pair;
use crate::suite::case::{Case, Proof, require};
use crate::suite::lab::{Lab, NO_LIMITS, whole};
use crate::suite::place::{LEFT_IN, Place};
use serde_json::{Value, json};

const STDIN: &str = "akbench-suite-stdin";
const REPORT: &str = "akbench-suite-self.json";

pub fn cases() -> Vec<Case> {
    let instructions: [(&str, &str, String); 11] = [
        ("empty", "an empty instruction", String::new()),
        ("megabyte", "an instruction of a megabyte", megabyte()),
        (
            "leading_dash",
            "an instruction that looks like an option",
            "--help\n-x".to_owned(),
        ),
        (
            "quotes",
            "quotes and what a shell would expand",
            "'\"`$(touch x)`\\ $HOME & | ;".to_owned(),
        ),
        (
            "newlines",
            "all kinds of line ends",
            "a\nb\r\nc\rd\n\n".to_owned(),
        ),
        ("nul", "a NUL character", "a\0b".to_owned()),
        (
            "controls",
            "all control characters",
            (1..32u8).chain([127]).map(char::from).collect(),
        ),
        (
            "separators",
            "U+2028, U+2029 and U+0085",
            "a\u{2028}b\u{2029}c\u{85}d".to_owned(),
        ),
        (
            "astral",
            "characters outside the basic plane",
            "😀 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 👩‍👩‍👧".to_owned(),
        ),
        (
            "combining",
            "combining characters, which are not composed",
            "e\u{301} a\u{308}\u{323}".to_owned(),
        ),
        (
            "byte_order_mark",
            "a byte order mark, which stays",
            "\u{feff}text".to_owned(),
        ),
    ];
    instructions
        .into_iter()
        .map(|(name, what, instruction)| {
            Case::new(
                format!("submission.{name}"),
                format!("{what} reaches the agent unchanged, or is refused in so many words"),
                move |lab| {
                    let instruction = instruction.clone();
                    Box::pin(async move { arrives(lab, &instruction).await })
                },
            )
        })
        .collect()
}

fn megabyte() -> String {
    "0123456789 äöü 😀 \"quoted\" \\ line\n"
        .chars()
        .cycle()
        .take(900_000)
        .collect()
}

async fn arrives(lab: &Lab, instruction: &str) -> Proof {
    let steps = [
        json!({"report_self": {"file": REPORT, "into_env": LEFT_IN}}),
        json!({"read_stdin": {"save_to": STDIN, "into_env": LEFT_IN}}),
    ];
    let completes = &lab.recordings()?.completes.scenario;
    let place = lab.stage(&completes.clone().begin_with(steps))?;
    let (_handle, stop) = stop_pair();
    let driven = lab.drive(&place, instruction, NO_LIMITS, stop).await?;
    if let Some((_, failure)) = &driven.failed {
        let honest = [
            FailureClass::Unsupported,
            FailureClass::InvalidConfiguration,
        ];
        return require(honest.contains(&failure.class), || {
            format!("refused as {:?}: {}", failure.class, failure.message)
        });
    }
    whole(&driven)?;
    require(was_given(&place, instruction), || {
        "the agent got something else, on its stdin and as arguments".to_owned()
    })
}

/// As a whole on stdin or as an argument, or as a JSON string within one of them.
fn was_given(place: &Place, instruction: &str) -> bool {
    let stdin = std::fs::read(place.left_by_agent(STDIN)).unwrap_or_default();
    if stdin == instruction.as_bytes() {
        return true;
    }
    let report = std::fs::read(place.left_by_agent(REPORT)).unwrap_or_default();
    let report: Value = serde_json::from_slice(&report).unwrap_or_default();
    let mut args = report["args"].as_array().into_iter().flatten();
    let quoted = json!(instruction).to_string();
    let holds = |text: &str| text == instruction || text.contains(&quoted);
    args.any(|arg| arg.as_str().is_some_and(holds))
        || std::str::from_utf8(&stdin).is_ok_and(|text| text.contains(&quoted))
}
