//! Counts that do not drift, and what they were when somebody last looked.
//!
//! They are the same on a busy and on an idle machine, so a test can assert them. A count that
//! rose is a regression; one that fell well below what is recorded is to be recorded, so that
//! it does not rise again unnoticed.

use serde_json::Value;
use std::fs;
use std::path::Path;

/// A count that fell by more than this has to be recorded.
const FELL: f64 = 0.8;

/// Compares a count with the recorded one; `slack` is how much of it may come and go, for
/// example 0.05.
///
/// # Errors
///
/// In words: that it rose or fell, and what to do.
pub fn check(name: &str, count: f64, slack: f64) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../baselines.json");
    let text = fs::read(&path).map_err(|error| format!("`{}`: {error}", path.display()))?;
    let all: Value =
        serde_json::from_slice(&text).map_err(|error| format!("`{}`: {error}", path.display()))?;
    let recorded = all[name]
        .as_f64()
        .ok_or_else(|| format!("`{}` records no number `{name}`", path.display()))?;
    compare(name, count, recorded, slack)
}

fn compare(name: &str, count: f64, recorded: f64, slack: f64) -> Result<(), String> {
    if count > recorded * (1.0 + slack) {
        return Err(format!(
            "{name} rose from {recorded} to {count:.3}: find out why; if it has to be so, record \
             it in benches/baselines.json and say why in the commit"
        ));
    }
    if count < recorded * FELL * (1.0 - slack) {
        return Err(format!(
            "{name} fell from {recorded} to {count:.3}: record that in benches/baselines.json, so \
             that it stays so"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_may_neither_rise_nor_fall_unnoticed() {
        assert!(compare("n", 10.4, 10.0, 0.05).is_ok());
        assert!(
            compare("n", 10.6, 10.0, 0.05).is_err_and(|text| text.contains("rose from 10 to 10.6"))
        );
        assert!(compare("n", 8.0, 10.0, 0.0).is_ok());
        assert!(compare("n", 7.0, 10.0, 0.0).is_err_and(|text| text.contains("fell")));
        assert!(compare("n", 0.0, 0.0, 0.0).is_ok());
        assert!(check("nothing of this name", 0.0, 0.0).is_err());
    }
}
