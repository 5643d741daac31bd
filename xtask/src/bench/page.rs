//! The figures in the documentation: kept as JSON in `docs/performance.json`, shown as tables
//! in `docs/performance.md`, three of them in `README.md`.

use std::fs;
use std::path::Path;

use super::report::{Part, Report};
use super::section::Section;
use super::table;
use crate::atomic;
use crate::failure::{Explain, Failure, Outcome};
use crate::workspace::Workspace;
use akbench_recorded::row::Row;

/// Relative to the repository.
const KEPT: &str = "docs/performance.json";
const PAGE: &str = "docs/performance.md";
const README: &str = "README.md";

const BEGIN: &str = "<!-- figures: written by `cargo xtask bench --write-docs` -->\n";
const END: &str = "<!-- end of the figures -->\n";

/// Takes what was measured over into the documentation; sections that were not measured keep
/// their figures.
///
/// # Errors
///
/// If a file can't be read or written, or has no place for figures.
pub fn write(workspace: &Workspace, measured: &Report) -> Outcome {
    let path = workspace.root.join(KEPT);
    let mut kept = kept(&path)?;
    for part in &measured.sections {
        kept.put(part.clone());
    }
    let order = |part: &Part| {
        Section::ALL
            .iter()
            .position(|section| section.id() == part.id)
    };
    kept.sections.sort_by_key(order);
    kept.write(&path)?;
    for (name, text) in [(PAGE, tables(&kept)), (README, highlights(&kept))] {
        let path = workspace.root.join(name);
        let page = fs::read_to_string(&path).explain(|| format!("read {}", path.display()))?;
        let page = put(&path, &page, &text)?;
        atomic::write(&path, page.as_bytes())?;
    }
    Ok(())
}

/// What was measured before; nothing if nothing was.
fn kept(path: &Path) -> Outcome<Report> {
    if path.exists() {
        return Report::read(path);
    }
    Ok(Report::new())
}

fn put(path: &Path, page: &str, text: &str) -> Outcome<String> {
    let cut = || {
        let (before, rest) = page.split_once(BEGIN)?;
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    };
    let (before, after) = cut().ok_or_else(|| {
        Failure::new(format!(
            "{} has no place for figures: expected the lines `{}` and `{}`",
            path.display(),
            BEGIN.trim(),
            END.trim()
        ))
    })?;
    Ok(format!("{before}{BEGIN}\n{text}\n{END}{after}"))
}

/// Every section, with the machine, the day and the commit; said once where they are the same.
fn tables(report: &Report) -> String {
    if report.sections.is_empty() {
        return "Not measured yet.\n".to_owned();
    }
    let mut texts = Vec::new();
    let mut said = None;
    for part in &report.sections {
        let day = part.taken_at.split('T').next().unwrap_or_default();
        let commit = part.commit.as_deref().unwrap_or("unknown");
        let source = format!(
            "Measured on {day} at commit {commit}, on {}.\n",
            part.machine.describe()
        );
        if said.as_ref() != Some(&source) {
            texts.push(source.clone());
            said = Some(source);
        }
        texts.push(table::markdown(part));
    }
    texts.join("\n")
}

/// Three figures for people in a hurry.
fn highlights(report: &Report) -> String {
    quoted(report).unwrap_or_else(|| "Not measured yet.\n".to_owned())
}

/// `None` as long as one of them was never measured.
fn quoted(report: &Report) -> Option<String> {
    let shown = |id: &str| report.row(id).map(Row::shown);
    Some(format!(
        "- A run adds {} to the agent's own time (median, without confinement and limits, probes\n  \
         apart).\n\
         - {} sessions a second in one process with 64 at a time, {} of a bare loop that starts\n  \
         the same programs inside bubblewrap, too; a live session takes {} of the host's\n  \
         memory.\n\
         - The sandboxed Codex adapter reads a 1 GB session file at {}, {} of the same code\n  \
         compiled natively, with a host of {} at its peak.\n",
        shown("overhead.added")?,
        shown("sessions.64.rate")?.trim_end_matches(" 1/s"),
        shown("sessions.64.ratio")?,
        shown("sessions.memory")?,
        shown("rollout.1000.component")?,
        shown("rollout.1000.ratio")?,
        shown("rollout.1000.component_peak")?,
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn figures_replace_those_between_the_marks_and_nothing_else() {
        let page = format!("# Page\n{BEGIN}old\n{END}rest\n");
        let once = put(Path::new("p.md"), &page, "new\n").unwrap();
        assert_eq!(once, format!("# Page\n{BEGIN}\nnew\n\n{END}rest\n"));
        assert_eq!(put(Path::new("p.md"), &once, "new\n").unwrap(), once);
        let error = put(Path::new("p.md"), "# Page\n", "new\n").unwrap_err();
        assert!(error.to_string().contains("no place for figures"));
    }

    #[test]
    fn the_pages_show_the_figures_that_are_kept() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let report = kept(&root.join(KEPT)).unwrap();
        for (name, text) in [(PAGE, tables(&report)), (README, highlights(&report))] {
            let page = fs::read_to_string(root.join(name)).unwrap();
            let expected = put(Path::new(name), &page, &text).unwrap();
            assert_eq!(
                page, expected,
                "{name}: run `cargo xtask bench --write-docs`"
            );
        }
    }
}
