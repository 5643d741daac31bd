//! Truncated evidence: a host that died in the middle leaves files that stop anywhere.

use crate::contract::observed::{Observations, Outcome, TokenUsage};
use crate::suite::case::{Case, Proof, Unproven, could_not, failed, require};
use crate::suite::lab::Lab;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Cuts of one file; more of them are spread evenly.
const MOST_CUTS: usize = 48;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "truncation.cut_anywhere",
            "evidence that stops at or inside any line breaks nothing and invents nothing",
            |lab| Box::pin(cut_anywhere(lab)),
        )
        .alone(),
        Case::new(
            "truncation.nothing_recorded",
            "where there is no evidence, no outcome and no value is reported",
            |lab| Box::pin(nothing_recorded(lab)),
        ),
    ]
}

async fn cut_anywhere(lab: &Lab) -> Proof {
    let completed = lab.completed().await?;
    let evidence = &completed.place.grants.folders.evidence;
    let scratch = lab.scratch()?;
    let copy = scratch.path().join("evidence");
    copy_folder(evidence, &copy).map_err(could_not("copy evidence"))?;
    let files = recorded(evidence).map_err(could_not("list the evidence"))?;
    for file in files {
        let bytes = fs::read(evidence.join(&file)).map_err(could_not("read evidence"))?;
        for cut in cuts(&bytes) {
            fs::write(copy.join(&file), &bytes[..cut]).map_err(could_not("cut evidence"))?;
            let replayed = lab.replay(&copy).await;
            let whose = format!("`{}` cut at byte {cut} of {}", file.display(), bytes.len());
            let at = |unproven| match unproven {
                Unproven::Failed(what) => failed(format!("{whose}: {what}")),
                other => other,
            };
            let replayed = replayed.map_err(at)?;
            require(replayed.violations.is_empty(), || {
                replayed.violations.join("; ")
            })
            .map_err(at)?;
            let loses_end = file.starts_with("spawns") && cuts_the_last_line(&bytes, cut);
            invents_nothing(&replayed.observations, &completed.observed, loses_end).map_err(at)?;
        }
        fs::write(copy.join(&file), &bytes).map_err(could_not("restore evidence"))?;
    }
    Ok(())
}

async fn nothing_recorded(lab: &Lab) -> Proof {
    let scratch = lab.scratch()?;
    let evidence = scratch.path().join("evidence");
    fs::create_dir(&evidence).map_err(could_not("make a folder"))?;
    let replayed = lab.replay(&evidence).await?;
    let expected = Observations {
        extra: replayed.observations.extra.clone(),
        ..Observations::default()
    };
    require(replayed.observations == expected, || {
        format!("reported of nothing: {:?}", replayed.observations)
    })
}

/// The outputs and the agent's own files, relative to the evidence.
fn recorded(evidence: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("spawns"), PathBuf::from("home")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(evidence.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.starts_with("home") || path.ends_with("stdout") {
                found.push(path);
            }
        }
    }
    // A probe's output is a line or two; the work has more, or is the last.
    let last_spawn = found
        .iter()
        .filter(|path| path.starts_with("spawns"))
        .max()
        .cloned();
    found.retain(|path| path.starts_with("home") || Some(path) == last_spawn.as_ref());
    found.sort();
    Ok(found)
}

/// The end of every line, and the middle of every line.
fn cuts(bytes: &[u8]) -> Vec<usize> {
    let mut at = Vec::new();
    let mut begin = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        at.push(begin);
        at.push(begin + line.len() / 2);
        begin += line.len();
    }
    let step = at.len().div_ceil(MOST_CUTS).max(1);
    // An odd step would meet line ends and middles in turn.
    let step = if step > 1 { step | 1 } else { step };
    at.into_iter().step_by(step).collect()
}

/// Without its last line the output lacks the event that ends the work.
fn cuts_the_last_line(bytes: &[u8], cut: usize) -> bool {
    let trimmed = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let last = trimmed
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    cut < trimmed.len() && cut <= last + (bytes.len() - last) / 2
}

fn invents_nothing(seen: &Observations, whole: &Observations, loses_end: bool) -> Proof {
    require(
        !(loses_end && seen.outcome == Some(Outcome::Completed)),
        || "completed, though the end of the output is missing".to_owned(),
    )?;
    let (Some(some), Some(all)) = (seen.usage, whole.usage) else {
        return require(seen.usage.is_none() || whole.usage.is_some(), || {
            "usage appears only when evidence is missing".to_owned()
        });
    };
    for (part, of) in parts(&some).into_iter().zip(parts(&all)) {
        require(part.unwrap_or(0) <= of.unwrap_or(u64::MAX), || {
            format!("more tokens than in the whole: {some:?}")
        })?;
    }
    let complete = seen
        .provenance
        .iter()
        .any(|(name, p)| name == "usage" && p.complete);
    require(some == all || !complete, || {
        format!("usage is called complete and is not: {some:?} of {all:?}")
    })
}

fn parts(usage: &TokenUsage) -> [Option<u64>; 6] {
    [
        usage.input_tokens,
        usage.cached_input_tokens,
        usage.cache_write_input_tokens,
        usage.output_tokens,
        usage.reasoning_output_tokens,
        usage.total_tokens,
    ]
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_at_and_inside_every_line() {
        assert_eq!(cuts(b"abcd\nef\n"), [0, 2, 5, 6]);
        assert!(cuts(&b"x\n".repeat(1000)).len() <= MOST_CUTS);
    }

    #[test]
    fn the_last_line_is_lost_up_to_its_middle() {
        let bytes = b"abcd\nefgh\n";
        assert!(cuts_the_last_line(bytes, 5) && cuts_the_last_line(bytes, 7));
        assert!(!cuts_the_last_line(bytes, 9) && !cuts_the_last_line(bytes, 10));
    }
}
