//! When a usage is whole.

use crate::evidence::{
    Evidence, FRESH, RESUMED, complete, line, meta, of_usage, printed, record, turn,
};
use serde_json::json;

#[test]
fn a_lost_record_makes_the_usage_incomplete() {
    let evidence = Evidence::new();
    evidence.task(1, FRESH, &printed("m", 10), Some(0)).rollout(
        "1-m",
        &[
            meta("m", "m"),
            turn("a", "a"),
            record("m", "r", 4),
            complete("x"),
        ],
    );
    let observed = evidence.observe();
    assert_eq!(of_usage(&observed).missing, ["requests without a record"]);
}

#[test]
fn the_turn_of_an_earlier_process_is_not_this_ones() {
    let count = |input: u64| {
        let total = json!({"input_tokens": input, "output_tokens": 1});
        let info = json!({"total_token_usage": total, "last_token_usage": total});
        line("event_msg", json!({"type": "token_count", "info": info}))
    };
    let earlier = [
        meta("m", "m"),
        turn("a", "a"),
        record("m", "r", 10),
        count(10),
        complete("one"),
    ];
    let own = [
        turn("b", "b"),
        record("m", "r", 7),
        count(17),
        complete("two"),
    ];
    let evidence = Evidence::new();
    // The second turn ended with a total of 17 tokens, and the file was cut before it.
    evidence
        .task(1, RESUMED, &printed("m", 17), Some(0))
        .rollout("1-m", &earlier);
    let observed = evidence.observe();
    assert_eq!((observed.usage, observed.tool_calls), (None, None));
    assert_eq!(observed.final_message.as_deref(), Some("said"));
    evidence.rollout("1-m", &[earlier.as_slice(), own.as_slice()].concat());
    let observed = evidence.observe();
    assert_eq!(observed.usage.as_ref().unwrap().input, Some(7));
    assert!(of_usage(&observed).complete);
}

#[test]
fn a_response_without_usage_among_others_makes_the_sum_incomplete() {
    let call = |id: &str| {
        line(
            "response_item",
            json!({"type": "function_call", "name": "exec_command", "call_id": id}),
        )
    };
    let output = |id: &str| {
        line(
            "response_item",
            json!({"type": "function_call_output", "call_id": id, "output": "x"}),
        )
    };
    let said = line(
        "response_item",
        json!({"type": "message", "role": "assistant", "content": []}),
    );
    let first = [call("c1"), record("m", "r1", 10), output("c1")];
    let second = [call("c2"), record("m", "r2", 20), output("c2")];
    let third = [said, record("m", "r3", 30)];
    let observed_without = |missing: &str| {
        let kept = first.iter().chain(&second).chain(&third);
        let kept = kept.filter(|line| line["payload"]["response_id"] != missing);
        let mut rollout = vec![meta("m", "m"), turn("a", "a")];
        rollout.extend(kept.cloned());
        rollout.push(complete("done"));
        // The program adds up what it was told, so that its own sum lacks the same.
        let sum = 60
            - missing
                .strip_prefix('r')
                .map_or(0, |n| n.parse().unwrap_or(0))
                * 10;
        let evidence = Evidence::new();
        evidence
            .task(1, FRESH, &printed("m", sum), Some(0))
            .rollout("1-m", &rollout);
        evidence.observe()
    };
    let whole = observed_without("none");
    assert!(of_usage(&whole).complete);
    assert_eq!(whole.model_requests, Some(3));
    for missing in ["r1", "r2", "r3"] {
        let observed = observed_without(missing);
        assert_eq!(
            of_usage(&observed).missing,
            ["requests without a record"],
            "{missing}"
        );
        assert_eq!(observed.model_requests, None, "{missing}");
    }
}
