//! Finding the control groups that this process may make groups in.
//!
//! Version 1 has a hierarchy for each controller, version 2 one for all; a system may have
//! both. In version 1 a group is made below the own one. In version 2 a group that holds
//! processes can't hand controllers on, so the nearest one above is taken that does, as
//! systemd and containers delegate them.

use super::limit::Enforcer;
use std::fs;
use std::path::{Path, PathBuf};

/// What a control group can limit or measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Controller {
    /// Counts computing time.
    Cpu,
    /// Limits memory.
    Memory,
    /// Limits processes and threads.
    Pids,
}

impl Controller {
    fn v1_name(self) -> &'static str {
        match self {
            Self::Cpu => "cpuacct",
            Self::Memory => "memory",
            Self::Pids => "pids",
        }
    }

    /// `None`: every group has it, without being handed it.
    fn v2_name(self) -> Option<&'static str> {
        match self {
            Self::Cpu => None,
            Self::Memory => Some("memory"),
            Self::Pids => Some("pids"),
        }
    }
}

/// Which interface a hierarchy has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// One hierarchy for each controller.
    V1,
    /// One hierarchy for all.
    V2,
}

impl Version {
    /// As it stands in the result.
    pub fn enforcer(self) -> Enforcer {
        match self {
            Self::V1 => Enforcer::CgroupV1,
            Self::V2 => Enforcer::CgroupV2,
        }
    }
}

/// A group below which one can be made, and what the new one can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The group above.
    pub parent: PathBuf,
    /// Its interface.
    pub version: Version,
    /// The controllers that a new group has.
    pub controllers: Vec<Controller>,
}

/// The sites for these controllers, and a reason for each that has none.
pub fn sites(wanted: &[Controller]) -> (Vec<Site>, Vec<(Controller, String)>) {
    let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("`{path}`: {error}"));
    match (read("/proc/self/cgroup"), read("/proc/self/mountinfo")) {
        (Ok(own), Ok(mounts)) => find(wanted, &own, &mounts),
        (Err(reason), _) | (_, Err(reason)) => (
            Vec::new(),
            wanted.iter().map(|one| (*one, reason.clone())).collect(),
        ),
    }
}

/// As [`sites`], from the text of `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn find(wanted: &[Controller], own: &str, mounts: &str) -> (Vec<Site>, Vec<(Controller, String)>) {
    let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::parse).collect();
    let (mut sites, mut missing, mut unified) = (Vec::new(), Vec::new(), Vec::new());
    for &controller in wanted {
        match v1_group(controller, own, &mounts) {
            Some(Ok(parent)) => sites.push(Site {
                parent,
                version: Version::V1,
                controllers: vec![controller],
            }),
            Some(Err(reason)) => missing.push((controller, reason)),
            None => unified.push(controller),
        }
    }
    if unified.is_empty() {
        return (sites, missing);
    }
    match v2_group(&unified, own, &mounts) {
        Ok(site) => {
            for controller in unified {
                if !site.controllers.contains(&controller) {
                    let reason = "no control group above hands this controller on".to_owned();
                    missing.push((controller, reason));
                }
            }
            sites.push(site);
        }
        Err(reason) => missing.extend(unified.into_iter().map(|one| (one, reason.clone()))),
    }
    (sites, missing)
}

struct Mount<'a> {
    /// The group that is mounted.
    root: &'a str,
    point: PathBuf,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    /// `36 35 98:0 /root /point rw,noatime - cgroup cgroup rw,memory`, with optional fields
    /// before the dash.
    fn parse(line: &'a str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (root, point) = (before.next()?, before.next()?);
        let mut after = after.split(' ');
        let (kind, _source, options) = (after.next()?, after.next()?, after.next()?);
        let point = PathBuf::from(point);
        matches!(kind, "cgroup" | "cgroup2").then_some(Self {
            root,
            point,
            kind,
            options,
        })
    }

    /// Where a group of this hierarchy is; an error if it is not below what is mounted.
    fn locate(&self, group: &str) -> Result<PathBuf, String> {
        let below = Path::new(group).strip_prefix(self.root);
        let seen = below.ok().filter(|below| !below.starts_with(".."));
        match seen {
            Some(below) => Ok(self.point.join(below)),
            None => Err(format!(
                "the own control group `{group}` is not below `{}`",
                self.point.display()
            )),
        }
    }
}

/// `None` if no hierarchy of version 1 has the controller.
fn v1_group(
    controller: Controller,
    own: &str,
    mounts: &[Mount<'_>],
) -> Option<Result<PathBuf, String>> {
    let name = controller.v1_name();
    let group = own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        controllers
            .split(',')
            .any(|one| one == name)
            .then_some(group)
    })?;
    let mut mounts = mounts.iter().filter(|mount| mount.kind == "cgroup");
    let mount = mounts.find(|mount| mount.options.split(',').any(|one| one == name));
    Some(match mount {
        Some(mount) => mount.locate(group),
        None => Err(format!("the control groups of `{name}` are not mounted")),
    })
}

fn v2_group(wanted: &[Controller], own: &str, mounts: &[Mount<'_>]) -> Result<Site, String> {
    let group = own.lines().find_map(|line| line.strip_prefix("0::"));
    let mount = mounts.iter().find(|mount| mount.kind == "cgroup2");
    let (Some(group), Some(mount)) = (group, mount) else {
        return Err("no control groups are mounted".to_owned());
    };
    let own = mount.locate(group)?;
    let mut best: Option<Site> = None;
    for parent in own
        .ancestors()
        .take_while(|path| path.starts_with(&mount.point))
    {
        let path = parent.join("cgroup.subtree_control");
        let handed_on = fs::read_to_string(&path).unwrap_or_default();
        let has = |one: &&Controller| {
            one.v2_name()
                .is_none_or(|name| handed_on.split_whitespace().any(|handed| handed == name))
        };
        let controllers: Vec<_> = wanted.iter().filter(has).copied().collect();
        let most = best.as_ref().map_or(0, |site| site.controllers.len());
        if controllers.len() > most {
            best = Some(Site {
                parent: parent.to_owned(),
                version: Version::V2,
                controllers,
            });
        }
    }
    best.ok_or_else(|| "no control group above hands its controllers on".to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use Controller::{Cpu, Memory, Pids};

    #[test]
    fn each_controller_of_version_1_has_a_hierarchy_of_its_own() {
        let own = "5:cpu,cpuacct:/\n4:memory:/docker/7\n3:pids:/outside\n0::/\n";
        let mounts = "\
            30 25 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
            31 25 0:27 /docker/7 /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n\
            32 25 0:28 /elsewhere /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
            33 25 0:29 / / rw - ext4 /dev/vda rw\n";
        let (sites, missing) = find(&[Cpu, Memory, Pids], own, mounts);
        let places: Vec<_> = sites.iter().map(|site| site.parent.as_path()).collect();
        assert_eq!(
            places,
            [
                Path::new("/sys/fs/cgroup/cpu"),
                Path::new("/sys/fs/cgroup/memory")
            ]
        );
        assert!(sites.iter().all(|site| site.version == Version::V1));
        assert_eq!(missing.len(), 1);
        assert!(missing[0].1.contains("not below"), "{missing:?}");
    }

    #[test]
    fn the_nearest_group_that_hands_everything_on_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("user/app/shell.scope");
        fs::create_dir_all(&own).unwrap();
        let hand_on = |path: &Path, controllers: &str| {
            fs::write(path.join("cgroup.subtree_control"), controllers).unwrap();
        };
        hand_on(&own, "");
        hand_on(&folder.path().join("user/app"), "memory pids\n");
        hand_on(&folder.path().join("user"), "cpu memory pids\n");
        let mounts = format!(
            "33 25 0:29 / {} rw - cgroup2 cgroup2 rw\n",
            folder.path().display()
        );
        let (sites, missing) = find(&[Cpu, Memory, Pids], "0::/user/app/shell.scope\n", &mounts);
        assert_eq!(missing, []);
        assert_eq!(
            sites,
            [Site {
                parent: folder.path().join("user/app"),
                version: Version::V2,
                controllers: vec![Cpu, Memory, Pids],
            }]
        );

        hand_on(&folder.path().join("user/app"), "pids");
        hand_on(&folder.path().join("user"), "pids");
        let (sites, missing) = find(&[Memory, Pids], "0::/user/app/shell.scope\n", &mounts);
        assert_eq!(sites[0].controllers, [Pids]);
        assert_eq!(missing[0].0, Memory);
    }

    #[test]
    fn a_system_without_control_groups_has_no_site() {
        let (sites, missing) = find(&[Pids], "", "");
        assert_eq!(sites, []);
        assert_eq!(missing[0].1, "no control groups are mounted");
    }
}
