//! A host that dies, or whose writes fail, at any instant: nothing recorded is lost, nothing
//! stays alive, and the next run works.

#![allow(clippy::expect_used, clippy::panic)]

mod faults;
mod kills;
mod left;

use akbench_e2e::scene::Scene;
use akbench_e2e::stub_agent::{BEGINNING, StubAgent, TURN_COMPLETED, add_file};
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs at a time.
const AT_A_TIME: usize = 4;

/// What the agent prints, whole.
fn expected() -> String {
    let mut text = BEGINNING.to_owned();
    for number in 0..60 {
        let words = format!("message {number} of the agent, {}", "x".repeat(60));
        let item = json!({"id": format!("item_{number}"), "type": "agent_message", "text": words});
        let line = json!({"type": "item.completed", "item": item});
        text.push_str(&format!("{line}\n"));
    }
    text + TURN_COMPLETED
}

/// An agent that prints a line every few milliseconds, and changes a file.
fn agent(scene: &Scene) -> PathBuf {
    add_file(scene, "stdout.jsonl", expected());
    let steps = json!([
        {"write_file": {"path": "out.txt", "text": "hi\n"}},
        {"stdout": {"file": "stdout.jsonl", "delay_ms": 4}},
    ]);
    StubAgent::default().install(scene, &steps)
}

/// Does something for each number, a few at a time.
fn side_by_side(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    work(number);
                }
            });
        }
    });
}
