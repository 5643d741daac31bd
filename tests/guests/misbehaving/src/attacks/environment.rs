//! The host's environment, and secrets.

use super::{Attack, Attempt, all_of};
use crate::attacks::programs::{command, printed};
use akbench_adapter_sdk::evidence::{Evidence, GrantedEvidence, read_all, walk};
use akbench_adapter_sdk::process::{self, EnvPart, SpawnError};
use wasip2::cli::{environment, stdin};

/// The variable that carries the credential into the agent's program.
const VARIABLE: &str = "AGENT_KEY";

pub const ATTACKS: &[Attack] = &[
    ("host_variables", host_variables),
    ("host_arguments", host_arguments),
    ("host_stdin", host_stdin),
    ("other_credential", other_credential),
    ("credential_through_stdout", credential_through_stdout),
    ("credential_through_stderr", credential_through_stderr),
    ("credential_in_argument", credential_in_argument),
    ("credential_in_evidence", credential_in_evidence),
];

fn host_variables() -> Attempt {
    let variables = environment::get_environment();
    match variables.first() {
        None => Err("there are none".to_owned()),
        Some((name, _)) => Ok(name.clone()),
    }
}

fn host_arguments() -> Attempt {
    let arguments = environment::get_arguments();
    match arguments.first() {
        None => Err("there are none".to_owned()),
        Some(argument) => Ok(argument.clone()),
    }
}

fn host_stdin() -> Attempt {
    match stdin::get_stdin().blocking_read(100) {
        Ok(bytes) if !bytes.is_empty() => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        _ => Err("it is closed".to_owned()),
    }
}

fn other_credential() -> Attempt {
    all_of(
        ["other", "", "../llm-router", "AKBENCH_LLM_ROUTER_KEY"].map(|name| {
            let mut command = command("agent", &["--version"]);
            command.env = vec![(
                VARIABLE.to_owned(),
                vec![EnvPart::Credential(name.to_owned())],
            )];
            match process::spawn(&command) {
                Ok(_) => Ok(format!("`{name}` was handed over")),
                Err(SpawnError::NotGranted(what)) => Err(what),
                Err(other) => Ok(format!("{other:?}")),
            }
        }),
    )
}

/// The agent's program is given the credential and prints its environment.
fn leaked(args: &[&str], stderr: bool) -> Attempt {
    let mut command = command("agent", args);
    command.env = vec![(
        VARIABLE.to_owned(),
        vec![EnvPart::Credential("key".to_owned())],
    )];
    let child = process::spawn(&command).map_err(|error| format!("{error:?}"))?;
    let text = if stderr {
        let bytes = match child.read_stderr(1 << 20, 10_000) {
            Ok(process::Output::Bytes(bytes)) => bytes,
            other => return Err(format!("nothing was printed: {other:?}")),
        };
        String::from_utf8_lossy(&bytes).into_owned()
    } else {
        printed(&child)
    };
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("AGENT_KEY="))
        .map(str::to_owned);
    match value {
        // Only what was printed proves anything.
        None => Ok(format!("the program printed no credential: {text}")),
        Some(value) if value.bytes().all(|byte| byte == b'*') => Err(format!("masked: {value}")),
        Some(value) => Ok(value),
    }
}

fn credential_through_stdout() -> Attempt {
    leaked(&["--print-environment"], false)
}

fn credential_through_stderr() -> Attempt {
    leaked(&["--print-environment-to-stderr"], true)
}

/// Nothing expands what looks like a reference.
fn credential_in_argument() -> Attempt {
    let references = [
        "$AGENT_KEY",
        "${AGENT_KEY}",
        "%AGENT_KEY%",
        "{credential:key}",
    ];
    let mut args = vec!["--print-arguments"];
    args.extend(references);
    let child = process::spawn(&command("agent", &args)).map_err(|error| format!("{error:?}"))?;
    let text = printed(&child);
    let unchanged = references.iter().all(|reference| text.contains(reference));
    if unchanged {
        Err("none was expanded".to_owned())
    } else {
        Ok(text)
    }
}

/// What the engine wrote down about the programs above holds names of variables, no values.
fn credential_in_evidence() -> Attempt {
    let evidence = GrantedEvidence;
    let files = walk(&evidence as &dyn Evidence, "spawns").map_err(|error| error.reason)?;
    let mut seen = 0;
    for path in files.iter().filter(|path| path.ends_with("command.json")) {
        let bytes = read_all(&evidence as &dyn Evidence, path).map_err(|error| error.reason)?;
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        if text.contains("AGENT_KEY=") {
            return Ok(text);
        }
        seen += usize::from(text.contains("AGENT_KEY"));
    }
    match seen {
        0 => Ok("no command that was given the credential was recorded".to_owned()),
        seen => Err(format!("{seen} commands name the variable alone")),
    }
}
