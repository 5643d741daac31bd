//! Version 0.1.0 of the contract: generated bindings, and their translation to the
//! version-independent types.

mod events;
mod instance;
mod process;
pub mod translate;

pub use instance::{
    AgentConfig, AgentStatus, Instance, InstanceOptions, Prepared, Progress, RuntimeBinding, Task,
};

/// Generated from `wit/`.
#[allow(missing_docs, clippy::all, clippy::pedantic)]
pub mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "adapter",
        imports: {
            "akbench:agent/process.locate": trappable,
            "akbench:agent/process.[method]child.close-stdin": trappable,
            "akbench:agent/process": async | trappable,
            default: trappable,
        },
        exports: { default: async },
        with: { "akbench:agent/process.child": super::process::GuestChild },
    });
}
