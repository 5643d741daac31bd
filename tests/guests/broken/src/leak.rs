//! Keeping the agent's own logs as they are, unmasked.

use akbench_adapter_sdk::files::{self, Folder};
use wasip2::filesystem::preopens;
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

/// As much of a log is kept.
const MOST: u64 = 1 << 20;

/// Copies every log in the agent's home to the artifacts.
///
/// # Errors
///
/// A sentence with what the engine says.
pub fn keep_logs() -> Result<(), String> {
    let mut folders = preopens::get_directories().into_iter();
    let home = folders.find(|(_, path)| path == "/agent-home");
    let (home, _) = home.ok_or("the engine granted no home")?;
    let failed = |code: ErrorCode| format!("the agent's logs: {}", code.name());
    let entries = home.read_directory().map_err(failed)?;
    while let Some(entry) = entries.read_directory_entry().map_err(failed)? {
        if entry.name.ends_with(".log") {
            let bytes = read(&home, &entry.name).map_err(failed)?;
            files::write(Folder::Artifacts, &entry.name, &bytes)?;
        }
    }
    Ok(())
}

fn read(home: &Descriptor, name: &str) -> Result<Vec<u8>, ErrorCode> {
    let file = home.open_at(
        PathFlags::empty(),
        name,
        OpenFlags::empty(),
        DescriptorFlags::READ,
    )?;
    Ok(file.read(MOST, 0)?.0)
}
