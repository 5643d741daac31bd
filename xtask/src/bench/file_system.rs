//! The file system that measured runs are kept in: creating a file costs ten times as much in
//! one as in another.

use std::fs;
use std::io;
use std::path::Path;

/// Which it is, as `ext4 with a journal`; `None` if the system does not say.
pub fn of(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let (kind, device) = mount(&mounts, &folder)?;
    if kind != "ext4" {
        return Some(kind);
    }
    // Without one, ext4 uses no inode again that was freed within the last minutes.
    Some(match is_journaled(&device) {
        Some(true) => "ext4 with a journal".to_owned(),
        Some(false) => "ext4 without a journal".to_owned(),
        None => kind,
    })
}

/// Kind and device number of what is mounted where `folder` lies, the last of equals.
fn mount(mounts: &str, folder: &Path) -> Option<(String, String)> {
    let mounts = mounts.lines().filter_map(|line| {
        // `36 35 98:0 /root /mount/point options - kind source …`
        let (place, what) = line.split_once(" - ")?;
        let mut place = place.split(' ');
        let (device, point) = (place.nth(2)?, place.nth(1)?);
        folder.starts_with(point).then_some(())?;
        let kind = what.split(' ').next()?;
        Some((point.len(), kind.to_owned(), device.to_owned()))
    });
    let (_, kind, device) = mounts.max_by_key(|(length, ..)| *length)?;
    Some((kind, device))
}

/// Every journal that is in use has a folder named after its device; `None` if the system does
/// not show them.
fn is_journaled(device: &str) -> Option<bool> {
    let kernel_name = fs::read_link(Path::new("/sys/dev/block").join(device)).ok()?;
    let kernel_name = format!("{}-", kernel_name.file_name()?.to_str()?);
    let journals = match fs::read_dir("/proc/fs/jbd2") {
        // As long as nothing that is mounted has one.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(false),
        journals => journals.ok()?,
    };
    let mut names = journals.flatten().map(|journal| journal.file_name());
    Some(names.any(|name| name.to_string_lossy().starts_with(&kernel_name)))
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
        for (folder, kind, device) in [
            ("/home/x", "ext4", "254:0"),
            ("/mnt/ab", "tmpfs", "0:26"),
            ("/mnt/a/b", "xfs", "0:27"),
        ] {
            let found = mount(mounts, Path::new(folder));
            assert_eq!(found, Some((kind.to_owned(), device.to_owned())));
        }
        assert_eq!(mount("", Path::new("/")), None);
    }
}
