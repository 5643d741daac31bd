//! What a hostile agent program can do to the machine: each attack is tried for real, and the
//! table in `docs/sandbox.md` is what this test saw.

#![allow(clippy::expect_used, clippy::panic)]

use akbench_e2e::page::documented;
use akbench_e2e::processes::{self, Process};
use akbench_e2e::scene::{CREDENTIAL, Scene};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// One attack of the agent's program: a piece of shell that exits with 0 if it succeeded.
struct Attack {
    channel: &'static str,
    name: &'static str,
    script: &'static str,
}

/// Attacks that are over when the script is. `$VICTIM` is the host's home with a planted
/// secret, `$RUNS` the folder of all runs, `$RUN` the folder of this one.
const ATTACKS: &[Attack] = &[
    attack(
        "files",
        "read a key in the host's home",
        "cat $VICTIM/.ssh/id_ed25519",
    ),
    attack("files", "list the host's home", "ls $VICTIM/.aws"),
    attack(
        "files",
        "read the host's agent settings",
        "cat $VICTIM/.agents/skills/x.md",
    ),
    attack(
        "files",
        "follow a symlink out of the workspace",
        "ln -s $VICTIM l && cat l/.ssh/id_ed25519",
    ),
    attack("files", "write to the system", "touch /usr/akbench-escape"),
    attack(
        "files",
        "read the system's password hashes",
        "grep -q : /etc/shadow",
    ),
    attack(
        "files",
        "make the system writable again",
        "mount -o remount,bind,rw /usr && touch /usr/akbench-escape",
    ),
    attack(
        "files",
        "mount as root of a new user namespace",
        "unshare -Urm sh -c 'mount -o remount,bind,rw /usr && touch /usr/akbench-escape'",
    ),
    attack(
        "files",
        "reach the host through /proc/1/root",
        "cat /proc/1/root$VICTIM/.ssh/id_ed25519",
    ),
    attack(
        "files",
        "leave something in the host's /tmp",
        "touch /tmp/akbench-escape && ls $VICTIM/../akbench-escape",
    ),
    attack(
        "machine",
        "change a kernel setting",
        "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern",
    ),
    attack(
        "machine",
        "rename the machine",
        "hostname akbench-escape && test \"$(cat /proc/sys/kernel/hostname)\" = akbench-escape && false || hostname akbench-escape",
    ),
    attack(
        "machine",
        "see the host's processes",
        "cat /proc/[0-9]*/comm | grep -q ^containment",
    ),
    attack(
        "machine",
        "signal a process of the host",
        "kill -0 $HOST_PID",
    ),
    attack(
        "machine",
        "trace a process of the host",
        "cat /proc/$HOST_PID/environ",
    ),
    attack(
        "other runs",
        "list the folder of runs",
        "test \"$(ls $RUNS | wc -l)\" -gt 1",
    ),
    attack(
        "other runs",
        "read another run's result",
        "cat $RUNS/other-run/result.json",
    ),
    attack(
        "other runs",
        "change another run's result",
        "echo forged > $RUNS/other-run/result.json",
    ),
    attack("other runs", "delete another run", "rm -r $RUNS/other-run"),
    attack(
        "other runs",
        "reach a run through its neighbour",
        "cat $RUN/../other-run/result.json",
    ),
    attack(
        "evidence",
        "read what was recorded of it",
        "cat $RUN/artifacts/evidence/spawns/*/stdout",
    ),
    attack(
        "evidence",
        "write into its evidence",
        "echo forged >> $RUN/artifacts/evidence/spawns/1-version/stdout",
    ),
    attack(
        "evidence",
        "write its own exit record",
        "echo '{}' > $RUN/artifacts/evidence/spawns/3-task/exit.json && ls $RUN/artifacts/evidence/spawns",
    ),
    attack(
        "evidence",
        "write the result",
        "echo '{}' > $RUN/result.json && ls -l $RUN/plan.json",
    ),
    attack(
        "evidence",
        "write to the event log",
        "echo '{}' >> $RUN/events.jsonl && ls -l $RUN/plan.json",
    ),
    attack(
        "evidence",
        "rewrite the adapter's files",
        "echo x > $RUN/artifacts/adapter/x && ls -l $RUN/plan.json",
    ),
    attack(
        "secrets",
        "find a host variable in its environment",
        "env | grep -q HOST_ONLY",
    ),
    attack(
        "secrets",
        "read the environment of the supervisor",
        "grep -aq -e PATH -e KEY /proc/1/environ",
    ),
    attack(
        "secrets",
        "find a secret on a command line",
        "for f in /proc/[0-9]*/cmdline; do c=$(tr -d '\\0' < $f); [[ $c == *$CANARY_HALF* ]] && exit 0; done; exit 1",
    ),
    attack(
        "secrets",
        "find a host file descriptor",
        "ls -l /proc/1/fd /proc/self/fd | grep -q result.json",
    ),
    attack(
        "secrets",
        "read the credentials of another tool",
        "cat $VICTIM/.aws/credentials",
    ),
];

/// Ways to exhaust the machine, each with the limit that it meets, the class of the failure
/// that ends the run, and the name of the limit in the result.
const EXHAUSTION: &[(&str, &str, &str, &str, &str)] = &[
    (
        "start hundreds of processes",
        "i=0; while [ $i -lt 400 ]; do sleep $MARK & i=$((i+1)); done; wait",
        "processes=200",
        "agent_limit",
        "processes",
    ),
    (
        "take hundreds of megabytes of memory",
        "(head -c 400M /dev/zero; sleep $MARK) | tail -n 1 > /dev/null",
        "memory=100MiB",
        "out_of_memory",
        "memory_bytes",
    ),
    (
        "compute without end",
        "while :; do bash -c 'for ((i = 0; i < 20000; i++)); do :; done'; done",
        "cpu_time=1s",
        "agent_limit",
        "cpu_time_ms",
    ),
    (
        "fill the disk",
        "head -c 30M /dev/urandom > grown; sleep $MARK",
        "disk=20MiB",
        "disk_full",
        "disk_bytes",
    ),
    (
        "fill the temporary folder",
        "head -c 30M /dev/urandom > $TMPDIR/grown; sleep $MARK",
        "disk=20MiB",
        "disk_full",
        "disk_bytes",
    ),
    (
        "print without end",
        "yes | head -c 8M; sleep $MARK",
        "output=1MiB",
        "output_limit_exceeded",
        "output_bytes",
    ),
];

const fn attack(channel: &'static str, name: &'static str, script: &'static str) -> Attack {
    Attack {
        channel,
        name,
        script,
    }
}

/// Ways to outlive the run. Each leaves a process whose argument is the mark.
const SURVIVORS: &[(&str, &str)] = &[
    ("a background process", "sleep $MARK &"),
    (
        "a daemon of its own session",
        "setsid nohup sleep $MARK > /dev/null 2>&1 &",
    ),
    (
        "a double-forked daemon",
        "(setsid sh -c 'sleep $MARK & exit' &)",
    ),
    (
        "a process deaf to SIGTERM",
        "(trap '' TERM HUP INT; exec sleep $MARK) &",
    ),
    (
        "a stopped process",
        "(setsid sh -c 'kill -STOP $$; sleep $MARK' &); setsid sleep $MARK & kill -STOP $!",
    ),
    ("one that holds stdout open", "setsid sleep $MARK &"),
    (
        "one in a PID namespace of its own",
        "unshare -Urpf sleep $MARK & unshare -pf sleep $MARK &",
    ),
];

/// A shell script in the place of the agent's program.
fn program(scene: &Scene, work: &str) -> std::path::PathBuf {
    let script = format!(
        "#!/bin/bash\n\
         case \"$1\" in --version) echo 'codex-cli 0.171.0'; exit 0;; sandbox) exit 0;; esac\n\
         cat > /dev/null\n{work}\n\
         echo '{{\"type\":\"thread.started\",\"thread_id\":\"t\"}}'\n\
         echo '{{\"type\":\"turn.started\"}}'\n\
         echo '{{\"type\":\"turn.completed\",\"usage\":{{}}}}'\n"
    );
    scene.write("programs/agent/codex", script);
    let path = scene.path("programs/agent/codex");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
    path
}

fn can_confine() -> bool {
    let works = Command::new("bwrap")
        .args(["--unshare-pid", "--ro-bind", "/", "/", "true"])
        .status();
    let works = works.is_ok_and(|status| status.success());
    if !works {
        eprintln!("skipped: needs bubblewrap and namespaces");
    }
    works
}

#[test]
fn a_hostile_program_finds_nothing_but_what_it_was_given() {
    if !can_confine() {
        return;
    }
    let scene = Scene::new();
    scene.write("host-home/.ssh/id_ed25519", "PLANTED-KEY\n");
    scene.write("host-home/.aws/credentials", "PLANTED-CREDENTIAL\n");
    scene.write("host-home/.agents/skills/x.md", "PLANTED-SKILL\n");
    scene.write("runs/other-run/result.json", "{\"status\": \"other\"}\n");
    let mut work = format!(
        "export VICTIM={} RUNS={} HOST_PID={} CANARY_HALF={}\n\
         RUN=$(dirname $PWD)\n: > report.txt\n",
        scene.path("host-home").display(),
        scene.path("runs").display(),
        std::process::id(),
        &CREDENTIAL[..CREDENTIAL.len() / 2],
    );
    for (number, attack) in ATTACKS.iter().enumerate() {
        let quoted = attack.script.replace('\'', "'\\''");
        writeln!(
            work,
            "export RUN; if timeout 20 bash -c '{quoted}' > attack.out 2>&1; then echo '{number} escaped' >> report.txt; \
             else echo '{number} contained' >> report.txt; fi"
        )
        .expect("a string");
    }
    let program = program(&scene, &work);
    let mut command = scene.run_command(
        &program,
        &[
            "--confine",
            "required",
            "--param",
            "sandbox_mode=danger-full-access",
        ],
    );
    let ran = scene.run(command.env("HOST_ONLY", "a host variable"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let result = ran.result();
    assert_eq!(result["confinement"]["files"], "bubblewrap");
    let workspace = scene.run_folder(&result).join("workspace");
    let report = fs::read_to_string(workspace.join("report.txt")).expect("the program's report");

    let outcomes: Vec<&str> = report
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(_, o)| o)
        .collect();
    assert_eq!(outcomes.len(), ATTACKS.len(), "{report}");
    let mut table = String::from("| channel | attack | outcome |\n| --- | --- | --- |\n");
    for (attack, outcome) in ATTACKS.iter().zip(&outcomes) {
        writeln!(
            table,
            "| {} | {} | {outcome} |",
            attack.channel, attack.name
        )
        .expect("a string");
    }
    assert!(!table.contains("escaped"), "{table}");
    assert!(!Path::new("/usr/akbench-escape").exists());
    let other =
        fs::read_to_string(scene.path("runs/other-run/result.json")).expect("the other run");
    assert_eq!(other, "{\"status\": \"other\"}\n");
    documented("attacks", &table);
}

#[test]
fn whatever_a_hostile_program_leaves_behind_is_dead_when_the_run_is_over() {
    if !can_confine() {
        return;
    }
    let mut table = String::from(
        "| what is left behind | normal end | SIGTERM to akbench | SIGKILL to akbench |\n| --- | --- | --- | --- |\n",
    );
    for (name, script) in SURVIVORS {
        let outcomes = [End::Normal, End::Terminated, End::Killed].map(|end| {
            let mark = mark();
            let left = leave_behind(script, &mark, end);
            if left.is_empty() { "dead" } else { "ALIVE" }
        });
        writeln!(
            table,
            "| {name} | {} | {} | {} |",
            outcomes[0], outcomes[1], outcomes[2]
        )
        .expect("a string");
    }
    assert!(!table.contains("ALIVE"), "{table}");
    documented("survival", &table);
}

#[test]
fn a_hostile_program_that_exhausts_the_machine_is_ended() {
    if !can_confine() {
        return;
    }
    let mut table = String::from("| attack | limit | outcome |\n| --- | --- | --- |\n");
    for (name, script, limit, class, key) in EXHAUSTION {
        let mark = mark();
        let scene = Scene::new();
        let begin = "echo '{\"type\":\"thread.started\",\"thread_id\":\"t\"}'\n\
                     echo '{\"type\":\"turn.started\"}'";
        let program = program(&scene, &format!("export MARK={mark}\n{begin}\n{script}\n"));
        let more = [
            "--limit",
            limit,
            "--param",
            "sandbox_mode=danger-full-access",
        ];
        let ran = scene.run(&mut scene.run_command(&program, &more));
        let result = ran.result();
        assert_eq!(result["failure"]["class"], *class, "{name}: {result:#}");
        let hit = &result["confinement"]["limits"][key]["hit"];
        assert_eq!(*hit, true, "{name}");
        assert_eq!(result["processes"]["survivors"], 0, "{name}");
        assert_eq!(processes::with_argument(&mark), [], "{name}");
        writeln!(table, "| {name} | `--limit {limit}` | ended: {class} |").expect("a string");
    }
    documented("exhaustion", &table);
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Normal,
    Terminated,
    Killed,
}

/// A number of seconds that no other process sleeps for.
fn mark() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("77{}{:03}", std::process::id(), next)
}

/// Runs the script as an agent, ends the run, and returns who is alive 3 s later.
fn leave_behind(script: &str, mark: &str, end: End) -> Vec<Process> {
    let scene = Scene::new();
    let linger = if end == End::Normal {
        ""
    } else {
        "sleep $MARK"
    };
    let work = format!("export MARK={mark}\n{script}\necho started > started.txt\n{linger}\n");
    let program = program(&scene, &work);
    let mut command = scene.run_command(
        &program,
        &["--in-place", "--param", "sandbox_mode=danger-full-access"],
    );
    let mut child = command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("akbench starts");
    processes::wait_for("the program to start", || {
        scene.path("workspace/started.txt").exists().then_some(())
    });
    let pid = rustix::process::Pid::from_child(&child);
    let send = |signal| rustix::process::kill_process(pid, signal).expect("a signal");
    match end {
        End::Normal => {}
        End::Terminated => send(rustix::process::Signal::TERM),
        End::Killed => send(rustix::process::Signal::KILL),
    }
    child.wait().expect("akbench ends");
    let deadline = Instant::now() + Duration::from_secs(3);
    loop {
        let alive = processes::with_argument(mark);
        if alive.is_empty() || Instant::now() > deadline {
            return alive;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
