//! An agent's program that does next to nothing, for the adapter `fake`: a shell script, so
//! that what is measured is the host and no agent.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const TRIVIAL: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "fake-agent 1.0.0"; exit; fi
read -r task
echo '{"event":"session","id":"s","model":"m"}'
echo '{"event":"usage","input":1,"output":1}'
echo '{"event":"done"}'
"#;

/// Says that it is at work, then waits until its gate is opened.
const WAITING: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "fake-agent 1.0.0"; exit; fi
read -r task
echo '{"event":"session","id":"s","model":"m"}'
echo '{"event":"message","text":"waiting"}'
read -r word < "$0.gate"
echo '{"event":"done"}'
"#;

/// Writes the trivial program into a folder.
///
/// # Errors
///
/// What the system says.
pub fn trivial(folder: &Path) -> io::Result<PathBuf> {
    script(folder, "trivial", TRIVIAL)
}

/// Writes a program that says as many words as asked for, all at once.
///
/// # Errors
///
/// What the system says.
pub fn talkative(folder: &Path, messages: u32) -> io::Result<PathBuf> {
    let said = "{\"event\":\"message\",\"text\":\"one of very many, none of which matters\"}\n";
    let mut words = said.repeat(messages as usize);
    words.push_str("{\"event\":\"done\"}\n");
    let name = format!("talkative-{messages}");
    fs::write(folder.join(format!("{name}.words")), words)?;
    let text = "#!/bin/sh\n\
                if [ \"$1\" = --version ]; then echo \"fake-agent 1.0.0\"; exit; fi\n\
                read -r task\n\
                exec cat \"$0.words\"\n";
    script(folder, &name, text)
}

/// A program that waits, and the gate that it waits at.
pub struct Waiting {
    /// The program.
    pub program: PathBuf,
    gate: PathBuf,
}

impl Waiting {
    /// Writes both into a folder.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let program = script(folder, "waiting", WAITING)?;
        let gate = folder.join("waiting.gate");
        let made = std::process::Command::new("mkfifo").arg(&gate).status()?;
        if !made.success() {
            return Err(io::Error::other(format!("mkfifo ended with {made}")));
        }
        Ok(Self { program, gate })
    }

    /// Opens the gate for all that wait at it, and for those to come, until what is returned
    /// is dropped.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn open(&self) -> io::Result<File> {
        // Read and write: it neither blocks nor depends on who waits.
        let mut gate = File::options().read(true).write(true).open(&self.gate)?;
        gate.write_all(&[b'\n'; 32 << 10])?;
        Ok(gate)
    }
}

fn script(folder: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    let path = folder.join(name);
    // Written under another name: a script that is still open for writing can't be started.
    let draft = folder.join(format!("{name}.draft"));
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o755)
        .open(&draft)?;
    file.write_all(text.as_bytes())?;
    drop(file);
    fs::rename(&draft, &path)?;
    Ok(path)
}
