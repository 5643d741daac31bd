//! What makes reading fast is in the component that was built.
#![allow(clippy::unwrap_used)]

use akbench_e2e::built;
use std::fs;
use wasmtime::component::Component;
use wasmtime::{Config, Engine};

#[test]
fn the_component_reads_with_vector_instructions() {
    let mut config = Config::new();
    config.wasm_simd(false).wasm_relaxed_simd(false);
    let without = Engine::new(&config).unwrap();
    let component = fs::read(built::adapter("codex.wasm")).unwrap();
    let refused = Component::new(&without, component).err().unwrap();
    let reason = format!("{refused:#}");
    assert!(reason.contains("SIMD"), "{reason}");
}
