//! What a measurement reports: one figure with its spread and, where there is one, its goal.

use serde::Serialize;

/// Which way a figure should go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Unique in the report, and the same in every report: `stream.200.component`.
    pub id: String,
    /// For people.
    pub what: String,
    /// Of the figure.
    pub unit: &'static str,
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

impl Row {
    /// A figure measured several times; `None` without samples.
    pub fn of(
        id: impl Into<String>,
        what: impl Into<String>,
        unit: &'static str,
        better: Better,
        samples: &[f64],
    ) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            id: id.into(),
            what: what.into(),
            unit,
            median: median_of_sorted(&sorted)?,
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
}

/// The middle of the samples, between two of them their mean; `None` without samples.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = sorted.get(middle.wrapping_sub(1))?;
    Some(f64::midpoint(*lower, upper))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_row_holds_the_middle_and_both_ends() {
        assert_eq!(Row::of("a", "a", "ms", Better::Lower, &[]), None);
        let row = Row::of("a", "a", "ms", Better::Lower, &[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((row.median, row.min, row.max), (2.5, 1.0, 4.0));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    }
}
