//! A scripted endpoint for the agent's own program.
//!
//! The program that plays the script speaks the agent's wire API; the suite knows only how it is
//! started: `PROGRAM --script FILE --log FILE --until-stdin-closes`. Its first line on stdout is
//! the base URL, and the log gets a line of JSON for each request, headers included.

use super::case::{Unproven, could_not, failed};
use super::place::CANARY;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// How long it may take to listen.
const STARTS_WITHIN: Duration = Duration::from_secs(60);

/// A running endpoint; it ends when this is dropped.
pub struct Endpoint {
    /// What the agent is told.
    pub base_url: String,
    log: PathBuf,
    _process: Child,
    _folder: TempDir,
}

impl Endpoint {
    /// Starts one that plays this script, with a folder of its own below `folder`.
    ///
    /// # Errors
    ///
    /// If it does not start, or names no address.
    pub async fn start(program: &Path, script: &Path, folder: &Path) -> Result<Self, Unproven> {
        let start = "start the scripted endpoint";
        let folder = tempfile::tempdir_in(folder).map_err(could_not(start))?;
        let (log, errors) = (folder.path().join("log"), folder.path().join("stderr"));
        let stderr = File::create(&errors).map_err(could_not(start))?;
        let mut process = Command::new(program)
            .arg("--script")
            .arg(script)
            .arg("--log")
            .arg(&log)
            .arg("--until-stdin-closes")
            // Held open as long as this process lives, however it ends.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .kill_on_drop(true)
            .spawn()
            .map_err(could_not(start))?;
        let mut base_url = String::new();
        if let Some(stdout) = process.stdout.take() {
            let mut stdout = BufReader::new(stdout);
            let reading = stdout.read_line(&mut base_url);
            tokio::time::timeout(STARTS_WITHIN, reading)
                .await
                .map_err(could_not(start))?
                .map_err(could_not(start))?;
        }
        let base_url = base_url.trim_end().to_owned();
        if !base_url.contains("://") {
            let said = fs::read_to_string(&errors).unwrap_or_default();
            return Err(failed(format!(
                "the scripted endpoint `{}` did not print its base URL: {}",
                program.display(),
                said.trim()
            )));
        }
        Ok(Self {
            base_url,
            log,
            _process: process,
            _folder: folder,
        })
    }

    /// The requests so far.
    ///
    /// # Errors
    ///
    /// If the log can't be read, or is not lines of JSON.
    pub fn requests(&self) -> Result<Vec<Value>, Unproven> {
        let read = "read the log of the scripted endpoint";
        let text = fs::read_to_string(&self.log).map_err(could_not(read))?;
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().map_err(could_not(read))
    }
}

/// Has a request the suite's credential in it, plainly or as base64?
pub fn carries_the_canary(request: &Value) -> bool {
    match request {
        Value::String(text) => {
            text.contains(CANARY) || text.contains(&STANDARD_NO_PAD.encode(CANARY))
        }
        Value::Array(values) => values.iter().any(carries_the_canary),
        Value::Object(fields) => fields.values().any(carries_the_canary),
        _ => false,
    }
}
