//! The component's memory does not grow with what it reads, nor from one change to the next.
#![allow(clippy::unwrap_used)]

use akbench::sandbox::cache::ComponentCache;
use akbench::sandbox::component::AdapterComponent;
use akbench::sandbox::engine::Sandbox;
use akbench_bench::replayed::Replays;
use akbench_e2e::built;
use akbench_recorded::baseline;
use akbench_recorded::evidence::{Long, lay_out};

#[tokio::test]
async fn the_component_s_memory_does_not_grow_with_the_length_of_what_it_reads() {
    let sandbox = Sandbox::new().unwrap();
    let file = built::adapter("codex.wasm");
    let cache = file
        .ancestors()
        .nth(2)
        .unwrap()
        .join("test-cache/akbench/components");
    let component =
        AdapterComponent::load(&file, &sandbox, &ComponentCache::new(Some(cache))).unwrap();
    for long in [Long::Stream, Long::SessionFile] {
        let mut used = Vec::new();
        for bytes in [2_000_000, 20_000_000] {
            let folder = tempfile::tempdir().unwrap();
            lay_out(folder.path(), long, bytes).unwrap();
            let replays = Replays::new(&sandbox, &component, Some(folder.path())).unwrap();
            let (observed, memory) = replays.observe().await.unwrap();
            assert!(
                observed.final_message.is_some(),
                "{long:?}: nothing was read"
            );
            used.push(memory);
        }
        assert_eq!(
            used[0], used[1],
            "{long:?}: ten times the length took more memory"
        );
        #[allow(clippy::cast_precision_loss)] // Far below 2^52.
        let mebibytes = used[0] as f64 / f64::from(1 << 20);
        baseline::check("guest_memory_mib", mebibytes, 0.05).unwrap();
    }
}
