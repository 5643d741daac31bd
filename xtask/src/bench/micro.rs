//! Single functions, measured by criterion; its estimates are read from where it leaves them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::failure::{Explain, Failure, Outcome};
use crate::steps;
use crate::workspace::Workspace;
use akbench_recorded::row::{Better, Row};

/// Runs the benchmarks and reads their estimates.
///
/// # Errors
///
/// If they do not build or run, or leave nothing.
pub fn measure(workspace: &Workspace) -> Outcome<Vec<Row>> {
    let results = workspace.target.join("criterion");
    // What an older version measured must not be taken for today's.
    if results.exists() {
        fs::remove_dir_all(&results).explain(|| format!("remove {}", results.display()))?;
    }
    let mut command = workspace.cargo("bench");
    command
        .args([
            "--package",
            "akbench-native-reader",
            "--bench",
            "micro",
            "--",
        ])
        .args([
            "--warm-up-time",
            "0.5",
            "--measurement-time",
            "2",
            "--noplot",
        ])
        // Criterion's own text is for people; standard output is for the table.
        .stdout(std::io::stderr());
    steps::run(&mut command, "run the benchmarks of single functions")?;
    let mut rows = Vec::new();
    let mut folders = vec![results.clone()];
    while let Some(folder) = folders.pop() {
        let doing = || format!("list {}", folder.display());
        for entry in fs::read_dir(&folder).explain(doing)? {
            let path = entry.explain(doing)?.path();
            if path.join("new/estimates.json").is_file() {
                rows.push(row(&path.join("new"))?);
            } else if path.is_dir() {
                folders.push(path);
            }
        }
    }
    if rows.is_empty() {
        let text = format!("criterion left no estimates in {}", results.display());
        return Err(Failure::new(text));
    }
    rows.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(rows)
}

fn row(folder: &Path) -> Outcome<Row> {
    let name = read(&folder.join("benchmark.json"))?;
    let name = name["title"].as_str().unwrap_or_default();
    let sample = read(&folder.join("sample.json"))?;
    let numbers = |key: &str| -> Vec<f64> {
        let all = sample[key].as_array().into_iter().flatten();
        all.filter_map(Value::as_f64).collect()
    };
    let each: Vec<f64> = numbers("times")
        .iter()
        .zip(numbers("iters"))
        .map(|(nanoseconds, iterations)| nanoseconds / iterations / 1e3)
        .collect();
    let id = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    Row::of(format!("micro.{id}"), name, "us", Better::Lower, &each)
        .ok_or_else(|| Failure::new(format!("criterion left no samples in {}", folder.display())))
}

fn read(path: &Path) -> Outcome<Value> {
    let text = fs::read(path).explain(|| format!("read {}", path.display()))?;
    serde_json::from_slice(&text).explain(|| format!("read {} as JSON", path.display()))
}
