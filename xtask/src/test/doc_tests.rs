//! Are there doc tests at all? Compiling for none of them costs a link of the whole host.

use std::fs;
use std::path::Path;

use crate::failure::{Explain, Outcome};

/// Does a source under `folder` hold a code block that rustdoc would run or compile?
///
/// # Errors
///
/// If a source cannot be read.
pub fn exist_in(folder: &Path) -> Outcome<bool> {
    let doing = || format!("look for doc tests in {}", folder.display());
    for entry in fs::read_dir(folder).explain(doing)? {
        let path = entry.explain(doing)?.path();
        let found = if path.is_dir() {
            exist_in(&path)?
        } else {
            path.extension().is_some_and(|extension| extension == "rs")
                && in_source(
                    &fs::read_to_string(&path).explain(|| format!("read {}", path.display()))?,
                )
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

fn in_source(source: &str) -> bool {
    let mut inside = false;
    for line in source.lines() {
        let line = line.trim_start();
        let Some(text) = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))
        else {
            continue;
        };
        let Some(language) = text.trim().strip_prefix("```") else {
            continue;
        };
        if !inside && is_tested(language) {
            return true;
        }
        inside = !inside;
    }
    false
}

/// Does rustdoc test a block that is opened with these words?
fn is_tested(words: &str) -> bool {
    const TESTED: [&str; 5] = ["rust", "no_run", "should_panic", "compile_fail", "ignore"];
    words
        .split([',', ' '])
        .filter(|word| !word.is_empty())
        .all(|word| TESTED.contains(&word) || word.starts_with("edition"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rust_blocks_in_doc_comments_count() {
        assert!(in_source(
            "/// Like so:\n/// ```\n/// run();\n/// ```\nfn run() {}\n"
        ));
        assert!(in_source("//! ```rust,no_run\n//! run();\n//! ```\n"));
        assert!(!in_source(
            "/// ```text\n/// a -> b\n/// ```\nfn run() {}\n"
        ));
        assert!(!in_source(
            "/// ```json\n/// {}\n/// ```\n/// ```text\n/// x\n/// ```\n"
        ));
        assert!(!in_source("// ```\n// run();\n// ```\n"));
    }
}
