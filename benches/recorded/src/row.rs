//! What a measurement reports: one figure with its spread and, where there is one, its goal.
//! Whoever measures writes rows, and whoever keeps them reads the same.

use serde::{Deserialize, Serialize};

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
        let median = median_of_sorted(&sorted)?;
        Some(Self {
            id: id.into(),
            what: what.into(),
            unit: unit.to_owned(),
            median,
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

/// The middle of the samples, between two of them their mean; `None` without samples.
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
    fn goals_are_met_at_their_very_value() {
        assert!(Goal::AtMost(1.0).is_met(1.0) && !Goal::AtMost(1.0).is_met(1.1));
        assert!(Goal::AtLeast(1.0).is_met(1.0) && !Goal::AtLeast(1.0).is_met(0.9));
    }
}
