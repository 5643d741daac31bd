//! Running the cases: the operations first, then all that may wait at the same time, then those
//! that compute much, one after the other.

use super::case::{Case, Unproven, failed, not_applicable};
use super::cases;
use super::lab::{CASE, Lab};
use super::report::{CaseReport, Outcome};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet};

/// Cases at the same time. Most of them wait; those that compute share the processors.
const AT_ONCE: usize = 8;

/// A case that is not over by then has failed. An interpreted adapter on a busy machine needs
/// minutes for megabytes of lines.
const CASE_LIMIT: Duration = Duration::from_secs(600);

/// What came of the cases.
pub struct Ran {
    /// In the order of the cases.
    pub reports: Vec<CaseReport>,
    /// The version that the agent's own program reported; `None` if it was not run, or did not
    /// say.
    pub program_version: Option<String>,
}

/// Runs all cases and tells about each as it ends. `only` keeps the cases whose names begin so;
/// the operations always run.
pub async fn run(lab: Lab, only: &[String], told: impl Fn(&CaseReport)) -> Ran {
    let lab = Rc::new(lab);
    let reports = run_in(&lab, only, told).await;
    let seen = lab.seen();
    let real = seen.iter().filter(|(case, _)| case.starts_with("cli."));
    Ran {
        reports,
        program_version: real
            .filter_map(|(_, observed)| observed.agent_version.clone())
            .next(),
    }
}

async fn run_in(lab: &Rc<Lab>, only: &[String], told: impl Fn(&CaseReport)) -> Vec<CaseReport> {
    let wanted = |case: &Case| only.is_empty() || only.iter().any(|o| case.name.starts_with(o));
    let others = || cases::others().into_iter().filter(wanted);
    let last = || cases::last().into_iter().filter(wanted);
    let mut reports = Vec::new();
    for case in cases::first() {
        reports.push(run_one(&case, lab).await);
        reports.last().inspect(|report| told(report));
    }
    let broken = reports.iter().find(|r| r.outcome == Outcome::Failed);
    if let Some(broken) = broken {
        let why = format!("not run: `{}` failed", broken.name);
        for case in others().chain(last()) {
            let report = CaseReport::new(&case, Err(not_applicable(&*why)), Duration::ZERO);
            told(&report);
            reports.push(report);
        }
        return reports;
    }
    let local = LocalSet::new();
    let waiting = async {
        let turns = Rc::new(Semaphore::new(AT_ONCE));
        let mut running = JoinSet::new();
        for (index, case) in others().enumerate().filter(|(_, case)| !case.alone) {
            let (lab, turns) = (Rc::clone(lab), Rc::clone(&turns));
            running.spawn_local(async move {
                let _turn = turns.acquire().await;
                (index, run_one(&case, &lab).await)
            });
        }
        let mut ended = Vec::new();
        while let Some(joined) = running.join_next().await {
            match joined {
                Ok((index, report)) => {
                    told(&report);
                    ended.push((index, report));
                }
                // A fault of ours: a case that is simply missing would look like one that passed.
                Err(fault) => std::panic::resume_unwind(fault.into_panic()),
            }
        }
        for (index, case) in others().enumerate().filter(|(_, case)| case.alone) {
            let report = run_one(&case, lab).await;
            told(&report);
            ended.push((index, report));
        }
        ended.sort_by_key(|(index, _)| *index);
        ended
    };
    let ended = local.run_until(waiting).await;
    reports.extend(ended.into_iter().map(|(_, report)| report));
    for case in last() {
        reports.push(run_one(&case, lab).await);
        reports.last().inspect(|report| told(report));
    }
    reports
}

async fn run_one(case: &Case, lab: &Lab) -> CaseReport {
    let started = Instant::now();
    let running = CASE.scope(case.name.clone(), case.run(lab));
    let proof = tokio::time::timeout(CASE_LIMIT, running).await;
    let proof = proof.unwrap_or_else(|_| Err(too_long()));
    CaseReport::new(case, proof, started.elapsed())
}

fn too_long() -> Unproven {
    failed(format!(
        "the case was not over after {} s",
        CASE_LIMIT.as_secs()
    ))
}
