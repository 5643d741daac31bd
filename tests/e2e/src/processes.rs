//! Looking for processes that should be dead.

use crate::scene::Scene;
use std::fs;
use std::time::{Duration, Instant};

/// Command lines of living processes that run a program of the scene, whatever namespace or
/// session they are in. A zombie has no command line, so it does not count.
pub fn of_scene(scene: &Scene) -> Vec<String> {
    let marker = scene.path("programs").display().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("a process file system") {
        let Ok(entry) = entry else { continue };
        let is_process = entry
            .file_name()
            .to_string_lossy()
            .bytes()
            .all(|byte| byte.is_ascii_digit());
        if !is_process {
            continue;
        }
        // It may have ended since it was listed.
        let Ok(line) = fs::read(entry.path().join("cmdline")) else {
            continue;
        };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        // The host's own arguments name the program too, but do not begin with it.
        if line.starts_with(&marker) {
            found.push(format!("{} {line}", entry.file_name().to_string_lossy()));
        }
    }
    found
}

/// Waits until `holds`, at most for `limit`. Returns whether it came to hold.
pub fn wait_until(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
