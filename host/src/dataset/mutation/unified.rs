//! Applying a unified diff exactly: no search for another place, no fuzz.

use diffy::{Line, Patch};

/// Applies `diff` to `original`.
///
/// # Errors
///
/// In words: it is no diff of one file, or a line is not what it says.
pub(super) fn apply(original: &str, diff: &str) -> Result<String, String> {
    let patch = Patch::from_str(diff).map_err(|error| format!("it is no unified diff: {error}"))?;
    if patch.hunks().is_empty() {
        return Err("it has no hunk that could be applied".to_owned());
    }
    let lines: Vec<&str> = original.split_inclusive('\n').collect();
    let mut changed = String::with_capacity(original.len());
    let mut at = 0;
    for (number, hunk) in patch.hunks().iter().enumerate() {
        let number = number + 1;
        let range = hunk.old_range();
        // An empty range names the line that it comes after.
        let start = range.start() - usize::from(!range.is_empty() && range.start() > 0);
        if start < at || start > lines.len() {
            return Err(format!(
                "hunk {number} begins at line {}, but the file has {} lines and the hunk before \
                 ends at line {at}",
                range.start(),
                lines.len()
            ));
        }
        changed.extend(lines[at..start].iter().copied());
        at = start;
        for line in hunk.lines() {
            let (expected, written) = match line {
                Line::Context(text) => (Some(*text), Some(*text)),
                Line::Delete(text) => (Some(*text), None),
                Line::Insert(text) => (None, Some(*text)),
            };
            if let Some(expected) = expected {
                let found = lines.get(at).copied();
                if found != Some(expected) {
                    return Err(format!(
                        "hunk {number} expects {expected:?} at line {}, found {}",
                        at + 1,
                        found.map_or_else(|| "the end".to_owned(), |text| format!("{text:?}"))
                    ));
                }
                at += 1;
            }
            changed.push_str(written.unwrap_or(""));
        }
    }
    changed.extend(lines[at..].iter().copied());
    Ok(changed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    const ORIGINAL: &str = "one\ntwo\nthree\nfour\n";

    #[test]
    fn a_diff_is_applied_where_it_says() {
        let diff = "--- a/x\n+++ b/x\n@@ -2,2 +2,2 @@\n two\n-three\n+3\n@@ -4,0 +5 @@\n+five\n";
        assert_eq!(apply(ORIGINAL, diff).unwrap(), "one\ntwo\n3\nfour\nfive\n");
    }

    #[test]
    fn a_diff_that_would_fit_elsewhere_is_refused() {
        for (diff, says) in [
            (
                "--- x\n+++ x\n@@ -1,1 +1,1 @@\n-two\n+2\n",
                "expects \"two\\n\" at line 1",
            ),
            (
                "--- x\n+++ x\n@@ -9,1 +9,1 @@\n-two\n+2\n",
                "begins at line 9",
            ),
            (
                "--- x\n+++ x\n@@ -4,1 +4,1 @@\n-four\n\\ No newline at end of file\n+4\n",
                "expects",
            ),
            ("nothing", "no hunk"),
        ] {
            let error = apply(ORIGINAL, diff).unwrap_err();
            assert!(error.contains(says), "{diff}: {error}");
        }
    }

    proptest! {
        #[test]
        fn the_diff_of_two_texts_turns_one_into_the_other(
            before in "([ab]{0,2}\n){0,8}[ab]{0,2}", after in "([ab]{0,2}\n){0,8}[ab]{0,2}"
        ) {
            let patch = diffy::create_patch(&before, &after);
            if !patch.hunks().is_empty() {
                prop_assert_eq!(apply(&before, &patch.to_string()), Ok(after));
            }
        }
    }
}
