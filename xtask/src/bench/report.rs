//! What was measured, when, on what, in a form that can be kept and compared.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::machine::Machine;
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

/// One figure, its spread and its goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Unique in the report, and the same in every report.
    pub id: String,
    /// For people.
    pub what: String,
    /// Of the figure; empty for ratios.
    pub unit: String,
    /// The middle of the samples.
    pub median: f64,
    /// The smallest sample.
    pub min: f64,
    /// The greatest sample.
    pub max: f64,
    /// How many samples there are.
    pub samples: usize,
    /// Which way it should go.
    pub better: Better,
    /// `None` where nothing was promised.
    pub goal: Option<Goal>,
}

/// Which way a figure should go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Times and sizes.
    Lower,
    /// Rates and ratios of rates.
    Higher,
    /// Told for orientation only.
    Neither,
}

/// What a figure is meant to reach.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
}

impl Goal {
    /// Whether a figure reaches it.
    pub fn is_met(self, figure: f64) -> bool {
        match self {
            Self::AtMost(most) => figure <= most,
            Self::AtLeast(least) => figure >= least,
        }
    }
}

impl Row {
    /// A figure measured several times; `None` without samples.
    pub fn of(
        id: impl Into<String>,
        what: impl Into<String>,
        unit: &str,
        better: Better,
        samples: &[f64],
    ) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let upper = *sorted.get(middle)?;
        let lower = match sorted.len() % 2 {
            1 => upper,
            _ => *sorted.get(middle.wrapping_sub(1))?,
        };
        Some(Self {
            id: id.into(),
            what: what.into(),
            unit: unit.to_owned(),
            median: f64::midpoint(lower, upper),
            min: *sorted.first()?,
            max: *sorted.last()?,
            samples: sorted.len(),
            better,
            goal: None,
        })
    }

    /// The same with a goal.
    #[must_use]
    pub fn with_goal(mut self, goal: Goal) -> Self {
        self.goal = Some(goal);
        self
    }

    /// The figure with its unit, for people.
    pub fn shown(&self) -> String {
        format!("{} {}", figure(self.median), self.unit)
            .trim_end()
            .to_owned()
    }
}

impl Part {
    /// A section that was just measured.
    pub fn now(id: &str, title: &str, commit: Option<&str>, rows: Vec<Row>) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            taken_at: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            commit: commit.map(str::to_owned),
            machine: Machine::this(),
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

/// With as many digits as mean something: three.
pub fn figure(value: f64) -> String {
    let size = value.abs();
    let text = if size >= 100.0 {
        format!("{value:.0}")
    } else if size >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    };
    // Thousands are told apart, and nothing is less than nothing.
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) if digits.chars().any(|digit| digit > '0') => ("-", digits),
        Some(digits) => ("", digits),
        None => ("", text.as_str()),
    };
    let whole = digits.split('.').next().unwrap_or(digits);
    if whole.len() <= 4 {
        return format!("{sign}{digits}");
    }
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn figures_have_three_digits_and_thousands_are_told_apart() {
        let shown = [0.7, 12.345, 123.4, 1234.0, 1_234_567.0, -0.001, -12.0].map(figure);
        assert_eq!(
            shown,
            ["0.70", "12.3", "123", "1234", "1,234,567", "0.00", "-12.0"]
        );
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        let row = Row::of("a", "a", "ms", Better::Lower, &[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((row.median, row.min, row.max), (2.5, 1.0, 4.0));
        assert_eq!(Row::of("a", "a", "ms", Better::Lower, &[]), None);
    }

    #[test]
    fn a_section_measured_again_takes_the_place_of_the_old_one() {
        let mut report = Report::new();
        for (id, median) in [("a", 1.0), ("b", 2.0), ("a", 3.0)] {
            let row = Row::of(format!("{id}.x"), id, "ms", Better::Lower, &[median]);
            report.put(Part::now(id, id, None, row.into_iter().collect()));
        }
        let ids: Vec<&str> = report
            .sections
            .iter()
            .map(|part| part.id.as_str())
            .collect();
        assert_eq!(ids, ["a", "b"]);
        assert_eq!(report.row("a.x").unwrap().median, 3.0);
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }

    #[test]
    fn goals_are_met_at_their_very_value() {
        assert!(Goal::AtMost(1.0).is_met(1.0) && !Goal::AtMost(1.0).is_met(1.1));
        assert!(Goal::AtLeast(1.0).is_met(1.0) && !Goal::AtLeast(1.0).is_met(0.9));
    }
}
