//! The time that the host adds to a program that does nothing.
//!
//! Wall time of `akbench run`, from exec to exit, less its probes (`phases.validate`: they
//! start the agent's program too), less the wall time of the same program started by hand.

use serde_json::{Value, json};

use super::rig::{self, Rig};
use super::scenario;
use super::statistics::Samples;
use crate::failure::{Explain, Outcome};

const PHASES: [&str; 5] = ["validate", "start", "work", "collect", "close"];

/// All samples, in milliseconds.
pub struct Overhead {
    run: Samples,
    by_hand: Samples,
    /// Run less probes less the median of `by_hand`.
    added: Samples,
    phases: Vec<(&'static str, Samples)>,
}

/// Measures `runs` times; one run before that fills the cache of compiled components.
///
/// # Errors
///
/// If a run fails or its result cannot be read.
pub fn measure(rig: &Rig, runs: u32) -> Outcome<Overhead> {
    let stub = rig.stub("trivial", &scenario::trivial())?;
    rig::timed(rig.run(&stub))?;

    let mut by_hand = Samples::default();
    let mut walls = Vec::new();
    let mut phases: Vec<_> = PHASES
        .iter()
        .map(|phase| (*phase, Samples::default()))
        .collect();
    for _ in 0..runs {
        // In turns, so that both see the same machine.
        by_hand.add(milliseconds(rig::timed(stub.by_hand())?.0));
        let (wall, stdout) = rig::timed(rig.run(&stub))?;
        let result: Value = serde_json::from_slice(&stdout)
            .explain(|| "read the result of a measured run as JSON".to_owned())?;
        for (phase, samples) in &mut phases {
            // null: not known, so no sample either.
            if let Some(value) = result["phases"][*phase].as_f64() {
                samples.add(value);
            }
        }
        let probes = result["phases"]["validate"].as_f64().unwrap_or(0.0);
        walls.push((milliseconds(wall), probes));
    }

    let program = by_hand.median().unwrap_or(0.0);
    let (mut run, mut added) = (Samples::default(), Samples::default());
    for (wall, probes) in walls {
        run.add(wall);
        added.add(wall - probes - program);
    }
    Ok(Overhead {
        run,
        by_hand,
        added,
        phases,
    })
}

fn milliseconds(duration: std::time::Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

impl Overhead {
    /// Prints a table.
    pub fn print(&self) {
        println!("Host overhead, trivial program as the agent, component from the cache (ms)");
        println!("  {:<44} {:>9} {:>9} {:>9}", "", "median", "min", "max");
        self.run.print("akbench run, exec to exit");
        for (phase, samples) in &self.phases {
            let name = if *phase == "validate" {
                "validate (probes)"
            } else {
                phase
            };
            samples.print(&format!("  of which {name}"));
        }
        self.by_hand.print("the program by hand");
        self.added
            .print("added by the host: run - probes - program");
    }

    /// The same as JSON.
    pub fn to_json(&self) -> Value {
        let phases: serde_json::Map<String, Value> = self
            .phases
            .iter()
            .map(|(phase, samples)| ((*phase).to_owned(), samples.to_json()))
            .collect();
        json!({
            "run": self.run.to_json(),
            "phases": phases,
            "program_by_hand": self.by_hand.to_json(),
            "added_by_host": self.added.to_json(),
        })
    }
}
