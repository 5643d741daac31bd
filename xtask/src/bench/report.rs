//! What was measured, when, on what, in a form that can be kept and compared.

use std::fs;
use std::path::Path;

use akbench_recorded::row::Row;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::machine::Machine;
use super::section::Section;
use crate::atomic;
use crate::failure::{Explain, Failure, Outcome};

/// The name and version of this format.
pub const SCHEMA: &str = "akbench.bench/1";

/// Everything that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// The sections that were measured, in the order of the page.
    pub sections: Vec<Part>,
}

/// One section of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// As on the command line.
    pub id: String,
    /// For people.
    pub title: String,
    /// When it was measured, in RFC 3339.
    pub taken_at: String,
    /// The commit; `None` outside of a repository. With `+` where files had been changed.
    pub commit: Option<String>,
    /// Where it was measured.
    pub machine: Machine,
    /// The figures.
    pub rows: Vec<Row>,
}

impl Part {
    /// A section that was just measured.
    pub fn now(section: Section, machine: &Machine, commit: Option<&str>, rows: Vec<Row>) -> Self {
        Self {
            id: section.id().to_owned(),
            title: section.title().to_owned(),
            taken_at: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            commit: commit.map(str::to_owned),
            machine: machine.clone(),
            rows,
        }
    }
}

impl Report {
    /// Nothing measured yet.
    pub fn new() -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            sections: Vec::new(),
        }
    }

    /// Reads one that was kept.
    ///
    /// # Errors
    ///
    /// If the file can't be read or is none.
    pub fn read(path: &Path) -> Outcome<Self> {
        let text = fs::read(path).explain(|| format!("read the report {}", path.display()))?;
        let report: Self = serde_json::from_slice(&text)
            .explain(|| format!("read {} as a report of `cargo xtask bench`", path.display()))?;
        if report.schema == SCHEMA {
            return Ok(report);
        }
        Err(Failure::new(format!(
            "{} has the schema `{}`; expected `{SCHEMA}`: measure it again",
            path.display(),
            report.schema
        )))
    }

    /// Keeps it.
    ///
    /// # Errors
    ///
    /// If the file can't be written.
    pub fn write(&self, path: &Path) -> Outcome {
        let mut text =
            serde_json::to_string_pretty(self).explain(|| "write the report as JSON".to_owned())?;
        text.push('\n');
        atomic::write(path, text.as_bytes())
    }

    /// Puts a section in the place of an older one of the same name, else at the end.
    pub fn put(&mut self, part: Part) {
        match self.sections.iter_mut().find(|old| old.id == part.id) {
            Some(old) => *old = part,
            None => self.sections.push(part),
        }
    }

    /// A figure by its name; `None` if it was not measured.
    pub fn row(&self, id: &str) -> Option<&Row> {
        let rows = self.sections.iter().flat_map(|part| &part.rows);
        rows.clone().find(|row| row.id == id)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use akbench_recorded::row::Better;

    #[test]
    fn a_section_measured_again_takes_the_place_of_the_old_one() {
        let mut report = Report::new();
        let machine = Machine::with_runs_in(Path::new("/"));
        for (section, median) in [
            (Section::Live, 1.0),
            (Section::Micro, 2.0),
            (Section::Live, 3.0),
        ] {
            let id = format!("{}.x", section.id());
            let row = Row::of(id, "x", "ms", Better::Lower, &[median]);
            report.put(Part::now(
                section,
                &machine,
                None,
                row.into_iter().collect(),
            ));
        }
        let ids: Vec<&str> = report
            .sections
            .iter()
            .map(|part| part.id.as_str())
            .collect();
        assert_eq!(ids, ["live", "micro"]);
        assert_eq!(report.row("live.x").unwrap().median, 3.0);
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
}
