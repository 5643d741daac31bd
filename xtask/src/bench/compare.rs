//! Two reports side by side.
//!
//! Times of different days differ by what else a machine does; ratios, and figures of the same
//! hour, can be compared. Nothing fails here: a person decides what a difference means.

use super::report::Report;
use akbench_recorded::row::{Better, Row, figure};

/// Differences up to here are called noise.
const NOISE: f64 = 0.10;

/// Prints what both reports have, the older one's figures first.
pub fn print(before: &Report, after: &Report) {
    println!("\nCompared with the earlier report (earlier, now, now / earlier)");
    let mut shared = 0;
    for part in &after.sections {
        for row in &part.rows {
            let Some(old) = before.row(&row.id) else {
                println!("  {}: new, {}", row.what, row.shown());
                continue;
            };
            shared += 1;
            println!("  {}", line(old, row));
        }
    }
    if shared == 0 {
        println!("  nothing was measured in both");
    }
}

fn line(old: &Row, new: &Row) -> String {
    let (change, verdict) = match ratio(old.median, new.median) {
        Some(ratio) => (figure(ratio), verdict(new.better, ratio)),
        None => ("-".to_owned(), ""),
    };
    let line = format!(
        "{}: {}, {}, {change} {verdict}",
        new.what,
        old.shown(),
        new.shown()
    );
    line.trim_end().to_owned()
}

fn ratio(old: f64, new: f64) -> Option<f64> {
    let ratio = new / old;
    ratio.is_finite().then_some(ratio)
}

fn verdict(better: Better, ratio: f64) -> &'static str {
    let rose = ratio > 1.0 + NOISE;
    let fell = ratio < 1.0 - NOISE;
    match better {
        Better::Lower if rose => "WORSE",
        Better::Higher if fell => "WORSE",
        Better::Lower if fell => "better",
        Better::Higher if rose => "better",
        Better::Lower | Better::Higher | Better::Neither => "",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn row(better: Better, figure: f64) -> Row {
        Row::of("id", "it", "ms", better, &[figure]).unwrap()
    }

    #[test]
    fn a_difference_is_named_by_the_way_the_figure_should_go() {
        let compared = |better, old, new| line(&row(better, old), &row(better, new));
        assert_eq!(
            compared(Better::Lower, 10.0, 20.0),
            "it: 10.0 ms, 20.0 ms, 2.00 WORSE"
        );
        assert!(compared(Better::Lower, 10.0, 5.0).ends_with("0.50 better"));
        assert!(compared(Better::Higher, 10.0, 5.0).ends_with("0.50 WORSE"));
        assert!(compared(Better::Lower, 10.0, 10.5).ends_with("1.05"));
        assert!(compared(Better::Lower, 0.0, 1.0).ends_with("- ".trim_end()));
    }
}
