//! How often the reader of the Codex adapter allocates for a line: the same on every machine.
#![allow(clippy::unwrap_used)]

use akbench_adapter_sdk::evidence::{Entry, Evidence, EvidenceError};
use akbench_adapter_sdk::lines::for_each_line;
use akbench_codex_adapter::rollout;
use akbench_codex_adapter::stream::Stream;
use akbench_recorded::{baseline, recordings};
use std::io::Read;

/// Every line is read this often, so that what is allocated once does not count.
const REPEATED: usize = 20;

struct Memory(Vec<u8>);

impl Evidence for Memory {
    fn list(&self, _folder: &str) -> Result<Vec<Entry>, EvidenceError> {
        Ok(Vec::new())
    }

    fn open(&self, _path: &str) -> Result<Option<Box<dyn Read + '_>>, EvidenceError> {
        Ok(Some(Box::new(self.0.as_slice())))
    }
}

fn allocations(lines: &[Vec<u8>], read: impl Fn(&[u8])) -> f64 {
    let text = lines.concat().repeat(REPEATED);
    let counted = allocation_counter::measure(|| read(&text));
    #[allow(clippy::cast_precision_loss)] // Far below 2^52.
    let each = counted.count_total as f64 / (lines.len() * REPEATED) as f64;
    each
}

#[test]
fn an_event_of_the_stream_takes_no_more_allocations_than_it_did() {
    let events = recordings::events(&recordings::folder()).unwrap();
    let each = allocations(&events, |text| {
        let mut stream = Stream::default();
        for_each_line(text, |line| {
            stream.push(line);
        })
        .unwrap();
    });
    baseline::check("stream_allocations_per_event", each, 0.02).unwrap();
}

#[test]
fn a_line_of_the_session_file_takes_no_more_allocations_than_it_did() {
    let lines = recordings::session_lines(&recordings::folder()).unwrap();
    let each = allocations(&lines, |text| {
        let read = rollout::read(&Memory(text.to_vec()), "rollout", None).unwrap();
        assert!(!read.faults.any());
    });
    baseline::check("session_allocations_per_line", each, 0.02).unwrap();
}
