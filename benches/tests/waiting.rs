//! An idle wait does not poll: while the agent works and says nothing, nobody else wakes up.
#![allow(clippy::unwrap_used, clippy::panic)]

use akbench::contract::events::Observer;
use akbench::process::resources::limit::Resource;
use akbench_bench::live::Live;
use akbench_bench::program::Waiting;
use akbench_bench::rig::{Parts, Rig};
use akbench_e2e::built;
use akbench_recorded::baseline;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How long is waited, and how much of ten seconds that is.
const WAIT: Duration = Duration::from_secs(3);
const OF_TEN_SECONDS: f64 = 10.0 / 3.0;

/// How long everything may take to come to rest.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often each thread of the host and of what it started gave up its core of its own accord,
/// which it does each time it begins to wait anew. The caller's own thread is left out.
fn waits() -> BTreeMap<String, u64> {
    let own = fs::read_link("/proc/thread-self").unwrap();
    let mut all = BTreeMap::new();
    let mut processes = vec![fs::read_link("/proc/self").unwrap().display().to_string()];
    while let Some(process) = processes.pop() {
        // What ends meanwhile is not waiting any more.
        let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else {
            continue;
        };
        for task in tasks.flatten() {
            let path = task.path();
            let children = fs::read_to_string(path.join("children")).unwrap_or_default();
            processes.extend(children.split_whitespace().map(str::to_owned));
            let status = fs::read_to_string(path.join("status")).unwrap_or_default();
            let count = status
                .lines()
                .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))
                .and_then(|text| text.trim().parse().ok());
            let name = status.lines().next().unwrap_or_default().to_owned();
            if let Some(count) = count
                && !path.ends_with(&own)
            {
                all.insert(format!("{} {name}", path.display()), count);
            }
        }
    }
    all
}

fn more(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let grown = |(thread, count): (&String, &u64)| {
        let more = count - before.get(thread).copied().unwrap_or(0);
        (more > 0).then(|| (thread.clone(), more))
    };
    after.iter().filter_map(grown).collect()
}

/// Waits of the host and its supervisor in ten seconds of a silent agent, and whose they were.
fn wakeups(limits: Vec<(Resource, Option<u64>)>) -> (f64, Vec<(String, u64)>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let rig = Arc::new(
        Rig::new(&Parts {
            repository: built::repository(),
            akbench: built::akbench(),
            adapters: built::adapter("fake.wasm").parent().unwrap().to_owned(),
        })
        .unwrap(),
    );
    let waiting = Waiting::new(rig.folder()).unwrap();
    let live = Arc::new(Live::new());
    let session = {
        let (rig, program) = (Arc::clone(&rig), waiting.program.clone());
        let observer = Arc::clone(&live) as Arc<dyn Observer>;
        runtime.spawn(async move { rig.session_within(&program, Some(observer), limits).await })
    };
    // Nothing but this thread's own waiting from here on: it is not counted.
    runtime.block_on(live.reached(1));
    let until = Instant::now() + PATIENCE;
    let mut woken = Vec::new();
    while Instant::now() < until {
        let before = waits();
        thread::sleep(WAIT);
        woken = more(&before, &waits());
        // The first time, things may still have come to rest.
        if woken.is_empty() {
            break;
        }
    }
    let count: u64 = woken.iter().map(|(_, more)| more).sum();
    let gate = waiting.open().unwrap();
    runtime.block_on(session).unwrap().unwrap();
    drop(gate);
    #[allow(clippy::cast_precision_loss)] // A handful.
    (count as f64 * OF_TEN_SECONDS, woken)
}

#[test]
fn nothing_of_the_host_wakes_up_while_the_agent_is_silent() {
    let (count, woken) = wakeups(Resource::ALL.map(|resource| (resource, None)).to_vec());
    baseline::check("wakeups_per_10_s_of_waiting", count, 0.0)
        .unwrap_or_else(|problem| panic!("{problem}\n{woken:#?}"));
}

/// Twice a second somebody looks at the control groups, every two seconds at the files.
#[test]
fn watching_the_default_limits_wakes_nobody_more_often_than_is_documented() {
    let (count, woken) = wakeups(Vec::new());
    baseline::check("wakeups_per_10_s_with_default_limits", count, 0.5)
        .unwrap_or_else(|problem| panic!("{problem}\n{woken:#?}"));
}
