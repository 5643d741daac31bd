//! The report as JUnit XML, which build servers read.

use super::report::{CaseReport, Outcome, SuiteReport};
use std::fmt::Write;

/// The whole report.
pub fn xml(report: &SuiteReport) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing into a string does not fail.
    let _ = writeln!(
        text,
        "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{}\">",
        escaped(&format!(
            "contract suite {} of {}",
            report.suite_version, report.agent
        )),
        report.cases.len(),
        report.count(Outcome::Failed),
        report.count(Outcome::NotApplicable),
        seconds(report.cost.duration_ms),
    );
    for case in &report.cases {
        text.push_str(&element(case));
    }
    text.push_str("</testsuite>\n");
    text
}

fn element(case: &CaseReport) -> String {
    let (group, name) = case.name.split_once('.').unwrap_or(("", &case.name));
    let head = format!(
        "  <testcase classname=\"{}\" name=\"{}\" time=\"{}\"",
        escaped(group),
        escaped(name),
        seconds(case.duration_ms)
    );
    let reason = escaped(case.reason.as_deref().unwrap_or_default());
    let proves = escaped(&case.proves);
    match case.outcome {
        Outcome::Passed => format!("{head}/>\n"),
        Outcome::Failed => {
            format!(
                "{head}><failure message=\"{reason}\">not shown: {proves}</failure></testcase>\n"
            )
        }
        Outcome::NotApplicable => {
            format!("{head}><skipped message=\"{reason}\"/></testcase>\n")
        }
    }
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

/// XML allows few control characters, not even escaped: the others become spaces.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' | '\r' => escaped.push(' '),
            other if other.is_control() || matches!(other, '\u{fffe}' | '\u{ffff}') => {
                escaped.push(' ');
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_with_markup_and_controls_stays_well_formed() {
        let case = CaseReport {
            name: "group.case".to_owned(),
            proves: "that a < b".to_owned(),
            outcome: Outcome::Failed,
            reason: Some("\"x\" & <y>\u{1}\n".to_owned()),
            duration_ms: 1002,
        };
        assert_eq!(
            element(&case),
            "  <testcase classname=\"group\" name=\"case\" time=\"1.002\"><failure \
             message=\"&quot;x&quot; &amp; &lt;y&gt;  \">not shown: that a &lt; b</failure>\
             </testcase>\n"
        );
    }
}
