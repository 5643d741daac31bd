//! Choosing who enforces each limit of a tree.

use super::cgroup::{ControlGroup, Counts};
use super::hierarchy::{Controller, sites};
use super::limit::{Enforcer, Resource, ResourceLimits};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

/// How one limit is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct How {
    /// `None` if it is not.
    pub by: Option<Enforcer>,
    /// Why not, or why not in the strongest way.
    pub note: Option<String>,
}

/// The limits of a tree and how they are applied.
#[derive(Debug)]
pub struct Applied {
    limits: ResourceLimits,
    groups: Vec<ControlGroup>,
    how: BTreeMap<Resource, How>,
}

fn controller_of(resource: Resource) -> Option<Controller> {
    match resource {
        Resource::CpuTime => Some(Controller::Cpu),
        Resource::Memory => Some(Controller::Memory),
        Resource::Processes => Some(Controller::Pids),
        Resource::OpenFiles | Resource::Disk | Resource::Output => None,
    }
}

fn resource_of(controller: Controller) -> Resource {
    match controller {
        Controller::Cpu => Resource::CpuTime,
        Controller::Memory => Resource::Memory,
        Controller::Pids => Resource::Processes,
    }
}

impl Applied {
    /// No limits.
    pub fn nothing() -> Self {
        Self {
            limits: ResourceLimits::NONE,
            groups: Vec::new(),
            how: BTreeMap::new(),
        }
    }

    /// Makes control groups where the system allows it; the supervisor has to enter them.
    pub fn prepare(limits: ResourceLimits) -> Self {
        let limited = |resource: &Resource| limits.of(*resource).is_some();
        let wanted: Vec<Controller> = Resource::ALL
            .into_iter()
            .filter(limited)
            .filter_map(controller_of)
            .collect();
        let mut applied = Self {
            limits,
            ..Self::nothing()
        };
        let (sites, missing) = if wanted.is_empty() {
            (Vec::new(), Vec::new())
        } else {
            sites(&wanted)
        };
        for (controller, reason) in missing {
            applied.fall_back(controller, &reason);
        }
        for site in sites {
            match ControlGroup::create(&site, &limits) {
                Ok(group) => {
                    let by = group.version().enforcer();
                    for &controller in group.controllers() {
                        applied.set(resource_of(controller), Some(by), None);
                    }
                    applied.groups.push(group);
                }
                Err(error) => {
                    for controller in site.controllers {
                        applied.fall_back(controller, &error.to_string());
                    }
                }
            }
        }
        for (resource, by) in [
            (Resource::OpenFiles, Enforcer::Rlimit),
            (Resource::Disk, Enforcer::Walk),
            (Resource::Output, Enforcer::Recorder),
        ] {
            if limited(&resource) {
                applied.set(resource, Some(by), None);
            }
        }
        applied
    }

    fn set(&mut self, resource: Resource, by: Option<Enforcer>, note: Option<String>) {
        self.how.insert(resource, How { by, note });
    }

    fn fall_back(&mut self, controller: Controller, reason: &str) {
        let note = format!("no control group: {reason}");
        self.set(resource_of(controller), Some(Enforcer::Census), Some(note));
    }

    /// The files through which the supervisor enters the groups. A group that can't be entered
    /// is given up.
    pub fn entrances(&mut self) -> Vec<OwnedFd> {
        let mut open = Vec::new();
        for group in std::mem::take(&mut self.groups) {
            match group.entrance() {
                Ok(entrance) => {
                    open.push(entrance);
                    self.groups.push(group);
                }
                Err(error) => self.give_up(&group, &error.to_string()),
            }
        }
        open
    }

    /// Which of the groups limits processes, by its place among the entrances.
    pub fn counting_group(&self) -> Option<usize> {
        let counts = |group: &ControlGroup| group.controllers().contains(&Controller::Pids);
        self.groups.iter().position(counts)
    }

    /// What came of entering each group, in their order; `None` where all went well.
    pub fn entered(&mut self, problems: Vec<Option<String>>) {
        let mut problems = problems.into_iter();
        for group in std::mem::take(&mut self.groups) {
            match problems.next().flatten() {
                None => self.groups.push(group),
                Some(problem) => self.give_up(&group, &problem),
            }
        }
    }

    /// The system refused the limit of open files.
    pub fn open_files_refused(&mut self, reason: String) {
        self.set(Resource::OpenFiles, None, Some(reason));
    }

    fn give_up(&mut self, group: &ControlGroup, reason: &str) {
        for &controller in group.controllers() {
            self.fall_back(controller, reason);
        }
    }

    /// The limits.
    pub fn limits(&self) -> &ResourceLimits {
        &self.limits
    }

    /// How one is applied; `None` if there is no such limit.
    pub fn how(&self, resource: Resource) -> Option<&How> {
        self.how.get(&resource)
    }

    /// What a control group has counted of a resource; `None` if none counts it.
    pub fn counts(&self, resource: Resource) -> Option<Counts> {
        let controller = controller_of(resource)?;
        let mut groups = self.groups.iter();
        let group = groups.find(|group| group.controllers().contains(&controller))?;
        Some(group.counts(controller))
    }

    /// True if the supervisor has to look at the processes itself.
    pub fn needs_census(&self) -> bool {
        self.how
            .values()
            .any(|how| how.by == Some(Enforcer::Census))
    }
}

/// What the system said, as a note.
pub fn refused(reason: &str) -> String {
    format!("the system refused it: {reason}")
}
