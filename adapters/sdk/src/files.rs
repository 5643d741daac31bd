//! The adapter's own folders: `/agent-home` and `/artifacts`, through `wasi:filesystem`.

use std::io::{self, Read};
use wasip2::filesystem::preopens;
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

/// One of the folders that the adapter may write to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    /// The agent's private home.
    AgentHome,
    /// The adapter's own files, kept with the result.
    Artifacts,
}

impl Folder {
    fn path(self) -> &'static str {
        match self {
            Folder::AgentHome => "/agent-home",
            Folder::Artifacts => "/artifacts",
        }
    }
}

/// Writes a whole file, replacing what was there; missing folders are made.
///
/// # Errors
///
/// A sentence naming the file and the reason.
pub fn write(folder: Folder, path: &str, bytes: &[u8]) -> Result<(), String> {
    let failed = |code: ErrorCode| format!("{}/{path}: {}", folder.path(), code.name());
    let root = preopen(folder.path())?;
    for (at, _) in path.match_indices('/') {
        match root.create_directory_at(&path[..at]) {
            Ok(()) | Err(ErrorCode::Exist) => {}
            Err(code) => return Err(failed(code)),
        }
    }
    let file = root
        .open_at(
            PathFlags::empty(),
            path,
            OpenFlags::CREATE | OpenFlags::TRUNCATE,
            DescriptorFlags::WRITE,
        )
        .map_err(failed)?;
    let mut at = 0;
    while at < bytes.len() {
        // A write may be short.
        let written = file.write(&bytes[at..], at as u64).map_err(failed)?;
        at += written as usize;
    }
    Ok(())
}

/// The descriptor of a folder that the engine granted.
pub(crate) fn preopen(name: &str) -> Result<Descriptor, String> {
    preopens::get_directories()
        .into_iter()
        .find(|(_, path)| path == name)
        .map(|(descriptor, _)| descriptor)
        .ok_or_else(|| format!("the engine granted no folder {name}"))
}

/// Reads a file from its start.
pub(crate) struct FileReader {
    file: Descriptor,
    offset: u64,
    /// The last read said that nothing follows: asking again would be a call for nothing.
    ended: bool,
}

impl FileReader {
    pub(crate) fn new(file: Descriptor) -> Self {
        Self {
            file,
            offset: 0,
            ended: false,
        }
    }
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended {
            return Ok(0);
        }
        let (bytes, ended) = self
            .file
            .read(buffer.len() as u64, self.offset)
            .map_err(|code| io::Error::other(code.name()))?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        self.offset += bytes.len() as u64;
        self.ended = ended;
        Ok(bytes.len())
    }
}
