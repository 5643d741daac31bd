//! Watching what a tree uses, at a low rate, until it runs into a limit.

use super::disk;
use super::limit::{Enforcer, Hit, LimitRecord, Resource};
use crate::process::recorder::Activity;
use crate::process::tree::ProcessTree;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How often processes and control groups are looked at.
pub const TICK: Duration = Duration::from_millis(500);

/// A tree being watched.
pub struct Watch {
    shared: Arc<Watched>,
    hit: watch::Receiver<Option<Hit>>,
    task: JoinHandle<()>,
}

/// What was found in the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Findings {
    /// For the result.
    pub records: BTreeMap<Resource, LimitRecord>,
    /// The first limit that the tree ran into.
    pub hit: Option<Hit>,
}

struct Watched {
    tree: Arc<ProcessTree>,
    activity: Activity,
    disk: Option<Disk>,
    /// The most that was seen of what no control group counts.
    most: Mutex<BTreeMap<Resource, u64>>,
}

#[derive(Clone)]
struct Disk {
    usage: disk::Usage,
    before: u64,
    limit: u64,
}

impl Watch {
    /// Begins to watch. `written` are the folders that the tree can write to: what is in them
    /// now does not count.
    pub async fn start(tree: Arc<ProcessTree>, written: Vec<PathBuf>, activity: Activity) -> Self {
        let limits = *tree.applied().limits();
        activity.limit_output(limits.of(Resource::Output));
        let disk = match limits.of(Resource::Disk) {
            Some(limit) => {
                let usage = disk::Usage::of(written);
                let before = walk(&usage, u64::MAX)
                    .await
                    .map_or(0, |walked| walked.bytes);
                Some(Disk {
                    usage,
                    before,
                    limit,
                })
            }
            None => None,
        };
        let shared = Arc::new(Watched {
            tree,
            activity,
            disk,
            most: Mutex::default(),
        });
        let (sender, hit) = watch::channel(None);
        let task = tokio::spawn(Arc::clone(&shared).look_on(sender));
        Self { shared, hit, task }
    }

    /// Waits until the tree runs into a limit; for ever if it never does.
    pub async fn hit(&self) -> Hit {
        let mut hit = self.hit.clone();
        if let Ok(found) = hit.wait_for(Option::is_some).await
            && let Some(found) = found.clone()
        {
            return found;
        }
        std::future::pending().await
    }

    /// Looks a last time, once the tree has ended.
    pub async fn finish(&self) -> Findings {
        self.task.abort();
        let seen = self.hit.borrow().clone();
        let last = self.shared.look(true).await.into_iter().next();
        let growth = self.shared.growth().await;
        let full = growth.and_then(|(bytes, _)| self.shared.disk_hit(bytes));
        let hit = seen.or(last).or(full);
        Findings {
            records: self.shared.records(hit.as_ref()),
            hit,
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Watched {
    async fn look_on(self: Arc<Self>, sender: watch::Sender<Option<Hit>>) {
        let output = async {
            self.activity.output_exceeded().await;
            self.output_hit()
        };
        let hit = tokio::select! {
            hit = output => hit,
            processes = self.tree.too_many_processes() => {
                self.note(Resource::Processes, processes);
                self.process_hit(processes)
            }
            hit = self.look_at_processes() => Some(hit),
            hit = self.look_at_files() => Some(hit),
        };
        sender.send_replace(hit);
        // Whoever waits for the next value must not take the end of this task for one.
        std::future::pending::<()>().await;
    }

    async fn look_at_processes(&self) -> Hit {
        let polled = [Resource::CpuTime, Resource::Memory, Resource::Processes];
        let applied = self.tree.applied();
        if !polled.iter().any(|one| applied.how(*one).is_some()) {
            return std::future::pending().await;
        }
        loop {
            tokio::time::sleep(TICK).await;
            if let Some(hit) = self.look(false).await.into_iter().next() {
                return hit;
            }
        }
    }

    async fn look_at_files(&self) -> Hit {
        let mut pause = disk::INTERVAL;
        loop {
            if self.disk.is_none() {
                return std::future::pending().await;
            }
            tokio::time::sleep(pause).await;
            if let Some((bytes, next)) = self.growth().await {
                pause = next;
                if let Some(hit) = self.disk_hit(bytes) {
                    return hit;
                }
            }
        }
    }

    /// Looks at control groups and, where they don't do, at the processes. Returns the limits
    /// that were hit. `last`: the tree is gone, only what adds up counts.
    async fn look(&self, last: bool) -> Vec<Hit> {
        let applied = self.tree.applied();
        if applied.needs_census()
            && let Some(census) = self.tree.measure().await
        {
            self.note(Resource::CpuTime, census.cpu_ms);
            if !last {
                self.note(Resource::Processes, census.processes);
                self.note(Resource::Memory, census.memory_bytes);
            }
        }
        let mut hits = Vec::new();
        for resource in [Resource::Memory, Resource::Processes, Resource::CpuTime] {
            let (Some(limit), Some(how)) = (applied.limits().of(resource), applied.how(resource))
            else {
                continue;
            };
            let Some(enforced_by) = how.by else { continue };
            let counts = applied.counts(resource);
            let measured = self.measured(resource);
            let refused = counts.is_some_and(|counts| counts.refused);
            let exceeded = match (resource, &counts) {
                // The group refuses more, so being at the limit is no hit yet.
                (Resource::Memory | Resource::Processes, Some(_)) => false,
                _ => measured.is_some_and(|measured| measured > limit),
            };
            if refused || exceeded {
                hits.push(Hit {
                    resource,
                    limit,
                    measured,
                    enforced_by,
                });
            }
        }
        hits
    }

    fn note(&self, resource: Resource, seen: u64) {
        let mut most = self.most.lock().unwrap_or_else(PoisonError::into_inner);
        let known = most.entry(resource).or_default();
        *known = (*known).max(seen);
    }

    fn measured(&self, resource: Resource) -> Option<u64> {
        if let Some(counts) = self.tree.applied().counts(resource) {
            return counts.measured;
        }
        let most = self.most.lock().unwrap_or_else(PoisonError::into_inner);
        most.get(&resource).copied()
    }

    /// By how much the files have grown, and when to look again.
    async fn growth(&self) -> Option<(u64, Duration)> {
        let disk = self.disk.as_ref()?;
        let enough = disk.before.saturating_add(disk.limit);
        let started = Instant::now();
        let walked = walk(&disk.usage, enough).await;
        let Some(walked) = walked else {
            tracing::warn!(elapsed = ?started.elapsed(), "the walk over the agent's files broke off");
            return None;
        };
        let growth = walked.bytes.saturating_sub(disk.before);
        self.note(Resource::Disk, growth);
        Some((growth, walked.pause))
    }

    fn disk_hit(&self, growth: u64) -> Option<Hit> {
        let limit = self.disk.as_ref()?.limit;
        (growth > limit).then_some(Hit {
            resource: Resource::Disk,
            limit,
            measured: Some(growth),
            enforced_by: Enforcer::Walk,
        })
    }

    fn process_hit(&self, processes: u64) -> Option<Hit> {
        let limit = self.tree.applied().limits().of(Resource::Processes)?;
        Some(Hit {
            resource: Resource::Processes,
            limit,
            measured: Some(processes),
            enforced_by: Enforcer::Census,
        })
    }

    fn output_hit(&self) -> Option<Hit> {
        let limit = self.tree.applied().limits().of(Resource::Output)?;
        Some(Hit {
            resource: Resource::Output,
            limit,
            measured: Some(self.activity.recorded()),
            enforced_by: Enforcer::Recorder,
        })
    }

    fn records(&self, hit: Option<&Hit>) -> BTreeMap<Resource, LimitRecord> {
        let applied = self.tree.applied();
        let record = |resource: Resource| {
            let how = applied.how(resource);
            let enforced_by = how.and_then(|how| how.by);
            let measured = match resource {
                Resource::Output => Some(self.activity.recorded()),
                Resource::OpenFiles => None,
                _ => self.measured(resource),
            };
            let counts = applied.counts(resource);
            let seen = hit.is_some_and(|hit| hit.resource == resource);
            let observable = enforced_by.is_some() && resource != Resource::OpenFiles;
            LimitRecord {
                limit: applied.limits().of(resource),
                enforced_by,
                note: how.and_then(|how| how.note.clone()),
                measured,
                hit: observable.then(|| seen || counts.is_some_and(|counts| counts.refused)),
            }
        };
        Resource::ALL
            .into_iter()
            .map(|resource| (resource, record(resource)))
            .collect()
    }
}

/// `None` if the walk panicked, or the runtime is shutting down.
async fn walk(usage: &disk::Usage, enough: u64) -> Option<disk::Walked> {
    let usage = usage.clone();
    let walking = tokio::task::spawn_blocking(move || usage.walk(enough));
    walking.await.ok()
}
