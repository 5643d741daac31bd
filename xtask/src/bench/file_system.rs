//! The file system that measured runs are kept in: creating a file costs ten times as much in
//! one as in another.

use std::fs;
use std::path::Path;

/// Which it is, as `ext4 with a journal`; `None` if the system does not say.
pub fn of(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let (kind, source) = mount(&mounts, &folder)?;
    Some(match kind.as_str() {
        // Without one, ext4 uses no inode again that was freed within the last minutes.
        "ext4" if is_journaled(&source) => "ext4 with a journal".to_owned(),
        "ext4" => "ext4 without a journal".to_owned(),
        _ => kind,
    })
}

/// Kind and source of what is mounted where `folder` lies, the last of equals.
fn mount(mounts: &str, folder: &Path) -> Option<(String, String)> {
    let mounts = mounts.lines().filter_map(|line| {
        // `36 35 98:0 /root /mount/point options - kind source …`
        let (place, what) = line.split_once(" - ")?;
        let point = place.split(' ').nth(4)?;
        let mut what = what.split(' ');
        folder.starts_with(point).then_some(())?;
        Some((
            point.len(),
            what.next()?.to_owned(),
            what.next()?.to_owned(),
        ))
    });
    let (_, kind, source) = mounts.max_by_key(|(length, ..)| *length)?;
    Some((kind, source))
}

/// Every journal has a folder named after its device.
fn is_journaled(source: &str) -> bool {
    let Some(device) = source.strip_prefix("/dev/") else {
        return false;
    };
    let journals = fs::read_dir("/proc/fs/jbd2")
        .into_iter()
        .flatten()
        .flatten();
    journals
        .filter_map(|journal| journal.file_name().into_string().ok())
        .any(|name| {
            name.strip_prefix(device)
                .is_some_and(|rest| rest.starts_with('-'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_that_a_folder_lies_in_is_the_longest_and_of_equals_the_last() {
        let mounts = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
                      30 22 0:26 / /mnt rw - tmpfs none rw\n\
                      31 22 7:0 / /mnt/a rw - ext4 /dev/loop0 rw\n\
                      32 31 0:27 / /mnt/a rw - xfs /dev/loop1 rw\n";
        for (folder, kind, source) in [
            ("/home/x", "ext4", "/dev/vda"),
            ("/mnt/ab", "tmpfs", "none"),
            ("/mnt/a/b", "xfs", "/dev/loop1"),
        ] {
            let found = mount(mounts, Path::new(folder));
            assert_eq!(found, Some((kind.to_owned(), source.to_owned())));
        }
        assert_eq!(mount("", Path::new("/")), None);
    }
}
