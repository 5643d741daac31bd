//! Leaving the three folders.

use super::{Attack, Attempt, all_of};
use wasip2::filesystem::preopens;
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, NewTimestamp, OpenFlags, PathFlags};

pub const ATTACKS: &[Attack] = &[
    ("parent_folder", parent_folder),
    ("absolute_path", absolute_path),
    ("other_folders", other_folders),
    ("symlink_read", symlink_read),
    ("symlink_write", symlink_write),
    ("hard_link", hard_link),
    ("rename_out", rename_out),
    ("list_outside", list_outside),
];

/// A folder that was granted.
pub fn folder(name: &str) -> Result<Descriptor, String> {
    let mut folders = preopens::get_directories().into_iter();
    let found = folders.find(|(_, path)| path == name);
    found.map(|(folder, _)| folder).ok_or(format!("no {name}"))
}

/// Opens a file; links are followed.
pub fn open(folder: &Descriptor, path: &str, how: OpenFlags, flags: DescriptorFlags) -> Attempt {
    folder
        .open_at(PathFlags::SYMLINK_FOLLOW, path, how, flags)
        .map(|_| format!("opened {path}"))
        .map_err(|code| format!("{path}: {}", code.name()))
}

fn read(folder: &Descriptor, path: &str) -> Attempt {
    open(folder, path, OpenFlags::empty(), DescriptorFlags::READ)
}

fn write(folder: &Descriptor, path: &str) -> Attempt {
    open(folder, path, OpenFlags::CREATE, DescriptorFlags::WRITE)
}

fn parent_folder() -> Attempt {
    let home = folder("/agent-home")?;
    let paths = [
        "..",
        "../..",
        "../plan.json",
        "x/../../plan.json",
        "./../plan.json",
    ];
    all_of(paths.map(|path| read(&home, path)))
}

fn absolute_path() -> Attempt {
    let home = folder("/agent-home")?;
    let paths = ["/etc/passwd", "//etc/passwd", "/proc/self/environ", "/"];
    all_of(paths.map(|path| read(&home, path)))
}

fn other_folders() -> Attempt {
    let mut names: Vec<String> = preopens::get_directories()
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    names.sort();
    if names != ["/agent-home", "/artifacts", "/evidence"] {
        return Ok(names.join(", "));
    }
    let home = folder("/agent-home")?;
    all_of(["../workspace", "../artifacts/evidence", "../../"].map(|path| read(&home, path)))
}

fn symlink_read() -> Attempt {
    let home = folder("/agent-home")?;
    let targets = [
        ("a", "/etc/passwd"),
        ("b", "../../../../../../etc/passwd"),
        ("c", "../plan.json"),
        ("d", "."),
    ];
    let mut attempts = Vec::new();
    for (name, target) in targets {
        attempts.push(match home.symlink_at(target, name) {
            Err(code) => Err(format!("{target}: {}", code.name())),
            // A link to the folder itself is harmless; what lies above it is not.
            Ok(()) if target == "." => read(&home, "d/../plan.json"),
            Ok(()) => read(&home, name),
        });
    }
    all_of(attempts)
}

fn symlink_write() -> Attempt {
    let artifacts = folder("/artifacts")?;
    let made = artifacts
        .symlink_at("../..", "up")
        .map_err(|code| format!("symlink: {}", code.name()));
    all_of([
        made.and_then(|()| write(&artifacts, "up/forged.json")),
        write(&artifacts, "up/result.json"),
    ])
}

fn hard_link() -> Attempt {
    let home = folder("/agent-home")?;
    let paths = ["../plan.json", "/etc/passwd", "../../../task.txt"];
    all_of(paths.map(|path| {
        home.link_at(PathFlags::SYMLINK_FOLLOW, path, &home, "linked")
            .map(|()| format!("linked {path}"))
            .map_err(|code| format!("{path}: {}", code.name()))
    }))
}

fn rename_out() -> Attempt {
    let home = folder("/agent-home")?;
    write(&home, "mine").ok();
    let evidence = folder("/evidence")?;
    let to = |target: &Descriptor, path: &str| {
        home.rename_at("mine", target, path)
            .map(|()| format!("renamed to {path}"))
            .map_err(|code| format!("{path}: {}", code.name()))
    };
    all_of([
        to(&home, "../result.json"),
        to(&home, "/tmp/akbench-escape"),
        to(&evidence, "forged"),
    ])
}

fn list_outside() -> Attempt {
    let home = folder("/agent-home")?;
    let paths = ["..", "../..", "/"];
    all_of(paths.map(|path| {
        home.open_at(
            PathFlags::SYMLINK_FOLLOW,
            path,
            OpenFlags::DIRECTORY,
            DescriptorFlags::READ,
        )
        .and_then(|folder| folder.read_directory())
        .map(|_| format!("listed {path}"))
        .map_err(|code| format!("{path}: {}", code.name()))
    }))
}

/// Changing what the engine recorded.
pub fn change_evidence() -> Attempt {
    let evidence = folder("/evidence")?;
    let recorded = "spawns/1-version/stdout";
    let named =
        |what: &str, code: wasip2::filesystem::types::ErrorCode| format!("{what}: {}", code.name());
    all_of([
        open(
            &evidence,
            recorded,
            OpenFlags::empty(),
            DescriptorFlags::WRITE,
        ),
        open(
            &evidence,
            recorded,
            OpenFlags::TRUNCATE,
            DescriptorFlags::WRITE,
        ),
        evidence
            .unlink_file_at(recorded)
            .map(|()| "deleted".to_owned())
            .map_err(|code| named("delete", code)),
        evidence
            .set_times_at(
                PathFlags::empty(),
                recorded,
                NewTimestamp::NoChange,
                NewTimestamp::Now,
            )
            .map(|()| "times were set".to_owned())
            .map_err(|code| named("set times", code)),
        evidence
            .rename_at(recorded, &evidence, "spawns/1-version/stderr")
            .map(|()| "renamed".to_owned())
            .map_err(|code| named("rename", code)),
    ])
}

/// Adding to what the engine recorded.
pub fn forge_evidence() -> Attempt {
    let evidence = folder("/evidence")?;
    let made = |path: &str| {
        evidence
            .create_directory_at(path)
            .map(|()| format!("made {path}"))
            .map_err(|code| format!("{path}: {}", code.name()))
    };
    all_of([
        write(&evidence, "forged"),
        write(&evidence, "spawns/1-version/exit.json"),
        made("spawns/9-task"),
        made("home/sessions"),
    ])
}
