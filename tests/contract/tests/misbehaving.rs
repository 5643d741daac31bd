//! Every way to misbehave: the suite names the right case, and the host survives.
#![allow(clippy::expect_used, clippy::panic)]

use akbench_contract::{Bench, begin_with};
use akbench_e2e::built;
use akbench_misbehaving_adapter::behaviour::Behaviour;
use serde_json::json;

/// One test for each behaviour: its name, the case that has to catch it, and what the reason
/// says. A behaviour that is not listed does not compile.
macro_rules! misbehaviours {
    ($($test:ident: $behaviour:ident => $case:literal, $reason:literal;)*) => {
        $(#[test]
        fn $test() {
            is_caught(Behaviour::$behaviour, $case, $reason);
        })*

        #[allow(dead_code)]
        fn every_behaviour_has_a_test(behaviour: Behaviour) -> &'static str {
            match behaviour {
                Behaviour::None => "an_adapter_that_breaks_nothing_passes",
                $(Behaviour::$behaviour => stringify!($test),)*
            }
        }
    };
}

misbehaviours! {
    a_loop_in_validate_is_caught: LoopInValidate => "operations.validate_environment", "did not return";
    a_loop_in_start_is_caught: LoopInStart => "operations.start_session", "did not return";
    a_loop_in_submit_is_caught: LoopInSubmit => "operations.submit_task", "did not return";
    a_loop_in_wait_is_caught: LoopInWait => "operations.wait_for_completion", "did not return";
    a_loop_in_status_is_caught: LoopInStatus => "operations.get_status", "did not return";
    a_loop_in_collect_is_caught: LoopInCollect => "operations.collect_observations", "did not return";
    a_loop_in_cancel_is_caught: LoopInCancel => "operations.cancel", "did not return";
    a_loop_in_close_is_caught: LoopInClose => "operations.close", "did not return";
    a_trap_in_validate_is_caught: TrapInValidate => "operations.validate_environment", "trapped";
    a_trap_in_start_is_caught: TrapInStart => "operations.start_session", "trapped";
    a_trap_in_submit_is_caught: TrapInSubmit => "operations.submit_task", "trapped";
    a_trap_in_wait_is_caught: TrapInWait => "operations.wait_for_completion", "trapped";
    a_trap_in_status_is_caught: TrapInStatus => "operations.get_status", "trapped";
    a_trap_in_collect_is_caught: TrapInCollect => "operations.collect_observations", "trapped";
    a_trap_in_cancel_is_caught: TrapInCancel => "operations.cancel", "trapped";
    a_trap_in_close_is_caught: TrapInClose => "operations.close", "trapped";
    a_memory_bomb_is_caught: MemoryBomb => "operations.submit_task", "limit of memory";
    a_deep_recursion_is_caught: DeepRecursion => "operations.submit_task", "trapped";
    a_string_of_a_gigabyte_is_caught: GigabyteString => "operations.submit_task", "limit of memory";
    a_million_events_are_caught: MillionEvents => "floods.own_events", "bytes of events";
    handles_leaked_by_the_thousand_are_caught: LeakedHandles => "operations.submit_task", "trapped";
    programs_started_without_end_are_limited: LeakedChildren => "operations.submit_task", "denied: after";
    the_folders_of_other_sessions_are_out_of_reach: ParentFolder => "operations.submit_task", "denied: ..";
    links_do_not_lead_out: Symlink => "operations.submit_task", "denied: ";
    a_named_pipe_does_not_hold_the_host: Fifo => "operations.collect_observations", "denied: unsupported";
    sockets_are_denied: Socket => "operations.submit_task", "denied: access-denied";
    the_hosts_environment_is_hidden: HostEnvironment => "operations.submit_task", "denied: there is none";
    a_program_that_is_not_granted_does_not_start: ProgramNotGranted => "operations.submit_task", "denied: program `sh`";
    a_variable_that_loads_code_is_refused: ForbiddenVariable => "operations.submit_task", "denied: variable `LD_PRELOAD`";
    evidence_cannot_be_written: WritesEvidence => "operations.submit_task", "denied: forged";
    a_cost_that_is_called_unsupported_is_caught: UnsupportedCost => "observations.unsupported_stays_null", "cost_usage";
    zero_instead_of_null_is_caught: ZeroForNull => "observations.null_not_zero", "usage";
    never_returning_after_an_interruption_is_caught: IgnoresInterruption => "interruption.wait_gives_back", "did not return";
    evidence_contradicted_is_caught: ContradictsEvidence => "completion.silent_exit", "expected a failure";
    an_exit_code_taken_for_the_truth_is_caught: ExitCodeDecides => "completion.exit_without_terminal_event", "expected a failure";
    different_answers_for_the_same_evidence_are_caught: ChangesItsAnswer => "observations.repeatable", "answer 2";
    observing_from_memory_is_caught: ObservesFromMemory => "replay.completed_work", "replay differs";
    an_instruction_that_was_changed_is_caught: TrimsInstruction => "submission.newlines", "something else";
    a_second_task_that_is_not_done_is_caught: TakesASecondTask => "second_task.refused", "succeeded";
    closing_only_once_is_caught: ClosesOnce => "closing.idempotent", "already closed";
    failing_to_cancel_nothing_is_caught: CancelsOnlyWork => "operations.cancel", "nothing is running";
    a_status_that_is_always_the_same_is_caught: StatusAlwaysCompleted => "status.failed", "expected Failed";
    accepting_any_configuration_is_caught: AcceptsAnyConfiguration => "configuration.unknown_parameter", "accepted";
    invented_usage_is_caught: InventsUsage => "truncation.nothing_recorded", "reported of nothing";
}

#[test]
fn an_adapter_that_breaks_nothing_passes() {
    let bench = Bench::new();
    let verdict = run(
        &bench,
        Behaviour::None,
        &["completion", "status", "observations"],
    );
    assert_eq!(
        (verdict.code, verdict.failed()),
        (0, Vec::new()),
        "{}",
        verdict.stderr
    );
}

fn run(bench: &Bench, behaviour: Behaviour, only: &[&str]) -> akbench_contract::Verdict {
    let recordings = bench.recordings(&json!({"behaviour": behaviour}));
    if behaviour == Behaviour::Fifo {
        let step = json!({"make_fifo": {"into_env": "FAKE_AGENT_HOME", "path": "pipe"}});
        begin_with(&recordings.join("completes/scenario.json"), &step);
    }
    let descriptor = built::repository().join("tests/guests/misbehaving/descriptor.json");
    let mut args = vec![
        "--descriptor".to_owned(),
        descriptor.display().to_string(),
        "--stub".to_owned(),
        recordings.display().to_string(),
    ];
    for prefix in only {
        args.extend(["--only".to_owned(), (*prefix).to_owned()]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    bench.test("misbehaving.wasm", &args)
}

fn is_caught(behaviour: Behaviour, case: &str, reason: &str) {
    let bench = Bench::new();
    let verdict = run(&bench, behaviour, &[case]);
    let failed = verdict.cases("failed");
    let found = failed.iter().find(|(name, _)| name == case);
    if found.is_none() && behaviour == Behaviour::MillionEvents {
        // On a slow machine the operation's time is over before a million are emitted.
        let stopped = ("operations.submit_task", "did not return");
        let is_stop = |(name, why): &(String, String)| name == stopped.0 && why.contains(stopped.1);
        assert!(
            failed.iter().all(is_stop) && verdict.code == 4,
            "{failed:?}"
        );
        return;
    }
    let Some((_, why)) = found else {
        panic!(
            "`{case}` did not catch it, but {failed:?}\n{}",
            verdict.stderr
        );
    };
    assert!(why.contains(reason), "`{case}` says: {why}");
    assert!(!why.contains("ESCAPED"), "{why}");
    // The suite itself came to its end: no panic, no signal.
    assert_eq!(verdict.code, 4, "{}", verdict.stderr);
    if case.starts_with("operations") {
        assert_eq!(failed.len(), 1, "one operation is broken: {failed:?}");
    }
}
