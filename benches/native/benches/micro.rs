//! Single functions on the path of every line.
#![allow(missing_docs, clippy::unwrap_used)]

use akbench_adapter_sdk::evidence::{Entry, Evidence, EvidenceError};
use akbench_adapter_sdk::lines::LineSplitter;
use akbench_codex_adapter::rollout;
use akbench_codex_adapter::stream::Stream;
use akbench_recorded::recordings;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::io::Read;

struct Memory(Vec<u8>);

impl Evidence for Memory {
    fn list(&self, _folder: &str) -> Result<Vec<Entry>, EvidenceError> {
        Ok(Vec::new())
    }

    fn open(&self, _path: &str) -> Result<Option<Box<dyn Read + '_>>, EvidenceError> {
        Ok(Some(Box::new(self.0.as_slice())))
    }
}

fn reading(criterion: &mut Criterion) {
    let events = recordings::events(&recordings::folder()).unwrap();
    let session = recordings::session_lines(&recordings::folder()).unwrap();
    let mut group = criterion.benchmark_group("native");
    let text = events.concat();
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function(
        format!("split {} events into lines", events.len()),
        |bencher| {
            bencher.iter(|| {
                let mut bytes = 0;
                LineSplitter::default().push(black_box(&text), |line| bytes += line.bytes.len());
                bytes
            });
        },
    );
    group.bench_function(format!("read {} events", events.len()), |bencher| {
        bencher.iter(|| {
            let mut stream = Stream::default();
            LineSplitter::default().push(black_box(&text), |line| {
                black_box(stream.push(line));
            });
            stream
        });
    });
    let text = Memory(session.concat());
    group.throughput(Throughput::Bytes(text.0.len() as u64));
    group.bench_function(
        format!("read {} lines of session files", session.len()),
        |bencher| {
            bencher.iter(|| rollout::read(black_box(&text), "rollout", None).unwrap());
        },
    );
    group.finish();
}

criterion_group!(benches, reading);
criterion_main!(benches);
