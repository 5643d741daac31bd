//! An adapter file that is not what it should be gets its own clear error, and nothing is run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use akbench_e2e::built;
use akbench_e2e::record::runs;
use akbench_e2e::scene::{Ran, Scene};
use akbench_e2e::shown::shown;
use akbench_e2e::stub_agent;
use insta::assert_snapshot;
use serde_json::json;
use std::fs;
use std::path::Path;
use wasm_encoder::{
    Component, ComponentExportKind, ComponentExportSection, ComponentImportSection,
    ComponentInstanceSection, ComponentTypeRef, ComponentTypeSection, InstanceType,
};

const CONTRACT: &str = "akbench:agent/agent@0.1.0";

/// A component that exports and imports empty interfaces of these names.
fn component(exports: &[&str], imports: &[&str]) -> Vec<u8> {
    let mut component = Component::new();
    if !imports.is_empty() {
        let mut types = ComponentTypeSection::new();
        types.instance(&InstanceType::new());
        component.section(&types);
        let mut section = ComponentImportSection::new();
        for import in imports {
            section.import(*import, ComponentTypeRef::Instance(0));
        }
        component.section(&section);
    }
    if !exports.is_empty() {
        let mut instances = ComponentInstanceSection::new();
        let nothing: [(&str, ComponentExportKind, u32); 0] = [];
        instances.export_items(nothing);
        component.section(&instances);
        let mut section = ComponentExportSection::new();
        let own = u32::try_from(imports.len()).expect("a small number");
        for export in exports {
            section.export(*export, ComponentExportKind::Instance, own, None);
        }
        component.section(&section);
    }
    component.finish()
}

fn run(scene: &Scene, adapter: &str, with_descriptor: bool) -> Ran {
    let mark = json!({"write_file": {"path": "started", "text": "x"}});
    let program = scene.stub(stub_agent::NAME, &json!({"cases": [{"steps": [mark]}]}));
    let mut command = scene.akbench(["run", "--json", "--in-place", "--out", "runs"]);
    command.args(["--adapter", adapter, "--workspace", "workspace"]);
    command.args(["--task-file", "task.txt", "--runtime", "llm-router"]);
    if with_descriptor {
        let descriptor = built::repository().join("descriptors/agents/codex.json");
        command.arg("--descriptor").arg(descriptor);
        command.arg("--program");
        command.arg(format!("codex={}", program.display()));
    }
    scene.run(&mut command)
}

fn refusal(scene: &Scene, ran: &Ran) -> String {
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        !scene.path("workspace/started").exists(),
        "the program was started"
    );
    // Where agent and file are there, that is a run that was refused; else it is no run at all.
    let Some((problems, _)) = ran.stderr.split_once("refused: nothing was started") else {
        assert_eq!(ran.stdout, "");
        assert_eq!(runs(&scene.path("runs")), [] as [&Path; 0]);
        return shown(scene, &ran.stderr);
    };
    let result = ran.result();
    assert_eq!(result["status"], "refused");
    assert_eq!(result["agent"]["component_sha256"], json!(null));
    shown(scene, problems)
}

/// Runs with a file of these bytes as the adapter.
fn refused(bytes: &[u8]) -> String {
    let scene = Scene::new();
    scene.write("odd.wasm", bytes);
    let ran = run(&scene, "odd.wasm", true);
    refusal(&scene, &ran)
}

fn real_adapter() -> Vec<u8> {
    fs::read(built::adapter("codex.wasm")).expect("the production adapter")
}

#[test]
fn a_file_that_is_missing_or_a_folder_is_refused() {
    let scene = Scene::new();
    let ran = run(&scene, "nowhere.wasm", true);
    assert_snapshot!(refusal(&scene, &ran), @"error: the adapter `nowhere.wasm` can't be read: No such file or directory (os error 2); `--adapter` expects a WebAssembly component");
    let ran = run(&scene, "workspace", true);
    assert_snapshot!(refusal(&scene, &ran), @"error: the adapter `workspace` is no regular file: `--adapter` expects a WebAssembly component");
}

#[test]
fn a_file_that_is_empty_is_refused() {
    assert_snapshot!(refused(b""), @"error: the adapter `odd.wasm` is empty; expected a WebAssembly component");
}

#[test]
fn a_file_of_another_kind_is_refused_by_its_kind() {
    assert_snapshot!(refused(b"#!/bin/sh\nexec codex\n"), @"error: the adapter `odd.wasm` is a text file, not a WebAssembly component: it must begin with the bytes 00 61 73 6d");
    assert_snapshot!(refused(b"(component)"), @"error: the adapter `odd.wasm` is WebAssembly text, not a WebAssembly component: it must begin with the bytes 00 61 73 6d");
    assert_snapshot!(refused(b"\x7fELF\x02\x01\x01\xff"), @"error: the adapter `odd.wasm` is a native program or library, not a WebAssembly component: it must begin with the bytes 00 61 73 6d");
    assert_snapshot!(refused(b"\xff\xd8\xff\xe0"), @"error: the adapter `odd.wasm` is some other binary file, not a WebAssembly component: it must begin with the bytes 00 61 73 6d");
}

#[test]
fn a_truncated_file_is_refused_wherever_it_is_cut() {
    let whole = real_adapter();
    // Eight bytes are a whole component that holds nothing, so they are no cut.
    for length in [3, 4, 6, 9, 100, whole.len() / 2, whole.len() - 1] {
        let said = refused(&whole[..length]);
        assert!(said.contains("truncated"), "cut at {length}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    assert_snapshot!(refused(&whole[..6]), @"error: the adapter `odd.wasm` is truncated (6 bytes): the header is incomplete; build or copy it again");
}

#[test]
fn a_damaged_file_is_refused() {
    let mut damaged = real_adapter();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xff);
    let said = refused(&damaged);
    assert!(
        said.starts_with("error: the adapter `odd.wasm` is "),
        "{said}"
    );
}

#[test]
fn a_core_module_is_refused() {
    assert_snapshot!(refused(b"\0asm\x01\0\0\0"), @"error: the adapter `odd.wasm` is a core WebAssembly module, not a component; turn it into one with `wasm-tools component new` or a toolchain that builds components");
}

#[test]
fn a_component_of_another_world_is_refused_with_what_it_exports() {
    assert_snapshot!(refused(&component(&["wasi:cli/run@0.2.0"], &[])), @"error: the component `odd.wasm` is no agent adapter: it does not export `akbench:agent/agent`; it exports `wasi:cli/run@0.2.0`");
    assert_snapshot!(refused(&component(&[], &[])), @"error: the component `odd.wasm` is no agent adapter: it does not export `akbench:agent/agent`; it exports nothing");
}

#[test]
fn a_component_of_another_contract_version_is_refused_with_those_supported() {
    assert_snapshot!(refused(&component(&["akbench:agent/agent@0.9.0"], &[])), @"error: the adapter `odd.wasm` implements version 0.9.0 of the contract akbench:agent; this akbench supports 0.1.0");
}

#[test]
fn a_component_that_wants_more_than_an_adapter_gets_is_refused_with_each_import() {
    let imports = [
        "evil:host/run",
        "wasi:http/types@0.2.0",
        "wasi:cli/environment@0.2.0",
    ];
    assert_snapshot!(refused(&component(&[CONTRACT], &imports)), @"error: the adapter `odd.wasm` imports `evil:host/run`, `wasi:http/types@0.2.0`, which akbench does not grant; an adapter may import akbench:agent/process, akbench:agent/events and WASI 0.2");
}

#[test]
fn a_component_that_lacks_the_contracts_operations_is_refused() {
    assert_snapshot!(refused(&component(&[CONTRACT], &[])), @"error: the adapter `odd.wasm` exports akbench:agent/agent@0.1.0, but not as that version of the contract has it: instance export `akbench:agent/agent@0.1.0` does not have export `validate-environment`; build it against the published WIT");
}

#[test]
fn an_adapter_without_a_descriptor_is_refused_with_what_to_pass() {
    let scene = Scene::new();
    scene.write("mine.wasm", real_adapter());
    let ran = run(&scene, "mine.wasm", false);
    assert_snapshot!(refusal(&scene, &ran), @"error: the adapter `mine.wasm` has no descriptor: the catalog lists no component `mine.wasm`, only `codex.wasm`, `fake.wasm`; pass the agent's descriptor with `--descriptor FILE`");
}

#[test]
fn a_descriptor_that_is_missing_is_refused() {
    let scene = Scene::new();
    scene.write("mine.wasm", real_adapter());
    let mut command = scene.akbench(["run", "--adapter", "mine.wasm", "--workspace", "workspace"]);
    command.args(["--task-file", "task.txt", "--descriptor", "mine.json"]);
    let ran = scene.run(&mut command);
    assert_snapshot!(refusal(&scene, &ran), @"error: mine.json: can't be read: No such file or directory (os error 2)");
}
