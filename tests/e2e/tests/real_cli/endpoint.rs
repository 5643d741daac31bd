//! An endpoint that refuses, breaks off or is not there.

use akbench_e2e::real::{RealRun, RealScene, TWO_TRIES, with_growing_limit};
use akbench_e2e::scene::CREDENTIAL;
use akbench_responses_server::{Reply, Script, scripts};
use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
use serde_json::Value;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

/// Nothing was measured and no tool ran; but what was applied is known.
fn expect_nothing_but_settings(run: &RealRun) {
    run.expect_unknown_usage();
    assert_eq!(run.tool_calls(), []);
    assert_eq!(run.result["final_message"], Value::Null);
    run.expect_applied("workspace-write");
}

#[test]
fn a_refused_credential_is_an_authentication_failure() {
    let test = "a_refused_credential_is_an_authentication_failure";
    let Some(scene) = RealScene::new(test, scripts::unauthorized()) else {
        return;
    };
    let run = scene.run(&TWO_TRIES);
    run.expect_end("failed", Some("authentication"), Some("infrastructure"), 3);
    expect_nothing_but_settings(&run);
    assert_eq!(run.result["failure"]["retryable"], false);
    assert_eq!(scene.server.model_requests().len(), 2);
}

#[test]
fn an_endpoint_that_repeats_the_credential_does_not_leak_it() {
    let message = format!("Incorrect API key provided: {CREDENTIAL}.");
    let reply = Reply::error(401, "invalid_request_error", "invalid_api_key", &message);
    let test = "an_endpoint_that_repeats_the_credential_does_not_leak_it";
    let Some(scene) = RealScene::new(test, Script::always(reply)) else {
        return;
    };
    let mut command = scene.command(&TWO_TRIES);
    let run = scene.finish(akbench_e2e::running::Running::start(&mut command));
    run.expect_end("failed", Some("authentication"), Some("infrastructure"), 3);
    let artifacts = run.result["artifacts"].as_array().unwrap();
    let masked = |artifact: &&Value| {
        artifact["path"].as_str().unwrap().ends_with("stdout")
            && artifact["masks"].as_u64().unwrap() > 0
    };
    assert!(artifacts.iter().any(|a| masked(&a)), "{artifacts:#?}");
}

#[test]
fn one_request_too_many_is_waited_out() {
    let test = "one_request_too_many_is_waited_out";
    let Some(scene) = RealScene::new(test, scripts::rate_limited_once_then_happy()) else {
        return;
    };
    let run = scene.run(&TWO_TRIES);
    run.expect_completed();
    run.expect_usage(2100, 900, 70, 0);
    run.expect_applied("workspace-write");
    assert_eq!(run.tool_calls(), [("exec_command", "completed", Some(0))]);
    assert_eq!(run.result["unresolved"], Value::Null);
    assert_eq!(scene.server.model_requests().len(), 3);
}

#[test]
fn too_many_requests_for_ever_are_a_rate_limit() {
    let test = "too_many_requests_for_ever_are_a_rate_limit";
    let Some(scene) = RealScene::new(test, scripts::rate_limited_always()) else {
        return;
    };
    let run = scene.run(&TWO_TRIES);
    run.expect_end("failed", Some("rate_limited"), Some("infrastructure"), 3);
    expect_nothing_but_settings(&run);
    assert_eq!(run.result["failure"]["retryable"], true);
}

#[test]
fn an_exhausted_quota_is_not_a_rate_limit() {
    let test = "an_exhausted_quota_is_not_a_rate_limit";
    let Some(scene) = RealScene::new(test, scripts::quota_exceeded()) else {
        return;
    };
    let run = scene.run(&TWO_TRIES);
    run.expect_end("failed", Some("quota_exceeded"), Some("infrastructure"), 3);
    expect_nothing_but_settings(&run);
    assert_eq!(run.result["failure"]["retryable"], false);
}

#[test]
fn an_endpoint_that_always_fails_is_a_provider_error() {
    let test = "an_endpoint_that_always_fails_is_a_provider_error";
    let Some(scene) = RealScene::new(test, scripts::server_error_always()) else {
        return;
    };
    let run = scene.run(&TWO_TRIES);
    run.expect_end("failed", Some("provider_error"), Some("infrastructure"), 3);
    expect_nothing_but_settings(&run);
    assert_eq!(scene.server.model_requests().len(), 2);
}

#[test]
fn a_failure_in_the_middle_keeps_what_was_measured_before() {
    let call = Reply::shell("call_1", "echo hi > out.txt").usage(1000, 0, 50, 0);
    let broken = Reply::error(
        500,
        "server_error",
        "server_error",
        "The server had an error.",
    );
    let test = "a_failure_in_the_middle_keeps_what_was_measured_before";
    let Some(scene) = RealScene::new(test, Script::new([call]).then_always(broken)) else {
        return;
    };
    let run = scene.run(&TWO_TRIES);
    run.expect_end("failed", Some("provider_error"), Some("infrastructure"), 3);
    run.expect_usage(1000, 0, 50, 0);
    assert!(!run.usage_is_complete(), "the failed requests are unknown");
    assert_eq!(run.tool_calls(), [("exec_command", "completed", Some(0))]);
    assert_eq!(scene.left("out.txt").as_deref(), Some("hi\n"));
}

#[test]
fn nobody_listening_is_a_network_failure() {
    let test = "nobody_listening_is_a_network_failure";
    let Some(scene) = RealScene::new(test, scripts::happy()) else {
        return;
    };
    // Bound and not listening: connections are refused, and nobody else gets the port.
    let taken = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&taken, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address: SocketAddr = getsockname(&taken).unwrap().try_into().unwrap();
    let mut command = scene.command(&TWO_TRIES);
    command.env("AKBENCH_LLM_ROUTER_URL", format!("http://{address}/v1"));
    let run = scene.finish(akbench_e2e::running::Running::start(&mut command));
    run.expect_end("failed", Some("network"), Some("infrastructure"), 3);
    expect_nothing_but_settings(&run);
    assert_eq!(scene.server.requests(), []);
}

#[test]
fn a_full_context_window_is_the_agents_failure() {
    let test = "a_full_context_window_is_the_agents_failure";
    let Some(scene) = RealScene::new(test, scripts::context_window()) else {
        return;
    };
    let run = scene.run(&TWO_TRIES);
    run.expect_end("failed", Some("context_window_exceeded"), Some("agent"), 1);
    // The CLI itself writes down a made-up total here.
    expect_nothing_but_settings(&run);
    assert_eq!(scene.server.model_requests().len(), 1);
}

#[test]
fn a_stream_that_breaks_once_is_asked_for_again() {
    let script = Script::new([
        Reply::message("Half an ans").cut_before_end(),
        Reply::shell("call_1", "echo hi > out.txt").usage(1000, 0, 50, 0),
        Reply::message("Done.").usage(1100, 900, 20, 0),
    ]);
    let test = "a_stream_that_breaks_once_is_asked_for_again";
    let Some(scene) = RealScene::new(test, script) else {
        return;
    };
    let run = scene.run(&TWO_TRIES);
    run.expect_completed();
    run.expect_usage(2100, 900, 70, 0);
    assert!(!run.usage_is_complete(), "the broken stream's is unknown");
    assert_eq!(run.tool_calls(), [("exec_command", "completed", Some(0))]);
    assert_eq!(run.result["final_message"], "Done.");
    assert_eq!(run.result["unresolved"], Value::Null);
    assert_eq!(scene.server.model_requests().len(), 3);
}

#[test]
fn a_stream_that_always_breaks_is_a_network_failure() {
    let test = "a_stream_that_always_breaks_is_a_network_failure";
    let Some(scene) = RealScene::new(test, scripts::cut_always()) else {
        return;
    };
    let run = scene.run(&TWO_TRIES);
    run.expect_end("failed", Some("network"), Some("infrastructure"), 3);
    expect_nothing_but_settings(&run);
    assert_eq!(scene.server.model_requests().len(), 2);
}

#[test]
fn an_endpoint_that_falls_silent_is_ended_by_the_idle_limit_and_nobodys_fault() {
    let test = "an_endpoint_that_falls_silent_is_ended_by_the_idle_limit_and_nobodys_fault";
    let started = || RealScene::new(test, scripts::hang_before_headers());
    if started().is_none() {
        return;
    }
    let (run, exit) = with_growing_limit(|limit| {
        let scene = started().unwrap();
        let run = scene.run(&["--idle-limit", limit]);
        let asked = !scene.server.model_requests().is_empty();
        asked.then(|| (run, scene.task_exit()))
    });
    run.expect_end("timed_out", Some("idle_timeout"), Some("unknown"), 3);
    run.expect_unknown_usage();
    assert_eq!(run.tool_calls(), []);
    run.expect_applied("workspace-write");
    assert_eq!(exit["signals"][0]["reason"], "idle_limit", "{exit}");
}
