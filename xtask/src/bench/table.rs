//! The table, for a terminal and for a page.

use super::report::Part;
use akbench_recorded::row::{Goal, Row, figure};

/// One line of the table, in words.
struct Cells {
    what: String,
    median: String,
    spread: String,
    goal: String,
}

fn cells(row: &Row) -> Cells {
    let spread = match row.samples {
        0 | 1 => String::new(),
        samples => format!("{} … {} ({samples})", figure(row.min), figure(row.max)),
    };
    let goal = row.goal.map_or_else(String::new, |goal| {
        let (sign, value) = match goal {
            Goal::AtMost(value) => ("≤", value),
            Goal::AtLeast(value) => ("≥", value),
        };
        let verdict = if goal.is_met(row.median) {
            "met"
        } else {
            "missed"
        };
        format!("{sign} {}: {verdict}", figure(value))
    });
    Cells {
        what: row.what.clone(),
        median: row.shown(),
        spread,
        goal,
    }
}

/// For a terminal.
pub fn print(part: &Part) {
    println!("\n{}", part.title);
    let rows: Vec<Cells> = part.rows.iter().map(cells).collect();
    let width = |cell: fn(&Cells) -> &str| {
        let longest = rows.iter().map(|row| cell(row).chars().count()).max();
        longest.unwrap_or_default()
    };
    let what = width(|row| &row.what);
    let median = width(|row| &row.median);
    let spread = width(|row| &row.spread);
    for row in &rows {
        let line = format!(
            "  {:<what$}  {:>median$}  {:<spread$}  {}",
            row.what, row.median, row.spread, row.goal
        );
        println!("{}", line.trim_end());
    }
}

/// For a page, in Markdown.
pub fn markdown(part: &Part) -> String {
    let mut text = format!(
        "### {}\n\n| | median | least … most (samples) | goal |\n| --- | ---: | --- | --- |\n",
        part.title
    );
    for row in part.rows.iter().map(cells) {
        let line = format!(
            "| {} | {} | {} | {} |\n",
            row.what, row.median, row.spread, row.goal
        );
        text.push_str(&line.replace("|  |", "| |").replace("|  |", "| |"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::machine::Machine;
    use crate::bench::section::Section;
    use akbench_recorded::row::Better;
    use std::path::Path;

    #[test]
    fn a_row_says_whether_its_goal_is_met() {
        let row = |figure| Row::of("a", "a thing", "ms", Better::Lower, &[figure]);
        let rows = [1.0, 3.0].into_iter().filter_map(row);
        let rows = rows.map(|row| row.with_goal(Goal::AtMost(2.0))).collect();
        let machine = Machine::with_runs_in(Path::new("/"));
        let text = markdown(&Part::now(Section::Live, &machine, None, rows));
        let title = format!("### {}\n", Section::Live.title());
        assert!(text.starts_with(&title), "{text}");
        assert!(
            text.contains("| a thing | 1.00 ms | | ≤ 2.00: met |\n"),
            "{text}"
        );
        assert!(
            text.contains("| a thing | 3.00 ms | | ≤ 2.00: missed |\n"),
            "{text}"
        );
    }
}
