//! A recording of the agent's program, and variations of it.
//!
//! The format is that of the stub's `scenario.json`; the suite reads only what it varies. By
//! convention the last case plays the task, and all before it are probes.

use super::stub_folder::StubError;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How much of the task's output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The first half of its lines, and no step after them.
    Half,
    /// All but the last line, and all other steps.
    AllButTheLastLine,
}

/// A scenario, ready to be installed for a program.
#[derive(Debug, Clone)]
pub struct Scenario {
    folder: PathBuf,
    document: Value,
    added: Vec<(String, Vec<u8>)>,
}

impl Scenario {
    /// Reads a scenario folder.
    ///
    /// # Errors
    ///
    /// If `scenario.json` is missing or is no scenario.
    pub fn load(folder: &Path) -> Result<Self, StubError> {
        let path = folder.join("scenario.json");
        let wrong = |problem: String| StubError::new(&path, problem);
        let bytes = fs::read(&path).map_err(|error| {
            wrong(format!(
                "can't be read: {error}; put the recording there, in the format of the stub"
            ))
        })?;
        let document: Value = serde_json::from_slice(&bytes)
            .map_err(|error| wrong(format!("is no JSON: {error}")))?;
        let steps = document["cases"]
            .as_array()
            .and_then(|cases| cases.last())
            .and_then(|case| case["steps"].as_array());
        if steps.is_none() {
            return Err(wrong(
                "has no list `cases` whose last entry, the task, has a list `steps`".to_owned(),
            ));
        }
        Ok(Self {
            folder: folder.to_owned(),
            document,
            added: Vec::new(),
        })
    }

    /// The steps of the task.
    pub fn task_steps(&self) -> &[Value] {
        self.document["cases"]
            .as_array()
            .and_then(|cases| cases.last())
            .and_then(|case| case["steps"].as_array())
            .map_or(&[], Vec::as_slice)
    }

    fn task_steps_mut(&mut self) -> Option<&mut Vec<Value>> {
        let cases = self.document["cases"].as_array_mut()?;
        cases.last_mut()?["steps"].as_array_mut()
    }

    /// True if probes are played besides the task.
    pub fn has_probes(&self) -> bool {
        self.document["cases"]
            .as_array()
            .is_some_and(|c| c.len() > 1)
    }

    /// Plays these steps instead of every probe's.
    pub fn with_probes(mut self, steps: &[Value]) -> Self {
        if let Some(cases) = self.document["cases"].as_array_mut() {
            let probes = cases.len().saturating_sub(1);
            for case in &mut cases[..probes] {
                case["steps"] = json!(steps);
            }
        }
        self
    }

    /// Plays these steps before the task's own.
    pub fn begin_with(mut self, steps: impl IntoIterator<Item = Value>) -> Self {
        if let Some(own) = self.task_steps_mut() {
            own.splice(0..0, steps);
        }
        self
    }

    /// Plays these steps after the task's own.
    pub fn end_with(mut self, steps: impl IntoIterator<Item = Value>) -> Self {
        if let Some(own) = self.task_steps_mut() {
            own.extend(steps);
        }
        self
    }

    /// Plays these steps before the first `hang` of the task.
    pub fn before_hang(mut self, steps: impl IntoIterator<Item = Value>) -> Self {
        if let Some(own) = self.task_steps_mut() {
            let at = own.iter().position(|step| step == "hang");
            let at = at.unwrap_or(own.len());
            own.splice(at..at, steps);
        }
        self
    }

    /// Removes the steps of this kind from the task.
    pub fn without(mut self, kind: &str) -> Self {
        if let Some(own) = self.task_steps_mut() {
            own.retain(|step| step.get(kind).is_none());
        }
        self
    }

    /// Cuts the task's output.
    ///
    /// # Errors
    ///
    /// If the task has no `stdout` step, or its content can't be read.
    pub fn cut(mut self, keep: Keep) -> Result<Self, StubError> {
        let path = self.folder.join("scenario.json");
        let last = self
            .task_steps()
            .iter()
            .rposition(|step| step.get("stdout").is_some());
        let Some(at) = last else {
            let problem = "plays a task without a `stdout` step; add what the agent printed";
            return Err(StubError::new(&path, problem.to_owned()));
        };
        let output = self.task_steps()[at]["stdout"].clone();
        let bytes = self.content(&output)?;
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        match keep {
            Keep::Half => lines.truncate(lines.len() / 2),
            Keep::AllButTheLastLine => drop(lines.pop()),
        }
        let name = "akbench-cut-output".to_owned();
        let kept = lines.concat();
        let mut step = json!({"file": name});
        if let Some(delay) = output.get("delay_ms") {
            step["delay_ms"] = delay.clone();
        }
        if let Some(own) = self.task_steps_mut() {
            own[at] = json!({"stdout": step});
            if keep == Keep::Half {
                own.truncate(at + 1);
            }
        }
        self.added.push((name, kept));
        Ok(self)
    }

    fn content(&self, output: &Value) -> Result<Vec<u8>, StubError> {
        if let Some(text) = output["text"].as_str() {
            return Ok(text.as_bytes().to_vec());
        }
        if let Some(file) = output["file"].as_str() {
            let path = self.folder.join(file);
            return fs::read(&path)
                .map_err(|error| StubError::new(&path, format!("can't be read: {error}")));
        }
        serde_json::from_value(output["bytes"].clone()).map_err(|_| {
            let problem = "has a `stdout` step without `text`, `file` or `bytes`";
            StubError::new(&self.folder.join("scenario.json"), problem.to_owned())
        })
    }

    /// Puts the stub in place as `program`, to play this scenario.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn install(&self, stub: &Path, program: &Path) -> io::Result<()> {
        let mut folder = program.as_os_str().to_owned();
        folder.push(".scenario");
        let folder = PathBuf::from(folder);
        copy_files(&self.folder, &folder)?;
        for (name, bytes) in &self.added {
            fs::write(folder.join(name), bytes)?;
        }
        fs::write(
            folder.join("scenario.json"),
            serde_json::to_vec_pretty(&self.document)?,
        )?;
        // A hard link: a copy could still be open for writing in a process just forked.
        fs::hard_link(stub, program)
    }
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_files(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn scenario(steps: &Value) -> (tempfile::TempDir, Scenario) {
        let folder = tempfile::tempdir().unwrap();
        let document = json!({"cases": [
            {"when": {"args_are": ["--version"]}, "steps": [{"stdout": {"text": "1\n"}}]},
            {"steps": steps},
        ]});
        fs::write(folder.path().join("scenario.json"), document.to_string()).unwrap();
        let scenario = Scenario::load(folder.path()).unwrap();
        (folder, scenario)
    }

    #[test]
    fn half_of_the_output_drops_what_comes_after_it() {
        let steps = json!([{"stdout": {"text": "a\nb\nc\nd\n"}}, {"exit": 1}]);
        let (_folder, scenario) = scenario(&steps);
        let cut = scenario.cut(Keep::Half).unwrap();
        assert_eq!(cut.task_steps().len(), 1);
        assert_eq!(cut.added[0].1, b"a\nb\n");
    }

    #[test]
    fn the_last_line_goes_and_the_exit_stays() {
        let steps = json!([{"stdout": {"text": "a\nb"}}, {"exit": 1}]);
        let (_folder, scenario) = scenario(&steps);
        let cut = scenario.cut(Keep::AllButTheLastLine).unwrap();
        assert_eq!(cut.added[0].1, b"a\n");
        assert_eq!(cut.task_steps()[1], json!({"exit": 1}));
    }

    #[test]
    fn steps_are_put_before_the_first_hang() {
        let (_folder, scenario) = scenario(&json!([{"exit": 0}, "hang", "hang"]));
        let varied = scenario.before_hang([json!("stop_self")]);
        assert_eq!(varied.task_steps()[1], "stop_self");
        assert_eq!(varied.task_steps().len(), 4);
    }

    #[test]
    fn a_folder_without_a_scenario_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = Scenario::load(folder.path()).unwrap_err().to_string();
        assert!(error.contains("scenario.json"), "{error}");
    }
}
