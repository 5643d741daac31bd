//! Secrets: a canary that the agent gets, prints and logs is nowhere in what is kept.

use crate::runner::drive::Driven;
use crate::runner::stop::stop_pair;
use crate::suite::case::{Case, Proof, could_not, failed, not_applicable};
use crate::suite::lab::{INSTRUCTION, Lab, NO_LIMITS};
use crate::suite::place::{CANARY, Place};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::json;
use std::fs;
use std::io;
use std::path::Path;

pub fn cases() -> Vec<Case> {
    vec![Case::new(
        "secrets.canary",
        "a credential that the agent prints, plainly, encoded, escaped or in pieces, is nowhere",
        |lab| Box::pin(canary(lab)),
    )]
}

async fn canary(lab: &Lab) -> Proof {
    let completes = &lab.recordings()?.completes.scenario;
    let forms = forms(CANARY);
    let [_, base64, escaped] = &forms;
    let home = &lab.descriptor().home.environment;
    let steps = [
        json!({"report_env": {}}),
        json!({"stdout": {"text": format!("key {CANARY}\n"), "piece_bytes": 5, "delay_ms": 1}}),
        json!({"stdout": {"text": format!("{base64}\n\"{escaped}\"\n")}}),
        json!({"stderr": {"text": format!("error: {CANARY} {base64} {escaped}\n")}}),
        json!({"write_file": {"path": "akbench-suite.log", "into_env": home, "text": CANARY}}),
    ];
    let place = lab.stage(&completes.clone().begin_with(steps))?;
    if place.grants.credentials.is_empty() {
        return Err(not_applicable(
            "the agent uses no runtime, so it gets no credential",
        ));
    }
    let (_handle, stop) = stop_pair();
    let driven = lab.drive(&place, INSTRUCTION, NO_LIMITS, stop).await?;
    is_nowhere(&place, &driven)
}

/// The session's credential is in nothing that was kept or told of it.
///
/// # Errors
///
/// If it is.
pub fn is_nowhere(place: &Place, driven: &Driven) -> Proof {
    let secrets = place.grants.credentials.values();
    let forms: Vec<String> = secrets.flat_map(|secret| forms(secret.expose())).collect();
    let told = format!("{driven:?}");
    if forms.iter().any(|form| told.contains(form)) {
        return Err(failed("the credential is in what the adapter reported"));
    }
    for kept in [
        place.folder.artifacts(),
        place.folder.events(),
        place.folder.audit(),
    ] {
        search(&kept, &forms)?;
    }
    Ok(())
}

fn forms(secret: &str) -> [String; 3] {
    let quoted = json!(secret).to_string();
    [
        secret.to_owned(),
        STANDARD_NO_PAD.encode(secret),
        quoted.trim_matches('"').to_owned(),
    ]
}

fn search(path: &Path, forms: &[String]) -> Proof {
    let found = first_with(path, forms).map_err(could_not("search what was kept"))?;
    match found {
        Some(file) => Err(failed(format!("the credential is in `{file}`"))),
        None => Ok(()),
    }
}

fn first_with(path: &Path, forms: &[String]) -> io::Result<Option<String>> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            if let Some(found) = first_with(&entry?.path(), forms)? {
                return Ok(Some(found));
            }
        }
        return Ok(None);
    }
    let bytes = fs::read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let leaked = forms.iter().any(|form| text.contains(form));
    Ok(leaked.then(|| path.display().to_string()))
}
