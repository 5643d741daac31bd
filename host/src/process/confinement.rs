//! What of the machine the agent's process tree can see: a mount namespace made by
//! bubblewrap.
//!
//! The system is there, read-only; so are the programs that were granted. The workspace, the
//! agent's home and a private temporary folder can be written. Nothing else exists: no home
//! of a user, no other run, no evidence. (Landlock would be simpler and is wrong here: inside
//! a Landlock domain nothing can be mounted, so an agent's own sandbox fails in silence.)

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the system, shown read-only where they exist.
const SYSTEM: &[&str] = &[
    "/bin", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/sbin", "/sys", "/usr",
    "/var/lib",
];

/// Files of the system that hold secrets which root could read.
const SECRET_FILES: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
];

/// Parts of /proc through which root reaches the whole machine, even without a capability:
/// a new `core_pattern` is a program that the kernel starts outside of every namespace.
const KERNEL_SETTINGS: &[&str] = &["/proc/sys", "/proc/sysrq-trigger"];

/// What a confined tree can see beside the system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileView {
    /// Folders that can be read and written, at their own place.
    pub writable: Vec<PathBuf>,
    /// Files and folders that can be read, at their own place.
    pub readable: Vec<PathBuf>,
    /// Folders that must not be seen even where something around them is shown.
    pub hidden: Vec<PathBuf>,
    /// The folder that appears as `/tmp`.
    pub temporary: PathBuf,
}

impl FileView {
    /// The arguments of bubblewrap that make this view.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        let mut add = |option: &str, paths: &[&Path]| {
            arguments.push(OsString::from(option));
            arguments.extend(paths.iter().map(|path| path.as_os_str().to_owned()));
        };
        for system in SYSTEM.iter().map(Path::new) {
            match fs::read_link(system) {
                Ok(target) => add("--symlink", &[&target, system]),
                Err(_) if system.is_dir() => add("--ro-bind", &[system, system]),
                Err(_) => {}
            }
        }
        if let Some(resolver) = outside_resolver() {
            add("--ro-bind", &[&resolver, &resolver]);
        }
        add("--dev", &[Path::new("/dev")]);
        add("--proc", &[Path::new("/proc")]);
        for path in KERNEL_SETTINGS
            .iter()
            .map(Path::new)
            .filter(|path| path.exists())
        {
            if rustix::process::geteuid().is_root() {
                add("--ro-bind", &[path, path]);
            }
        }
        for path in SECRET_FILES
            .iter()
            .map(Path::new)
            .filter(|path| path.is_file())
        {
            add("--ro-bind", &[Path::new("/dev/null"), path]);
        }
        // Mount points below /tmp would be made in the private folder, where the agent would
        // find them.
        let below_tmp = |path: &PathBuf| path.starts_with("/tmp");
        if self.writable.iter().chain(&self.readable).any(below_tmp) {
            add("--tmpfs", &[Path::new("/tmp")]);
        } else {
            add("--bind", &[&self.temporary, Path::new("/tmp")]);
        }
        add("--tmpfs", &[Path::new("/var/tmp")]);
        // Readable first: a workspace inside a readable folder stays writable.
        for path in outermost_first(&self.readable) {
            if !is_system(path) {
                add("--ro-bind", &[path, path]);
            }
        }
        for path in &self.hidden {
            let shown = self.readable.iter().any(|root| path.starts_with(root));
            if shown || is_system(path) {
                add("--tmpfs", &[path]);
            }
        }
        for path in outermost_first(&self.writable) {
            add("--bind", &[path, path]);
        }
        arguments
    }
}

/// The arguments that take root's powers away. An ordinary user has none to lose.
///
/// With its capabilities, root could simply make the system writable again. One stays: an
/// agent's own sandbox needs it to map root into a user namespace of its own. It gives no
/// power here, because files of a program can't raise privileges in the tree.
pub fn privilege_arguments() -> &'static [&'static str] {
    if rustix::process::geteuid().is_root() {
        &["--cap-drop", "ALL", "--cap-add", "CAP_SETFCAP"]
    } else {
        &[]
    }
}

/// `/etc/resolv.conf` is often a link out of `/etc`.
fn outside_resolver() -> Option<PathBuf> {
    let real = fs::canonicalize("/etc/resolv.conf").ok()?;
    (!is_system(&real)).then_some(real)
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

fn outermost_first(paths: &[PathBuf]) -> Vec<&Path> {
    let mut sorted: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    sorted.sort_by_key(|path| path.components().count());
    sorted.dedup();
    sorted
}

/// What has to be visible for a program to run: the folder of its package. Programs look for
/// what belongs to them beside themselves, or beside the `bin` that they lie in.
pub fn package_root(program: &Path, home: Option<&Path>) -> PathBuf {
    let Some(folder) = program.parent() else {
        return program.to_owned();
    };
    let name = folder.file_name();
    let in_bin =
        name.is_some_and(|name| name == "bin" || name == "sbin") || name == program.file_name();
    let Some(package) = folder.parent().filter(|_| in_bin) else {
        return narrow(folder, program, home);
    };
    // `~/bin/agent` must not show the whole home.
    if is_too_wide(package, home) {
        return narrow(folder, program, home);
    }
    package.to_owned()
}

fn narrow(folder: &Path, program: &Path, home: Option<&Path>) -> PathBuf {
    if is_too_wide(folder, home) {
        program.to_owned()
    } else {
        folder.to_owned()
    }
}

fn is_too_wide(folder: &Path, home: Option<&Path>) -> bool {
    folder.parent().is_none()
        || folder == Path::new("/tmp")
        || folder == Path::new("/home")
        || home.is_some_and(|home| home.starts_with(folder))
}

/// The folders of a PATH that a confined tree does not see.
pub fn hidden_path_folders(path: &std::ffi::OsStr, view: &FileView) -> BTreeSet<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_dir() && !is_system(folder))
        .filter(|folder| {
            let shown = view.readable.iter().chain(&view.writable);
            !shown.into_iter().any(|root| folder.starts_with(root))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_shown_and_never_a_home() {
        let home = Some(Path::new("/home/eve"));
        let root = |program: &str| package_root(Path::new(program), home);
        assert_eq!(
            root("/srv/pkg/vendor/x/bin/agent"),
            Path::new("/srv/pkg/vendor/x")
        );
        assert_eq!(
            root("/srv/pkg/vendor/x/agent/agent"),
            Path::new("/srv/pkg/vendor/x")
        );
        assert_eq!(root("/srv/tools/agent"), Path::new("/srv/tools"));
        assert_eq!(root("/home/eve/bin/agent"), Path::new("/home/eve/bin"));
        assert_eq!(root("/home/eve/agent"), Path::new("/home/eve/agent"));
        assert_eq!(root("/agent"), Path::new("/agent"));
        assert_eq!(root("/tmp/agent"), Path::new("/tmp/agent"));
    }

    #[test]
    fn what_is_inside_is_mounted_after_what_is_around_it() {
        let view = FileView {
            writable: vec!["/srv/a/b".into(), "/srv/a".into()],
            readable: vec!["/srv".into(), "/usr/share".into()],
            hidden: vec!["/srv/runs".into(), "/elsewhere".into()],
            temporary: "/srv/tmp".into(),
        };
        let arguments = view.arguments();
        let at = |path: &str| arguments.iter().rposition(|argument| argument == path);
        assert!(at("/srv") < at("/srv/a") && at("/srv/a") < at("/srv/a/b"));
        assert_eq!(at("/usr/share"), None);
        assert!(at("/srv") < at("/srv/runs"));
        assert_eq!(at("/elsewhere"), None);
    }
}
