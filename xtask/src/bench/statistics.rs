//! Summaries of repeated measurements.

use serde_json::{Value, json};

/// Durations in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Adds one.
    pub fn add(&mut self, milliseconds: f64) {
        self.0.push(milliseconds);
    }

    /// The middle one; between two, their mean. `None` without samples.
    pub fn median(&self) -> Option<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let upper = *sorted.get(middle)?;
        if sorted.len() % 2 == 1 {
            return Some(upper);
        }
        sorted
            .get(middle.wrapping_sub(1))
            .map(|lower| f64::midpoint(*lower, upper))
    }

    /// The smallest. `None` without samples.
    pub fn min(&self) -> Option<f64> {
        self.0.iter().copied().min_by(f64::total_cmp)
    }

    /// The greatest. `None` without samples.
    pub fn max(&self) -> Option<f64> {
        self.0.iter().copied().max_by(f64::total_cmp)
    }

    /// Count, median, min, max.
    pub fn to_json(&self) -> Value {
        json!({
            "samples": self.0.len(),
            "median_ms": self.median(),
            "min_ms": self.min(),
            "max_ms": self.max(),
        })
    }

    /// A line of a table: name, median, min, max.
    pub fn print(&self, name: &str) {
        let shown =
            |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
        println!(
            "  {name:<44} {:>9} {:>9} {:>9}",
            shown(self.median()),
            shown(self.min()),
            shown(self.max())
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        let mut samples = Samples::default();
        assert_eq!(samples.median(), None);
        for value in [4.0, 1.0, 3.0] {
            samples.add(value);
        }
        assert_eq!(samples.median(), Some(3.0));
        samples.add(2.0);
        assert_eq!(
            (samples.median(), samples.min(), samples.max()),
            (Some(2.5), Some(1.0), Some(4.0))
        );
    }
}
