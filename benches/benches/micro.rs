//! Single functions on the path of every event and of every session.
#![allow(missing_docs, clippy::unwrap_used)]

use akbench::process::redaction::Redactor;
use akbench::sandbox::cache::ComponentCache;
use akbench::sandbox::component::AdapterComponent;
use akbench::sandbox::engine::Sandbox;
use akbench_adapter_sdk::lines::LineSplitter;
use akbench_bench::replayed::Replays;
use akbench_codex_adapter::stream::Stream;
use akbench_native_reader::recordings;
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is read at once while an agent works, at most.
const CHUNK: usize = 256 << 10;

fn chunk() -> Vec<u8> {
    let lines = recordings::events(&recordings::folder()).unwrap().concat();
    let mut chunk = lines.repeat(CHUNK / lines.len() + 1);
    chunk.truncate(CHUNK);
    chunk
}

fn reading(criterion: &mut Criterion) {
    let chunk = chunk();
    criterion.bench_function("split 256 KiB of events into lines", |bencher| {
        bencher.iter(|| {
            let mut splitter = LineSplitter::default();
            let mut bytes = 0;
            splitter.push(black_box(&chunk), |line| bytes += line.bytes.len());
            bytes
        });
    });
    let events = recordings::events(&recordings::folder()).unwrap();
    let text = events.concat();
    let name = format!("read {} recorded events (native)", events.len());
    criterion.bench_function(&name, |bencher| {
        bencher.iter(|| {
            let mut stream = Stream::default();
            let mut splitter = LineSplitter::default();
            splitter.push(black_box(&text), |line| {
                black_box(stream.push(line));
            });
            stream
        });
    });
}

fn masking(criterion: &mut Criterion) {
    let chunk = chunk();
    for (name, secrets) in [
        ("mask 256 KiB of events, no secret", Vec::new()),
        (
            "mask 256 KiB of events, one secret",
            vec![b"sk-a-secret-of-a-usual-length-0123456789".as_slice()],
        ),
    ] {
        let redactor = Redactor::new(secrets).unwrap();
        criterion.bench_function(name, |bencher| {
            let mut stream = redactor.stream();
            bencher.iter(|| black_box(stream.push(black_box(&chunk)).len()));
        });
    }
}

fn adapters() -> PathBuf {
    // Two above the benchmark itself, which lies in `release/deps`.
    let own = std::env::current_exe().unwrap();
    own.ancestors()
        .nth(3)
        .map(Path::to_owned)
        .unwrap()
        .join("adapters")
}

fn calling(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _inside = runtime.enter();
    let sandbox = Sandbox::new().unwrap();
    let file = adapters().join("codex.wasm");
    let component = AdapterComponent::load(&file, &sandbox, &ComponentCache::new(None)).unwrap();
    let replays = Replays::new(&sandbox, &component, None).unwrap();
    criterion.bench_function("instantiate, call once, drop", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                let (mut instance, _interrupter) = replays.instantiate().await.unwrap();
                replays.start(&mut instance).await.unwrap();
            });
        });
    });
    let (mut instance, _interrupter) = runtime.block_on(replays.instantiate()).unwrap();
    runtime.block_on(replays.start(&mut instance)).unwrap();
    criterion.bench_function("call get-status", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                instance.begin_operation(Duration::from_secs(60));
                let status = instance.status().await.unwrap();
                instance.end_operation();
                status
            })
        });
    });
}

criterion_group!(benches, reading, masking, calling);
criterion_main!(benches);
