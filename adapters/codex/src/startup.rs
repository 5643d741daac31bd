//! Why the program ended before it began: what it says on stderr.
//!
//! Only for a process that started no turn, so that everything on stderr is the program's
//! own: no tool has run and no model has spoken.

use akbench_adapter_sdk::types::FailureClass;

/// The class of what the program said, with the line that says so; `None` if it is not one
/// of the known sentences.
pub fn classify(stderr: &[String], exit_code: i32) -> Option<(FailureClass, &str)> {
    let class = |line: &str| match exit_code {
        1 => of_sentence(line.strip_prefix("Error: ").unwrap_or(line)),
        2 => line
            .starts_with("error: ")
            .then_some(FailureClass::InvalidConfiguration),
        _ => None,
    };
    stderr
        .iter()
        .find_map(|line| Some((class(line)?, line.as_str())))
}

fn of_sentence(line: &str) -> Option<FailureClass> {
    const KNOWN: [(&str, FailureClass); 10] = [
        (
            "Error loading config.toml:",
            FailureClass::InvalidConfiguration,
        ),
        ("Model provider `", FailureClass::InvalidConfiguration),
        ("approval_policy = ", FailureClass::InvalidConfiguration),
        (
            "Not inside a trusted directory",
            FailureClass::InvalidConfiguration,
        ),
        ("Output schema file ", FailureClass::InvalidConfiguration),
        (
            "Input exceeds the maximum length",
            FailureClass::InvalidConfiguration,
        ),
        (
            "No prompt provided via stdin.",
            FailureClass::InvalidConfiguration,
        ),
        (
            "Failed to read prompt from stdin: ",
            FailureClass::InvalidConfiguration,
        ),
        (
            "Error finding codex home: ",
            FailureClass::EnvironmentInvalid,
        ),
        ("thread/resume: ", FailureClass::InvalidState),
    ];
    let known = KNOWN
        .into_iter()
        .find(|(start, _)| line.starts_with(start))?;
    Some(known.1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn known_sentences_are_found_behind_notices() {
        for (code, line, expected) in [
            (
                1,
                "Error loading config.toml: unknown variant",
                FailureClass::InvalidConfiguration,
            ),
            (
                1,
                "Error: Model provider `nope` not found",
                FailureClass::InvalidConfiguration,
            ),
            (
                1,
                "Error finding codex home: CODEX_HOME points to",
                FailureClass::EnvironmentInvalid,
            ),
            (
                1,
                "Error: thread/resume: thread/resume failed: no rollout",
                FailureClass::InvalidState,
            ),
            (
                2,
                "error: unexpected argument '-x' found",
                FailureClass::InvalidConfiguration,
            ),
        ] {
            let stderr = ["Reading prompt from stdin...".to_owned(), line.to_owned()];
            assert_eq!(classify(&stderr, code), Some((expected, line)));
        }
    }

    #[test]
    fn anything_else_is_not_known() {
        let stderr = ["I say: Error loading config.toml: x".to_owned()];
        assert_eq!(classify(&stderr, 1), None);
        assert_eq!(
            classify(&["Error loading config.toml: x".to_owned()], 3),
            None
        );
    }
}
