//! Breaking down: loops, traps, and all that takes more than there is.

use crate::behaviour::{Behaviour, Operation};
use akbench_adapter_sdk::events::{self, Event};
use std::hint::black_box;
use wasip2::filesystem::preopens;

/// Kept so that the optimiser can't prove that it is never looked at.
pub fn remember(behaviour: Behaviour) {
    black_box(behaviour);
}

/// Does not return, if it is time for that.
pub fn breaks(behaviour: Behaviour, operation: Operation) {
    if behaviour.loops_in() == Some(operation) {
        let mut round = 0_u64;
        loop {
            round = black_box(round.wrapping_add(1));
        }
    }
    if behaviour.traps_in() == Some(operation) {
        core::arch::wasm32::unreachable();
    }
    if operation == Operation::Submit {
        takes_too_much(behaviour);
    }
}

fn takes_too_much(behaviour: Behaviour) {
    match behaviour {
        Behaviour::MemoryBomb => {
            let mut kept = Vec::new();
            loop {
                kept.push(black_box(vec![1_u8; 1 << 20]));
            }
        }
        Behaviour::DeepRecursion => {
            black_box(recurse(1));
        }
        Behaviour::GigabyteString => {
            events::emit(&Event::Message("x".repeat(1 << 30)));
        }
        Behaviour::MillionEvents => {
            for number in 0..1_000_000 {
                events::emit(&Event::Message(format!("this is event number {number}")));
            }
        }
        Behaviour::LeakedHandles => {
            for _ in 0..100_000 {
                std::mem::forget(preopens::get_directories());
            }
        }
        _ => {}
    }
}

fn recurse(depth: u64) -> u64 {
    // Never true, and the compiler can't know.
    if black_box(depth) == 0 {
        return 0;
    }
    let frame = black_box([depth; 32]);
    black_box(recurse(frame[7] + 1)) + frame[3]
}
