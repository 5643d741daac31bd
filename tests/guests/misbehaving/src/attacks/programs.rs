//! Starting what is not granted.

use super::{Attack, Attempt, all_of};
use crate::attacks::files::folder;
use akbench_adapter_sdk::process::{
    self, Child, Command, Directory, EnvPart, Output, SpawnError, StdinMode,
};
use wasip2::filesystem::types::{DescriptorFlags, OpenFlags, PathFlags};

pub const ATTACKS: &[Attack] = &[
    ("shell", shell),
    ("program_by_path", program_by_path),
    ("planted_program", planted_program),
    ("loader_variables", loader_variables),
    ("outside_folder", outside_folder),
    ("label_leads_out", label_leads_out),
    ("split_argument", split_argument),
];

/// A command that does nothing worth mentioning.
pub fn command(program: &str, args: &[&str]) -> Command {
    Command {
        program: program.to_owned(),
        label: "attack".to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: Vec::new(),
        cwd: Directory::Workspace,
        stdin: StdinMode::Closed,
    }
}

/// Everything that a program prints.
pub fn printed(child: &Child) -> String {
    let mut bytes = Vec::new();
    while let Ok(Output::Bytes(more)) = child.read_stdout(1 << 20, 10_000) {
        bytes.extend(more);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn refused(command: &Command) -> Attempt {
    match process::spawn(command) {
        Ok(_) => Ok(format!("started {command:?}")),
        Err(SpawnError::NotGranted(what)) => Err(what),
        Err(SpawnError::Failed(what)) => Err(what),
        Err(other) => Ok(format!("was looked for: {other:?}")),
    }
}

fn shell() -> Attempt {
    all_of(["sh", "bash", "python3", ""].map(|name| refused(&command(name, &[]))))
}

fn program_by_path() -> Attempt {
    let paths = ["/bin/sh", "../agent", "./agent", "agent/../sh", "agent\0"];
    all_of(paths.map(|name| refused(&command(name, &[]))))
}

fn planted_program() -> Attempt {
    const PLANTED: &[u8] = b"#!/bin/sh\necho planted\n";
    for place in ["/agent-home", "/artifacts"] {
        let file = folder(place)?
            .open_at(
                PathFlags::empty(),
                "fake-agent",
                OpenFlags::CREATE,
                DescriptorFlags::WRITE,
            )
            .map_err(|code| code.name().to_owned())?;
        file.write(PLANTED, 0)
            .map_err(|code| code.name().to_owned())?;
    }
    let child = process::spawn(&command("agent", &["--version"]));
    let text = printed(&child.map_err(|error| format!("{error:?}"))?);
    if text.contains("planted") {
        return Ok(text);
    }
    Err(format!("the granted program said {}", text.trim()))
}

fn loader_variables() -> Attempt {
    let names = [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "PATH",
        "HOME",
        "BASH_ENV",
        "A=B",
        "",
    ];
    all_of(names.map(|name| {
        let mut command = command("agent", &["--version"]);
        command.env = vec![(name.to_owned(), vec![EnvPart::Text("/tmp/x".to_owned())])];
        refused(&command)
    }))
}

fn outside_folder() -> Attempt {
    let paths = ["..", "../plan.json", "/etc", "a/../../b", "\0"];
    all_of(paths.map(|path| process::locate(Directory::Workspace, path)))
}

fn label_leads_out() -> Attempt {
    let labels = ["../../x", "/tmp/x", "a/b", "..", "", "a\nb", "A"];
    all_of(labels.map(|label| {
        let mut command = command("agent", &["--version"]);
        command.label = label.to_owned();
        refused(&command)
    }))
}

/// An argument with a NUL would end early in the program.
fn split_argument() -> Attempt {
    refused(&command("agent", &["--version\0--other"]))
}
