//! Components: refused with a reason, or adapters.

use akbench::sandbox::cache::ComponentCache;
use akbench::sandbox::component::AdapterComponent;
use akbench::sandbox::engine::Sandbox;
use std::fs;
use std::sync::OnceLock;

/// The input is a component file.
pub fn component(input: &[u8]) {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    let sandbox = SANDBOX.get_or_init(|| Sandbox::new().expect("an engine"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("x.wasm");
    fs::write(&path, input).expect("a file");
    match AdapterComponent::load(&path, sandbox, &ComponentCache::new(None)) {
        Ok(component) => assert_eq!(component.bytes, input.len() as u64),
        Err(error) => assert!(error.to_string().contains("x.wasm"), "{error}"),
    }
}
