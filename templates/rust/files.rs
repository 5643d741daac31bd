// The files of a project in Rust: the fake adapter, its SDK and its recordings, under a manifest
// that makes them a workspace of its own. An expression that `akbench adapter new` includes, which
// itself knows no adapter.
[
    // Only what the project uses is left of it after the first build, in these versions.
    copied!(file, ".", "Cargo.lock"),
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
    moved!("adapter", "adapters/fake", "src/running.rs"),
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
    moved!("suite", "adapters/fake/suite", "wrong-version/scenario.json"),
    moved!("sdk", "adapters/sdk", "Cargo.toml"),
    moved!("sdk", "adapters/sdk", "src/evidence.rs"),
    moved!("sdk", "adapters/sdk", "src/failure.rs"),
    moved!("sdk", "adapters/sdk", "src/files.rs"),
    moved!("sdk", "adapters/sdk", "src/lib.rs"),
    moved!("sdk", "adapters/sdk", "src/lines.rs"),
    moved!("sdk", "adapters/sdk", "src/observations.rs"),
    // The contract lies one folder nearer than in this repository.
    moved!("sdk", "adapters/sdk", "src/bindings.rs").replacing("\"../../wit\"", "\"../wit\""),
]
.map(|file| file.of_crate("akbench-fake-adapter"))
