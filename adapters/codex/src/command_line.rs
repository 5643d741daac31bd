//! The arguments of `codex exec`, and reading them back from a recorded command.

/// Arguments that start a task, or continue the conversation `resume`. The prompt comes
/// through stdin: an argument has a length limit and may be taken for a flag.
///
/// Flags stand before `resume`: after it, some are refused by every version.
pub fn task_arguments(sandbox_mode: &str, resume: Option<&str>) -> Vec<String> {
    let mut arguments = vec![
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--sandbox",
        sandbox_mode,
    ];
    if let Some(thread) = resume {
        arguments.extend(["resume", thread]);
    }
    arguments.push("-");
    arguments.into_iter().map(str::to_owned).collect()
}

/// How a recorded command relates to earlier conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuation {
    /// It starts a conversation.
    Fresh,
    /// It continues one, in the same session file.
    Resumed,
    /// It copies one into a new session file.
    Forked,
}

/// What the arguments of a recorded command say.
pub fn continuation(arguments: &[String]) -> Continuation {
    // A prompt never is an argument of ours, so that the words can only be subcommands.
    for argument in arguments {
        match argument.as_str() {
            "resume" => return Continuation::Resumed,
            "fork" => return Continuation::Forked,
            "--" => break,
            _ => {}
        }
    }
    Continuation::Fresh
}

/// The conversation that a recorded command asked to continue, if it names one.
pub fn resumed_thread(arguments: &[String]) -> Option<&str> {
    let at = arguments.iter().position(|argument| argument == "resume")?;
    let mut rest = arguments[at + 1..].iter();
    if rest.clone().any(|argument| argument == "--last") {
        return None;
    }
    rest.find(|argument| !argument.starts_with('-'))
        .map(String::as_str)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn flags_stand_before_the_subcommand() {
        assert_eq!(
            task_arguments("read-only", Some("t1")).join(" "),
            "exec --json --skip-git-repo-check --sandbox read-only resume t1 -"
        );
        assert_eq!(
            task_arguments("read-only", None).join(" "),
            "exec --json --skip-git-repo-check --sandbox read-only -"
        );
    }

    #[test]
    fn a_recorded_command_says_whether_it_continues() {
        let fresh = task_arguments("read-only", None);
        let resumed = task_arguments("read-only", Some("t1"));
        assert_eq!(continuation(&fresh), Continuation::Fresh);
        assert_eq!(continuation(&resumed), Continuation::Resumed);
        assert_eq!(resumed_thread(&resumed), Some("t1"));
        assert_eq!(resumed_thread(&fresh), None);
        let last = ["resume", "--last", "go on"].map(str::to_owned);
        assert_eq!(resumed_thread(&last), None);
        let forked = ["exec".to_owned(), "fork".to_owned(), "t1".to_owned()];
        assert_eq!(continuation(&forked), Continuation::Forked);
    }
}
