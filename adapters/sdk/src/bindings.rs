//! The contract as Rust types, generated from `wit/agent.wit`.
//!
//! An adapter implements `exports::akbench::agent::agent::Guest` and calls
//! `akbench_adapter_sdk::bindings::export!(Adapter with_types_in akbench_adapter_sdk::bindings)`.

#![allow(missing_docs, unsafe_code, clippy::all)]

wit_bindgen::generate!({
    world: "adapter",
    path: "../../wit",
    pub_export_macro: true,
    export_macro_name: "export",
    additional_derives: [PartialEq],
});
