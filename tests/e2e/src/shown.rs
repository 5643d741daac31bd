//! Text for people as snapshots keep it: without what differs between machines and runs.

use crate::built;
use crate::scene::Scene;
use std::path::Path;

/// Replaces the folders of this machine by `[SCENE]`, `[TARGET]` and `[REPOSITORY]`, and ids
/// of runs by `[RUN]`.
pub fn shown(scene: &Scene, text: &str) -> String {
    let target = built::adapter("codex.wasm");
    let target = target.ancestors().nth(2).unwrap_or(Path::new("/"));
    let mut text = text.to_owned();
    // The target folder lies inside the repository, so it comes first.
    for (folder, name) in [
        (scene.path(""), "[SCENE]"),
        (target.to_owned(), "[TARGET]"),
        (built::repository(), "[REPOSITORY]"),
    ] {
        let folder = folder.display().to_string();
        text = text.replace(folder.trim_end_matches('/'), name);
    }
    text.split('\n')
        .map(|line| line.trim_end().to_owned())
        .map(without_run_id)
        .collect::<Vec<_>>()
        .join("\n")
}

/// An id of a run: 26 characters of Crockford's base 32, as ULIDs are written.
fn without_run_id(line: String) -> String {
    const LENGTH: usize = 26;
    let is_id = |word: &str| {
        word.len() == LENGTH
            && word.starts_with('0')
            && word
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
    };
    let word = line
        .split(|c: char| !c.is_ascii_alphanumeric())
        .find(|word| is_id(word))
        .map(str::to_owned);
    match word {
        Some(word) => line.replace(&word, "[RUN]"),
        None => line,
    }
}
