//! Many runs leave nothing over: no process, no file descriptor, no mount, no temporary folder,
//! no control group, no memory.

use akbench::attestation::Attestations;
use akbench::contract::events::Silent;
use akbench::registry::{Registry, Source};
use akbench::runner::assignment::Assignment;
use akbench::runner::confine::{Confine, ConfinementRequest, Network};
use akbench::runner::limits::RunLimits;
use akbench::runner::plan::{HostEnvironment, RunRequest, plan};
use akbench::runner::result::RunStatus;
use akbench::runner::run::{RunOptions, Runner};
use akbench::runner::stop::stop_pair;
use akbench::sandbox::cache::ComponentCache;
use akbench::sandbox::component::AdapterComponent;
use akbench::sandbox::engine::Sandbox;
use akbench_e2e::running::Running;
use akbench_e2e::scene::Scene;
use akbench_e2e::stub_agent::{self, StubAgent};
use akbench_e2e::{built, processes};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

const AT_ONCE: usize = 24;
const IN_SEQUENCE: usize = 500;

/// Until then everything that is made once has been made: threads, caches, pools.
const WARMED_UP: usize = 30;

/// A slow machine does as many as it can in this time, unless `AKBENCH_TEST_LONG` is set.
const TIME: Duration = Duration::from_secs(40);

fn steps(daemon: &Value) -> Value {
    let mut steps = json!([
        stub_agent::read_task(),
        {"stdout": {"text": stub_agent::BEGINNING}},
        {"stdout": {"text": stub_agent::TURN_COMPLETED}},
    ]);
    if let (Value::Array(steps), false) = (&mut steps, daemon.is_null()) {
        steps.insert(2, daemon.clone());
    }
    steps
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Mounts that this process sees.
fn mounts() -> usize {
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
    mounts.lines().count()
}

/// A control group of this test, in which the groups of the runs come to lie; `None` where none
/// can be made.
struct OwnGroup(PathBuf);

impl OwnGroup {
    fn create() -> Option<Self> {
        let name = format!("akbench-e2e-{}", std::process::id());
        let path = Path::new("/sys/fs/cgroup/pids").join(name);
        if fs::create_dir(&path).is_err() {
            eprintln!("partly skipped: needs writable control groups of version 1");
            return None;
        }
        Some(Self(path))
    }

    /// The command in this group.
    fn command(&self, command: &Command) -> Command {
        let enter = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.0.display());
        akbench_e2e::real::through(command, "sh", &["-c", &enter, "sh"])
    }

    fn groups(&self) -> Vec<PathBuf> {
        let mut below = entries(&self.0);
        below.retain(|path| path.is_dir());
        below
    }
}

impl Drop for OwnGroup {
    fn drop(&mut self) {
        // The test has failed if something is still in it.
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn runs_at_once_leave_nothing_over() {
    let scene = Scene::new();
    let daemon = json!({"daemon": {"seconds": 600, "pid_file": "daemon.pid"}});
    let program = StubAgent::default().install(&scene, &steps(&daemon));
    fs::create_dir(scene.path("tmp")).expect("a folder");
    let group = OwnGroup::create();
    let (mounts_before, started) = (mounts(), Instant::now());
    let running: Vec<Running> = (0..AT_ONCE)
        .map(|_| {
            let mut command = scene.run_command(&program, &[]);
            command.env("TMPDIR", scene.path("tmp"));
            let mut command = match &group {
                Some(group) => group.command(&command),
                None => command,
            };
            Running::start(&mut command)
        })
        .collect();
    for one in running {
        let ran = one.finish();
        let result = ran.result();
        assert_eq!(result["status"], "completed", "{}", ran.stderr);
        assert_eq!(result["processes"]["survivors"], 0);
        assert!(
            result["processes"]["killed"].as_u64() >= Some(1),
            "the daemon"
        );
    }
    let took = started.elapsed();
    assert_eq!(processes::of_folder(&scene.path("")), []);
    assert_eq!(mounts(), mounts_before);
    assert_eq!(entries(&scene.path("tmp")), [] as [PathBuf; 0]);
    let runs = entries(&scene.path("runs"));
    assert_eq!(runs.len(), AT_ONCE);
    for run in &runs {
        for name in [
            "agent-home",
            "scratch",
            "pristine",
            "evaluation",
            ".reserve",
        ] {
            assert!(!run.join(name).exists(), "{}/{name}", run.display());
        }
    }
    if let Some(group) = &group {
        assert_eq!(group.groups(), [] as [PathBuf; 0], "control groups");
    }
    println!("{AT_ONCE} at once: {took:?}, no process, mount, folder or control group left");
}

#[test]
fn a_group_that_a_killed_akbench_left_is_removed_by_the_next() {
    let Some(group) = OwnGroup::create() else {
        return;
    };
    let scene = Scene::new();
    let steps = json!([{"write_file": {"path": "reached.txt", "text": ""}}, "hang"]);
    let program = StubAgent::default().install(&scene, &steps);
    let run =
        |more: &[&str]| Running::start(&mut group.command(&scene.run_command(&program, more)));
    let killed = run(&["--in-place"]);
    processes::wait_for("the program to start", || {
        scene.path("workspace/reached.txt").exists().then_some(())
    });
    assert_eq!(group.groups().len(), 1);
    killed.signal(Signal::KILL);
    killed.finish();
    processes::wait_for("the end of everything in the group", || {
        let left = group.groups();
        let inside = fs::read_to_string(left[0].join("cgroup.procs")).expect("its processes");
        inside.is_empty().then_some(())
    });

    let next = run(&["--time-limit", "100ms"]).finish();
    assert_eq!(next.result()["processes"]["survivors"], 0);
    assert_eq!(group.groups(), [] as [PathBuf; 0]);
}

/// The host's variables that a plan asks for.
struct Variables;

impl HostEnvironment for Variables {
    fn variable(&self, name: &str) -> Option<OsString> {
        match name {
            "AKBENCH_LLM_ROUTER_URL" => Some("http://127.0.0.1:9/v1".into()),
            "AKBENCH_LLM_ROUTER_KEY" => Some("canary-credential-4711".into()),
            _ => None,
        }
    }
}

/// What this process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    descriptors: usize,
    mounts: usize,
    children: usize,
}

impl Held {
    fn now() -> Self {
        let own = i32::try_from(std::process::id()).expect("process ids are small");
        Self {
            descriptors: entries(Path::new("/proc/self/fd")).len(),
            mounts: mounts(),
            children: processes::descendants(own).len(),
        }
    }
}

/// Memory of this process that no file backs, in KiB.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("status");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .expect("RssAnon")
}

#[test]
fn runs_in_sequence_leave_nothing_over_in_the_process_that_runs_them() {
    let scene = Scene::new();
    let program = StubAgent::default().install(&scene, &steps(&Value::Null));
    let source = Source {
        name: "built-in".to_owned(),
        folder: built::repository(),
    };
    let registry = Registry::load(&[source]).expect("the built-in descriptors");
    let sandbox = Sandbox::new().expect("a sandbox");
    let cache = ComponentCache::new(Some(scene.path("cache")));
    let file = built::adapter("codex.wasm");
    let component = AdapterComponent::load(&file, &sandbox, &cache).expect("the adapter");
    let runner = Runner {
        sandbox,
        supervisor: built::akbench(),
        program_memory: Some(scene.path("programs.json")),
        attestations: Attestations::new([]),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(4)
        .enable_all()
        .build()
        .expect("a runtime");
    let one_run = || {
        let request = RunRequest {
            descriptor: registry.agent("codex").expect("the descriptor").clone(),
            assignment: Assignment::Files {
                workspace: scene.path("workspace"),
                in_place: false,
                task_file: scene.path("task.txt"),
            },
            required: Vec::new(),
            allow_unverified: false,
            parameters: Vec::new(),
            runtime: Some("llm-router".to_owned()),
            programs: vec![("codex".to_owned(), program.clone())],
            limits: RunLimits {
                time: None,
                idle: None,
            },
        };
        let plan = plan(request, &registry, &Variables)
            .map_err(|refused| refused.problems)
            .expect("a plan");
        let (_handle, stop) = stop_pair();
        let options = RunOptions {
            runs: scene.path("runs"),
            keep_home: false,
            confinement: ConfinementRequest {
                confine: Confine::BestEffort,
                network: Network::Full,
                expose: Vec::new(),
                limits: Vec::new(),
            },
            observer: Arc::new(Silent),
            stop,
        };
        let finished = runtime.block_on(runner.run(plan, component.clone(), options));
        let finished = finished.expect("a finished run");
        assert_eq!(finished.result.status, RunStatus::Completed);
        assert_eq!(finished.result.processes.survivors, Some(0));
        fs::remove_dir_all(&finished.folder).expect("the run's folder is removed");
    };
    let started = Instant::now();
    for _ in 0..WARMED_UP {
        one_run();
    }
    let (held, before) = (Held::now(), memory());
    let mut runs = WARMED_UP;
    let long = std::env::var_os("AKBENCH_TEST_LONG").is_some();
    while runs < IN_SEQUENCE && (long || started.elapsed() < TIME) {
        one_run();
        runs += 1;
    }
    let took = started.elapsed();
    // What ends a supervisor may be at its last instruction.
    assert!(
        processes::wait_until(processes::PATIENCE, || Held::now() == held),
        "{held:?} became {:?}",
        Held::now()
    );
    let after = memory();
    println!(
        "{runs} in sequence: {took:?}, {held:?}; memory {before} KiB after {WARMED_UP}, {after} \
         KiB after {runs}"
    );
    assert!(after < before + 4096, "{before} KiB became {after} KiB");
    assert_eq!(processes::of_folder(&scene.path("")), []);
}
