//! Opening files for adapters: only what is a file or a folder.
//!
//! The agent writes into its home, which the adapter reads, so an adapter may be handed a named
//! pipe there. WASI's own `open-at` would wait for a writer, on a thread that nothing can end.
//!
//! Looking first and opening then would leave a moment in which the agent exchanges the file.
//! So the file is opened at once, but without waiting (`O_NONBLOCK`, which means nothing to
//! regular files), and what was opened is looked at: the handle can't be exchanged any more.

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use std::fs::File as StdFile;
use std::io;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::filesystem::{Descriptor, Dir, File, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, DescriptorType, ErrorCode, HostDescriptor, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{FsError, FsResult};
use wasmtime_wasi::{OpenMode, WasiView};

/// As wasmtime-wasi names it; components of other 0.2 versions are given the same.
const INTERFACE: &str = "wasi:filesystem/types@0.2.12";
const METHOD: &str = "[method]descriptor.open-at";

/// How often an open is repeated that a rename somewhere on the machine disturbed.
const ATTEMPTS: usize = 16;

/// What `open-at` is called with.
type Arguments = (
    Resource<Descriptor>,
    PathFlags,
    String,
    OpenFlags,
    DescriptorFlags,
);

/// Replaces WASI's own `open-at`, which must have been linked before. What is neither a file
/// nor a folder is `unsupported`.
///
/// # Errors
///
/// If the linker does not take it.
pub fn link<T: WasiView + Send + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    linker.instance(INTERFACE)?.func_wrap_async(
        METHOD,
        |mut store: StoreContextMut<'_, T>, arguments: Arguments| {
            Box::new(async move {
                let answer = match open_at(store.data_mut(), arguments).await {
                    Ok(opened) => Ok(opened),
                    Err(error) => Err(error.downcast()?),
                };
                Ok((answer,))
            })
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

async fn open_at<T: WasiView>(
    state: &mut T,
    arguments: Arguments,
) -> FsResult<Resource<Descriptor>> {
    let (folder, path_flags, path, open, flags) = arguments;
    let view = state.ctx();
    let Descriptor::Dir(dir) = view.table.get(&folder)? else {
        return Err(ErrorCode::NotDirectory.into());
    };
    let dir = dir.clone();
    let mode = mode(open, flags);
    check(&dir, mode, open, flags)?;
    let os_flags = os_flags(mode, open, path_flags);
    // On this thread: it does not wait, and a hand-over would cost more than the open.
    let opened = match open_beneath(&dir, &path, os_flags) {
        // Linux before 5.6, or a filter of system calls.
        Err(Errno::NOSYS | Errno::PERM) => {
            return look_then_open(state, (folder, path_flags, path, open, flags)).await;
        }
        opened => opened.map_err(code)?,
    };
    let kind = opened.metadata()?.file_type();
    let opened = if kind.is_dir() {
        Descriptor::Dir(Dir::new(opened, dir.perms, mode, true))
    } else if open.contains(OpenFlags::DIRECTORY) {
        return Err(ErrorCode::NotDirectory.into());
    } else if kind.is_file() {
        Descriptor::File(File::new(opened, dir.perms, mode, true))
    } else {
        return Err(ErrorCode::Unsupported.into());
    };
    Ok(state.ctx().table.push(opened)?)
}

/// As WASI: a file that is not written is readable, whatever was asked for.
fn mode(open: OpenFlags, flags: DescriptorFlags) -> OpenMode {
    let mut mode = OpenMode::empty();
    if flags.contains(DescriptorFlags::READ) || !flags.contains(DescriptorFlags::WRITE) {
        mode |= OpenMode::READ;
    }
    if flags.contains(DescriptorFlags::WRITE)
        || open.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE)
    {
        mode |= OpenMode::WRITE;
    }
    mode
}

fn check(dir: &Dir, mode: OpenMode, open: OpenFlags, flags: DescriptorFlags) -> FsResult<()> {
    let synchronous = DescriptorFlags::FILE_INTEGRITY_SYNC
        | DescriptorFlags::DATA_INTEGRITY_SYNC
        | DescriptorFlags::REQUESTED_WRITE_SYNC;
    let creating = OpenFlags::CREATE | OpenFlags::EXCLUSIVE | OpenFlags::TRUNCATE;
    if flags.intersects(synchronous) {
        return Err(ErrorCode::Unsupported.into());
    }
    if open.contains(OpenFlags::DIRECTORY) && open.intersects(creating) {
        return Err(ErrorCode::Invalid.into());
    }
    if mode.contains(OpenMode::WRITE) && dir.perms.write_not_permitted() {
        return Err(ErrorCode::NotPermitted.into());
    }
    Ok(())
}

fn os_flags(mode: OpenMode, open: OpenFlags, path: PathFlags) -> OFlags {
    let access = match (
        mode.contains(OpenMode::READ),
        mode.contains(OpenMode::WRITE),
    ) {
        (_, false) => OFlags::RDONLY,
        (false, true) => OFlags::WRONLY,
        (true, true) => OFlags::RDWR,
    };
    let mut flags = access | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    if open.contains(OpenFlags::CREATE) {
        flags |= OFlags::CREATE;
        if open.contains(OpenFlags::EXCLUSIVE) {
            flags |= OFlags::EXCL;
        }
    }
    if open.contains(OpenFlags::TRUNCATE) {
        flags |= OFlags::TRUNC;
    }
    if !path.contains(PathFlags::SYMLINK_FOLLOW) {
        flags |= OFlags::NOFOLLOW;
    }
    flags
}

/// Opens a path that can't lead out of the folder.
fn open_beneath(dir: &Dir, path: &str, flags: OFlags) -> Result<StdFile, Errno> {
    let permissions = if flags.contains(OFlags::CREATE) {
        Mode::from_raw_mode(0o666)
    } else {
        Mode::empty()
    };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 1..ATTEMPTS {
        match openat2(&*dir.dir, path, flags, permissions, resolve) {
            Err(Errno::AGAIN) => {}
            opened => return opened.map(StdFile::from),
        }
    }
    openat2(&*dir.dir, path, flags, permissions, resolve).map(StdFile::from)
}

fn code(errno: Errno) -> ErrorCode {
    match errno {
        // It leads out of the folder.
        Errno::XDEV => ErrorCode::NotPermitted,
        // A socket, or a named pipe that nobody reads.
        Errno::NXIO => ErrorCode::Unsupported,
        other => ErrorCode::from(io::Error::from(other)),
    }
}

/// Where the system can't open beneath a folder, WASI's own way does it step by step. There
/// the agent has a moment to exchange the file.
async fn look_then_open<T: WasiView>(
    state: &mut T,
    (folder, path_flags, path, open, flags): Arguments,
) -> FsResult<Resource<Descriptor>> {
    let mut view = state.filesystem();
    let again = Resource::new_borrow(folder.rep());
    match HostDescriptor::stat_at(&mut view, again, path_flags, path.clone()).await {
        Ok(found) => match found.type_ {
            DescriptorType::RegularFile
            | DescriptorType::Directory
            | DescriptorType::SymbolicLink => {}
            _ => return Err(ErrorCode::Unsupported.into()),
        },
        Err(error) => match error.downcast().map_err(FsError::trap)? {
            ErrorCode::NoEntry => {}
            other => return Err(other.into()),
        },
    }
    HostDescriptor::open_at(&mut view, folder, path_flags, path, open, flags).await
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use rustix::fs::{CWD, mkfifoat};
    use std::fs;
    use std::os::unix::net::UnixListener;
    use std::time::{Duration, Instant};
    use tempfile::TempDir;
    use wasmtime_wasi::{FsPerms, ResourceTable, WasiCtx, WasiCtxBuilder, WasiCtxView};

    struct State {
        wasi: WasiCtx,
        table: ResourceTable,
    }

    impl WasiView for State {
        fn ctx(&mut self) -> WasiCtxView<'_> {
            WasiCtxView {
                ctx: &mut self.wasi,
                table: &mut self.table,
            }
        }
    }

    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "text").unwrap();
        fs::create_dir(path("folder")).unwrap();
        mkfifoat(CWD, path("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        drop(UnixListener::bind(path("socket")).unwrap());
        for (target, name) in [("pipe", "to-pipe"), ("file", "to-file"), ("/etc", "out")] {
            std::os::unix::fs::symlink(target, path(name)).unwrap();
        }
        folder
    }

    /// What opening gives, as text; and it gives it at once.
    fn opening(path: &str, open: OpenFlags, flags: DescriptorFlags, perms: FsPerms) -> String {
        let folder = folder();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let opened = runtime.block_on(async {
            let mut ways = Vec::new();
            for way in [0, 1] {
                let mut state = State {
                    wasi: WasiCtxBuilder::new().build(),
                    table: ResourceTable::new(),
                };
                let dir = StdFile::open(folder.path()).unwrap();
                let mode = OpenMode::READ | OpenMode::WRITE;
                let dir = Descriptor::Dir(Dir::new(dir, perms, mode, false));
                let dir = state.table.push(dir).unwrap();
                let follow = PathFlags::SYMLINK_FOLLOW;
                let arguments = (dir, follow, path.to_owned(), open, flags);
                let opening = async {
                    match way {
                        0 => open_at(&mut state, arguments).await,
                        _ => look_then_open(&mut state, arguments).await,
                    }
                };
                let opened = tokio::time::timeout(Duration::from_secs(20), opening).await;
                ways.push(match opened.expect("it does not wait") {
                    Ok(opened) => match state.table.get(&opened).unwrap() {
                        Descriptor::Dir(_) => "a folder".to_owned(),
                        Descriptor::File(_) => "a file".to_owned(),
                    },
                    Err(error) => error.downcast().unwrap().name().to_owned(),
                });
                let _ = fs::remove_file(folder.path().join("new"));
            }
            ways
        });
        // No thread is left waiting in a system call.
        let stopping = Instant::now();
        runtime.shutdown_timeout(Duration::from_secs(20));
        assert!(stopping.elapsed() < Duration::from_secs(10), "{path}");
        assert_eq!(opened[0], opened[1], "{path}: both ways agree");
        opened[0].clone()
    }

    #[test]
    fn only_files_and_folders_are_opened_and_nothing_waits() {
        let (read, write) = (DescriptorFlags::READ, DescriptorFlags::WRITE);
        let plain = OpenFlags::empty();
        let all = FsPerms::ReadWrite;
        for (path, flags, expected) in [
            ("file", read, "a file"),
            ("file", read | write, "a file"),
            ("to-file", read, "a file"),
            ("folder", read, "a folder"),
            ("folder/../file", read, "a file"),
            ("pipe", read, "unsupported"),
            ("pipe", write, "unsupported"),
            ("pipe", read | write, "unsupported"),
            ("to-pipe", read, "unsupported"),
            ("socket", read, "unsupported"),
            ("none", read, "no-entry"),
            ("out", read, "not-permitted"),
            ("..", read, "not-permitted"),
            ("/etc/passwd", read, "not-permitted"),
        ] {
            assert_eq!(
                opening(path, plain, flags, all),
                expected,
                "{path} {flags:?}"
            );
        }
    }

    #[test]
    fn flags_mean_what_they_mean_to_wasi() {
        let (read, write) = (DescriptorFlags::READ, DescriptorFlags::WRITE);
        let (create, new) = (OpenFlags::CREATE, OpenFlags::CREATE | OpenFlags::EXCLUSIVE);
        let (truncate, directory) = (OpenFlags::TRUNCATE, OpenFlags::DIRECTORY);
        let (all, only_read) = (FsPerms::ReadWrite, FsPerms::ReadOnly);
        for (path, open, flags, perms, expected) in [
            ("new", create, write, all, "a file"),
            ("new", new, write, all, "a file"),
            ("file", new, write, all, "exist"),
            ("file", truncate, write, all, "a file"),
            ("pipe", create | truncate, write, all, "unsupported"),
            ("file", directory, read, all, "not-directory"),
            ("folder", directory, read, all, "a folder"),
            ("folder", directory | create, read, all, "invalid"),
            ("new", create, write, only_read, "not-permitted"),
            ("file", truncate, read, only_read, "not-permitted"),
            ("file", OpenFlags::empty(), read, only_read, "a file"),
        ] {
            let found = opening(path, open, flags, perms);
            assert_eq!(found, expected, "{path} {open:?} {flags:?}");
        }
    }
}
