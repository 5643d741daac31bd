//! The files of a project in Rust: the fake adapter, its SDK, its recordings, and a manifest that
//! makes them a workspace of its own.

use super::adapter_templates::{Template, copied, moved};

/// The files.
pub fn rust() -> Vec<Template> {
    vec![
        // Only what the project uses is left of it after the first build, in these versions.
        Template::file("Cargo.lock", include_str!("../../../Cargo.lock")),
        copied!(file, "templates/rust", "Cargo.toml"),
        copied!(file, "templates/rust", "README.md"),
        copied!(file, "templates/rust", "adapter/descriptor.json"),
        copied!(program, "templates/rust", "build.sh"),
        copied!(program, "templates/rust", "try/agent"),
        moved!("adapter", "adapters/fake", "Cargo.toml"),
        moved!("adapter", "adapters/fake", "src/adapter.rs"),
        moved!("adapter", "adapters/fake", "src/lib.rs"),
        moved!("adapter", "adapters/fake", "src/line.rs"),
        moved!("adapter", "adapters/fake", "src/observe.rs"),
        moved!("adapter", "adapters/fake", "src/parameters.rs"),
        moved!("adapter", "adapters/fake", "src/session.rs"),
        moved!("adapter", "adapters/fake", "src/simulate.rs"),
        moved!("adapter", "adapters/fake", "tests/observe.rs"),
        moved!("suite", "adapters/fake/suite", "completes/expect.json"),
        moved!("suite", "adapters/fake/suite", "completes/scenario.json"),
        moved!("suite", "adapters/fake/suite", "completes/stdout.jsonl"),
        moved!("suite", "adapters/fake/suite", "fails/expect.json"),
        moved!("suite", "adapters/fake/suite", "fails/scenario.json"),
        moved!("suite", "adapters/fake/suite", "interrupted/expect.json"),
        moved!("suite", "adapters/fake/suite", "interrupted/scenario.json"),
        moved!("suite", "adapters/fake/suite", "suite.json"),
        moved!(
            "suite",
            "adapters/fake/suite",
            "wrong-version/scenario.json"
        ),
        moved!("sdk", "adapters/sdk", "Cargo.toml"),
        moved!("sdk", "adapters/sdk", "src/evidence.rs"),
        moved!("sdk", "adapters/sdk", "src/failure.rs"),
        moved!("sdk", "adapters/sdk", "src/files.rs"),
        moved!("sdk", "adapters/sdk", "src/lib.rs"),
        moved!("sdk", "adapters/sdk", "src/lines.rs"),
        moved!("sdk", "adapters/sdk", "src/observations.rs"),
        bindings(),
    ]
}

/// The contract lies one folder nearer than in this repository.
fn bindings() -> Template {
    moved!("sdk", "adapters/sdk", "src/bindings.rs").replacing("\"../../wit\"", "\"../wit\"")
}
