//! What any runner has to pay: a loop that starts the same programs in the same containment
//! and does nothing else.

use crate::error::{Doing, Unmeasured};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

/// Where bubblewrap is; `None` where it is not installed.
pub fn bubblewrap() -> Option<PathBuf> {
    ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"]
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.is_file())
}

/// Starts the program for its version and for its work, in a PID namespace of its own where
/// there is bubblewrap, and waits for the end.
///
/// # Errors
///
/// If something can't be started or fails.
pub async fn session(bubblewrap: Option<&Path>, program: &Path) -> Result<(), Unmeasured> {
    let both = r#""$0" --version && echo task | "$0" work"#;
    let mut command = match bubblewrap {
        Some(bubblewrap) => {
            let mut command = Command::new(bubblewrap);
            // As the host does it: host/src/process/launch.rs.
            command.args(["--unshare-pid", "--as-pid-1", "--die-with-parent"]);
            command.args(["--dev-bind", "/", "/", "--proc", "/proc"]);
            command.args(["--", "/bin/sh"]);
            command
        }
        None => Command::new("/bin/sh"),
    };
    let ended = command
        .args(["-c", both])
        .arg(program)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .await
        .doing("start a program in the bare loop")?;
    if !ended.status.success() {
        return Err(Unmeasured(format!(
            "a program of the bare loop ended with {}: {}",
            ended.status,
            String::from_utf8_lossy(&ended.stderr)
        )));
    }
    Ok(())
}
