//! Reports of what this process was given.

use crate::failure::Failure;
use crate::files;
use crate::output::{self, Channel};
use crate::step::ReportTo;
use rustix::process;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;

/// The environment: names and values.
pub(crate) fn environment() -> Value {
    let sorted: BTreeMap<String, Value> = env::vars_os()
        .map(|(name, value)| (lossy(&name), Value::String(lossy(&value))))
        .collect();
    Value::Object(Map::from_iter(sorted))
}

/// Arguments, folder, ids and open files.
pub(crate) fn process() -> Value {
    let id = |pid: process::Pid| pid.as_raw_nonzero().get();
    let arguments: Vec<String> = env::args_os()
        .skip(1)
        .map(|argument| lossy(&argument))
        .collect();
    json!({
        "args": arguments,
        "cwd": env::current_dir().ok().map(|folder| lossy(&folder.into())),
        "exe": env::current_exe().ok().map(|path| lossy(&path.into())),
        "pid": id(process::getpid()),
        "parent_pid": process::getppid().map(id),
        "process_group": leader(GROUP),
        "session": leader(SESSION),
        "user": process::getuid().as_raw(),
        "open_files": open_files(),
    })
}

/// Fields of `/proc/PID/stat` after the program's name, counted from the state (proc(5)).
const GROUP: usize = 2;
const SESSION: usize = 3;

/// The leader of this process's group or session; 0 when it lives outside of the PID
/// namespace, which the typed system calls take for impossible.
fn leader(field: usize) -> Option<u32> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name may hold blanks and parentheses, so the fields start after the last one.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(field)?.parse().ok()
}

/// File descriptor to what it is open on; `null` where that cannot be found out.
fn open_files() -> Value {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        return Value::Null;
    };
    let mut files = BTreeMap::new();
    for entry in entries.flatten() {
        // The listing's own descriptor is closed when this loop is over.
        let Ok(number) = entry.file_name().to_string_lossy().parse::<u32>() else {
            continue;
        };
        files.insert(
            number,
            fs::read_link(entry.path())
                .ok()
                .map(|target| lossy(&target.into())),
        );
    }
    let own = format!("/proc/{}/fd", process::getpid().as_raw_nonzero());
    files.retain(|_, target| target.as_deref() != Some(own.as_str()));
    files
        .into_iter()
        .map(|(number, target)| (number.to_string(), json!(target)))
        .collect::<Map<_, _>>()
        .into()
}

pub(crate) fn send(report: &Value, to: &ReportTo) -> Result<(), Failure> {
    let line = format!("{report}\n");
    let (sent, target) = match &to.file {
        Some(path) => {
            let path = files::base(to.into_env.as_deref())?.join(path);
            (fs::write(&path, line), path.display().to_string())
        }
        None => (
            output::write_whole(Channel::Stdout, line.as_bytes()),
            "stdout".to_owned(),
        ),
    };
    sent.map_err(|error| Failure::step(format!("failed to write a report to {target}: {error}")))
}

fn lossy(text: &OsString) -> String {
    text.to_string_lossy().into_owned()
}
