//! The suite is tested by mutation: for every case the reference adapter has one deliberate
//! break that this case catches, and no other.
#![allow(clippy::expect_used, clippy::panic)]

use akbench::suite::cases;
use akbench::suite::report::{CaseReport, Outcome};
use akbench_broken_adapter::breaks::Break;
use akbench_contract::reference::{Reference, Variant, ended};
use std::collections::BTreeSet;

/// A case, the break that it has to catch, and the cases that can't but fail as well.
struct Row {
    case: &'static str,
    broken: Break,
    /// Each with the reason.
    also: &'static [(&'static str, &'static str)],
}

macro_rules! table {
    ($($case:literal => $broken:ident $(, also $other:literal: $reason:literal)*;)*) => {
        &[$(Row {
            case: $case,
            broken: Break::$broken,
            also: &[$(($other, $reason)),*],
        }),*]
    };
}

const TABLE: &[Row] = table! {
    "operations.validate_environment" => TrapInValidate;
    "operations.start_session" => TrapInStart;
    "operations.submit_task" => TrapInSubmit;
    "operations.wait_for_completion" => TrapInWait;
    "operations.get_status" => TrapInStatus;
    "operations.collect_observations" => TrapInCollect;
    "operations.cancel" => TrapInCancel;
    "operations.close" => TrapInClose;

    "configuration.schema_is_closed" => OpenSchema;
    "configuration.unknown_parameter" => UnknownParameterTaken;
    "configuration.wrong_type" => WrongTypeTaken;
    "configuration.runtime_missing" => NoRuntimeNeeded;
    "configuration.wire_api_unknown" => AnyWireApi;

    "environment.version" => VersionMisread;
    "environment.program_missing" => MissingProgramUnnamed;
    "environment.wrong_version" => AnyVersion;
    "environment.sandbox_broken" => SandboxFailureIgnored;
    "environment.probe_crashes" => ProbeCrashIgnored;
    "environment.probes_end" => ProbeLeft;

    "start.no_work_yet" => WorksAtStart;
    "start.replay_starts_nothing" => ReplayWrites;

    "workspace.agent_works_there" => WorksInHome;

    "submission.empty" => EmptyFilled;
    "submission.megabyte" => LongCut;
    "submission.leading_dash" => DashStripped;
    "submission.quotes" => VariablesExpanded;
    "submission.newlines" => LineEndsUnified;
    "submission.nul" => NulEnds;
    "submission.controls" => BellDropped;
    "submission.separators" => SeparatorsBecomeNewlines;
    "submission.astral" => MathFolded;
    "submission.combining" => AccentsComposed;
    "submission.byte_order_mark" => MarkDropped;

    "completion.detected" => CompletedUnsaid;
    "completion.failure_reported" => FailureReclassified;
    "completion.terminal_event_without_exit" => StayingEndUnknown;
    "completion.exit_without_terminal_event" => ExitCodeDecides;
    "completion.silent_exit" => SilenceIsSuccess;

    "limits.time_at_once" => ShortLimitIsDone;
    "limits.time_mid_stream" => LimitKills;
    "limits.deaf_agent" => KilledIsDone;
    "limits.idle" => IdleIsDone;

    "cancellation.before_submission" => CancelNeedsTask;
    "cancellation.while_working" => CancelKills;
    "cancellation.twice" => CancelOnce;
    "cancellation.after_completion" => LateCancelCounts;

    "closing.idempotent" => CloseOnce;
    "closing.unused_session" => CloseNeedsTask;
    "closing.agent_running" => CloseNeedsEnd;

    "second_task.continues" => FirstTaskObserved;
    "second_task.refused" => SecondTaskTaken;
    "second_task.not_while_working" => TaskSwallowed;

    "status.completed" => CompletedIsRunning;
    "status.failed" => FailedIsCompleted;
    "status.cancelled" => CancelledIsFailed;

    "observations.match" => ToolExitLost;
    "observations.repeatable" => AnswersDiffer;
    "observations.usage_has_provenance" => UsageUnsourced;
    "observations.null_not_zero" => NothingIsZero;
    "observations.supported_is_there" => PromisesTurns;
    "observations.unsupported_stays_null" => CrashCosts;

    "truncation.cut_anywhere" => UsageGuessed;
    "truncation.nothing_recorded" => NothingIsSomething;

    "crashes.sigabrt" => SigabrtIsCancel;
    "crashes.sigbus" => SigbusIsCancel;
    "crashes.sigfpe" => SigfpeIsCancel;
    "crashes.sighup" => SighupIsCancel;
    "crashes.sigill" => SigillIsCancel;
    "crashes.sigint" => SigintIsCancel;
    "crashes.sigkill" => SigkillIsCancel;
    "crashes.sigpipe" => SigpipeIsCancel;
    "crashes.sigsegv" => SigsegvIsCancel;
    "crashes.sigterm" => SigtermIsCancel;

    "floods.stdout" => ManyLinesDrown;
    "floods.stderr" => StderrDrowns;
    "floods.long_line" => LongLineDrowns;
    "floods.invalid_utf8" => OnlyText;
    "floods.own_events" => EventFlood;

    "concurrency.homes_are_apart" => HomeIsWorkspace;

    "interruption.wait_gives_back" => InterruptedWaitFails;
    "interruption.wait_keeps_its_timeout" => TimeoutEnds;
    "interruption.validate_gives_back" => InterruptedProbeIsInvalid;

    "replay.completed_work" => ReplayForgetsCompleted;
    "replay.failed_work" => ReplayForgetsFailed;
    "replay.cancelled_work" => ReplayForgetsCancelled;

    "secrets.canary" => LogsKeptRaw;
};

/// One test for some groups of cases, so that no test takes minutes.
macro_rules! tests {
    ($($test:ident: $($group:literal),+;)*) => {
        $(#[test]
        fn $test() {
            each_break_is_caught_by_its_case_alone(&[$($group),+]);
        })*

        const TESTED: &[&str] = &[$($($group),+),*];
    };
}

tests! {
    breaks_before_a_session_are_each_caught_by_one_case: "operations", "configuration", "environment", "start";
    breaks_of_what_the_agent_gets_are_each_caught_by_one_case: "workspace", "submission", "concurrency", "secrets";
    breaks_of_the_end_are_each_caught_by_one_case: "completion", "limits", "cancellation", "closing";
    breaks_of_the_state_are_each_caught_by_one_case: "second_task", "status", "interruption", "replay";
    breaks_of_what_is_observed_are_each_caught_by_one_case: "observations", "truncation", "floods";
    breaks_about_crashes_are_each_caught_by_one_case: "crashes";
}

/// Cases that need the agent's own program, and the test of `real_cli.rs` that breaks what each
/// looks at; for `cli.replay` it is one here, because only a broken adapter breaks that.
const WITH_THE_PROGRAM: &[(&str, Option<&str>)] = &[
    (
        "cli.environment",
        Some("a_version_that_nobody_measured_is_not_conformant"),
    ),
    (
        "cli.completes",
        Some("what_the_endpoint_played_has_to_be_what_is_observed"),
    ),
    (
        "cli.workspace",
        Some("an_agent_that_saw_another_workspace_is_caught"),
    ),
    (
        "cli.credential",
        Some("an_endpoint_that_was_never_asked_proves_nothing"),
    ),
    (
        "cli.provider_error",
        Some("a_failure_that_is_not_the_endpoints_is_caught"),
    ),
    (
        "cli.cancelled",
        Some("work_that_ends_before_the_cancel_is_caught"),
    ),
    (
        "cli.time_limit",
        Some("work_that_ends_before_the_limit_is_caught"),
    ),
    ("cli.replay", None),
    (
        "live.completes",
        Some("an_endpoint_on_this_machine_qualifies_nobody"),
    ),
];

fn needs_the_program(case: &str) -> bool {
    WITH_THE_PROGRAM.iter().any(|(known, _)| *known == case)
}

fn group(case: &str) -> &str {
    case.split('.').next().unwrap_or(case)
}

fn each_break_is_caught_by_its_case_alone(groups: &[&str]) {
    let in_groups = |row: &&Row| groups.contains(&group(row.case));
    let rows: Vec<&Row> = TABLE.iter().filter(in_groups).collect();
    let variants: Vec<Variant> = rows.iter().map(|row| variant(row.broken)).collect();
    let reference = Reference::new();
    let reports = reference.run_all(&variants);
    let mut wrong = Vec::new();
    for (row, reports) in rows.iter().zip(&reports) {
        let Some(first) = row.difference(reports) else {
            continue;
        };
        // On a loaded machine, suites that run at once may make each other miss a deadline. A
        // case that does not see its break, or sees another's, does so again when it is alone.
        eprintln!("once more, and alone: {first}");
        let alone = reference.run_all(&[variant(row.broken)]);
        wrong.extend(alone.iter().filter_map(|reports| row.difference(reports)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

impl Row {
    /// What is not as the table says, if anything.
    fn difference(&self, reports: &[CaseReport]) -> Option<String> {
        let failed = ended(reports, Outcome::Failed);
        let caught: BTreeSet<&str> = failed.iter().map(|case| case.name.as_str()).collect();
        let also = self.also.iter().map(|(case, _)| *case);
        let expected: BTreeSet<&str> = also.chain([self.case]).collect();
        if caught == expected {
            return None;
        }
        let reasons = failed.iter().map(|case| (&case.name, &case.reason));
        let reasons: Vec<_> = reasons.collect();
        let (broken, what) = (self.broken, self.broken.what());
        Some(format!(
            "{broken:?} ({what}) is for {expected:?}; failed: {reasons:#?}"
        ))
    }
}

fn variant(broken: Break) -> Variant {
    Variant {
        broken,
        continues: broken == Break::FirstTaskObserved,
    }
}

#[test]
fn the_reference_itself_passes_and_no_case_says_nothing_about_it() {
    let variants = [false, true].map(|continues| Variant {
        broken: Break::Nothing,
        continues,
    });
    let reports = Reference::new().run_all(&variants);
    let never = ["second_task.continues", "second_task.refused"];
    for (reports, never) in reports.iter().zip(never) {
        assert_eq!(ended(reports, Outcome::Failed), Vec::new() as Vec<&_>);
        let skipped = ended(reports, Outcome::NotApplicable);
        let skipped: Vec<&str> = skipped
            .iter()
            .map(|case| case.name.as_str())
            .filter(|case| !needs_the_program(case))
            .collect();
        assert_eq!(skipped, [never]);
    }
}

#[test]
fn every_case_has_one_break_and_every_break_one_case() {
    let cases = [cases::first(), cases::others(), cases::last()];
    let known: Vec<String> = cases.into_iter().flatten().map(|case| case.name).collect();
    let listed: Vec<&str> = TABLE.iter().map(|row| row.case).collect();
    let real = include_str!("real_cli.rs");
    for (case, test) in WITH_THE_PROGRAM {
        assert!(known.iter().any(|known| known == case), "no case `{case}`");
        if let Some(test) = test {
            assert!(
                real.contains(&format!("fn {test}()")),
                "`{case}`: no {test}"
            );
        }
    }
    for case in known.iter().filter(|case| !needs_the_program(case)) {
        let rows = listed.iter().filter(|listed| *listed == case).count();
        assert_eq!(
            rows, 1,
            "`{case}` needs one break in the table of this test"
        );
        assert!(
            TESTED.contains(&group(case)),
            "no test runs the breaks of `{case}`: add its group to one"
        );
    }
    for case in &listed {
        assert!(known.iter().any(|known| known == case), "no case `{case}`");
    }
    for broken in Break::ALL {
        let rows = TABLE.iter().filter(|row| row.broken == *broken).count();
        assert_eq!(rows, 1, "{broken:?} needs one case in the table");
    }
    for row in TABLE {
        for (other, reason) in row.also {
            assert!(
                known.iter().any(|known| known == other),
                "no case `{other}`"
            );
            assert!(reason.len() > 20, "{:?} and `{other}`: why?", row.broken);
        }
    }
}

#[test]
fn an_adapter_that_forgets_in_replay_is_caught_with_the_agents_own_program_too() {
    let reference = Reference::new();
    let of = |broken: Break| reference.run_as_real(variant(broken), "cli.replay");
    assert_eq!(
        ended(&of(Break::Nothing), Outcome::Failed),
        Vec::new() as Vec<&_>
    );
    let reports = of(Break::ReplayForgetsCompleted);
    let failed: Vec<&str> = ended(&reports, Outcome::Failed)
        .iter()
        .map(|case| case.name.as_str())
        .collect();
    assert_eq!(failed, ["cli.replay"]);
}
