//! What agents of the agent used.

use crate::evidence::{Evidence, FRESH, complete, line, meta, of_usage, printed, record, turn};
use akbench_adapter_sdk::types::Outcome;
use serde_json::{Value, json};

#[test]
fn sub_agents_count_and_are_not_in_what_the_program_prints() {
    let evidence = Evidence::new();
    evidence
        .task(1, FRESH, &printed("m", 10), Some(0))
        .rollout(
            "1-m",
            &[
                meta("m", "m"),
                turn("a", "a"),
                record("m", "r", 10),
                complete("done"),
            ],
        )
        .rollout(
            "2-s",
            &[
                meta("s", "m"),
                turn("b", "a"),
                record("s", "r", 5),
                complete("done, too"),
            ],
        );
    let observed = evidence.observe();
    assert_eq!(observed.outcome, Some(Outcome::Completed));
    assert_eq!(observed.usage.unwrap().input, Some(15));
    assert_eq!(observed.model_requests, Some(2));
    assert_eq!(observed.final_message.as_deref(), Some("done"));
    assert_eq!(observed.agent_version.as_deref(), Some("0.171.0"));
    assert!(of_usage(&evidence.observe()).complete);
}

/// A parent whose own three responses used 3300 tokens and whose stream says so, and its
/// sub-agent with 700, as the real program writes them: the parent's total leaves the
/// sub-agent out.
#[test]
fn the_tokens_of_a_sub_agent_are_added_to_what_the_program_prints() {
    let spent = |thread: &str, root: &str, response: &str, input: u64, output: u64| {
        let usage = json!({
            "input_tokens": input, "cached_input_tokens": 0, "cache_write_input_tokens": 0,
            "output_tokens": output, "reasoning_output_tokens": 0,
            "total_tokens": input + output,
        });
        line(
            "token_usage_record",
            json!({"thread_id": thread, "turn_id": root, "session_id": "p",
                   "root_turn_id": "t", "response_id": response, "usage": usage}),
        )
    };
    let item = |payload: Value| line("response_item", payload);
    let call = |id: &str, name: &str| {
        item(json!({"type": "function_call", "name": name, "call_id": id, "arguments": "{}"}))
    };
    let output =
        |id: &str| item(json!({"type": "function_call_output", "call_id": id, "output": "{}"}));
    let said = |text: &str| {
        item(json!({"type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": text}]}))
    };
    let parent = [
        meta("p", "p"),
        turn("t", "t"),
        call("c1", "spawn_agent"),
        spent("p", "t", "resp_1", 1000, 100),
        output("c1"),
        call("c2", "wait_agent"),
        spent("p", "t", "resp_2", 900, 100),
        output("c2"),
        said("all done"),
        spent("p", "t", "resp_3", 1100, 100),
        complete("all done"),
    ];
    let spawn = json!({"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1,
                       "agent_nickname": "Noether"}}});
    let child_meta = line(
        "session_meta",
        json!({"session_id": "p", "id": "c", "parent_thread_id": "p", "source": spawn,
               "agent_nickname": "Noether", "cli_version": "0.171.0"}),
    );
    // The mock's ids repeat: the parent's first response has the same one.
    let child = [
        child_meta,
        turn("u", "t"),
        said("child done"),
        spent("c", "u", "resp_1", 600, 100),
        complete("child done"),
    ];
    let collab = |kind: &str, id: &str, tool: &str| json!({"type": kind, "item": {"id": id, "type": "collab_tool_call", "tool": tool}});
    let stdout = [
        json!({"type": "thread.started", "thread_id": "p"}),
        json!({"type": "turn.started"}),
        collab("item.started", "item_0", "spawn_agent"),
        collab("item.completed", "item_0", "spawn_agent"),
        collab("item.started", "item_1", "wait"),
        collab("item.completed", "item_1", "wait"),
        json!({"type": "item.completed",
               "item": {"id": "item_2", "type": "agent_message", "text": "all done"}}),
        json!({"type": "turn.completed",
               "usage": {"input_tokens": 3000, "cached_input_tokens": 0, "output_tokens": 300}}),
    ];
    let evidence = Evidence::new();
    evidence
        .task(1, FRESH, &stdout, Some(0))
        .rollout("1-p", &parent);
    // Without the sub-agent's file the usage is what the program prints, and known to lack it.
    let alone = evidence.observe();
    assert_eq!(alone.usage.as_ref().unwrap().total, Some(3300));
    assert_eq!(of_usage(&alone).missing, ["sub-agents"]);

    let cut = &child[..child.len() - 1];
    evidence.rollout("2-c", cut);
    let cut_off = evidence.observe();
    assert_eq!(of_usage(&cut_off).missing, ["sub-agents"]);

    evidence.rollout("2-c", &child);
    let observed = evidence.observe();
    assert!(of_usage(&observed).complete);
    let usage = observed.usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.total),
        (Some(3600), Some(400), Some(4000))
    );
    assert_eq!(observed.model_requests, Some(4));
    assert_eq!(observed.tool_calls.unwrap().len(), 2);
    assert_eq!(observed.final_message.as_deref(), Some("all done"));
}
