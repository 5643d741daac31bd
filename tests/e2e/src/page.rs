//! Reading the pages of the documentation: fenced blocks, commands, links.

use std::path::{Path, PathBuf};

/// A page of the documentation.
pub struct Page {
    /// Its file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// A fenced block.
pub struct Block {
    /// The word after the fence: `console`, `json`, …
    pub language: String,
    /// The line on which it begins, counted from 1.
    pub line: usize,
    /// What is between the fences.
    pub text: String,
}

/// A command of a console block, and what it is shown to print.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// As a person would type it.
    pub line: String,
    /// Lines of output that the page shows.
    pub output: Vec<String>,
}

impl Page {
    /// Reads a page.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self {
            path: path.to_owned(),
            text,
        }
    }

    /// Its fenced blocks.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut inside = false;
        for (at, line) in self.text.lines().enumerate() {
            if let Some(language) = line.trim_start().strip_prefix("```") {
                if !inside {
                    blocks.push(Block {
                        language: language.trim().to_owned(),
                        line: at + 1,
                        text: String::new(),
                    });
                }
                inside = !inside;
            } else if inside && let Some(block) = blocks.last_mut() {
                block.text.push_str(line);
                block.text.push('\n');
            }
        }
        assert!(!inside, "{}: a fence is not closed", self.path.display());
        blocks
    }

    /// The targets of its links that are no URL, without the part after `#`.
    pub fn links(&self) -> Vec<String> {
        let mut links = Vec::new();
        for part in self.text.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or_default();
            let file = target.split('#').next().unwrap_or_default();
            if !file.is_empty() && !file.contains("://") {
                links.push(file.to_owned());
            }
        }
        links
    }
}

impl Block {
    /// The commands of a console block: lines that begin with `$ `, each with the output that
    /// follows.
    pub fn commands(&self) -> Vec<Command> {
        let mut commands: Vec<Command> = Vec::new();
        for line in self.text.lines() {
            if let Some(line) = line.strip_prefix("$ ") {
                commands.push(Command {
                    line: line.to_owned(),
                    output: Vec::new(),
                });
            } else if let Some(command) = commands.last_mut() {
                command.output.push(line.trim().to_owned());
            }
        }
        commands
    }
}

/// Compares a table with the section of `docs/sandbox.md` of this name, or, where
/// `AKBENCH_UPDATE_DOCS` is set, puts it there: the page shows what the tests saw.
///
/// # Panics
///
/// If the page shows another one.
pub fn documented(section: &str, table: &str) {
    let path = crate::built::repository().join("docs/sandbox.md");
    let page = std::fs::read_to_string(&path).expect("docs/sandbox.md");
    let (begin, end) = (
        format!("<!-- {section}: begin -->\n"),
        format!("<!-- {section}: end -->"),
    );
    let (before, rest) = page.split_once(&begin).expect("the section's begin");
    let (shown, after) = rest.split_once(&end).expect("the section's end");
    if shown == table {
        return;
    }
    if std::env::var_os("AKBENCH_UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{begin}{table}{end}{after}")).expect("the page");
        return;
    }
    panic!("docs/sandbox.md does not show what was seen; run with AKBENCH_UPDATE_DOCS=1:\n{table}");
}

/// Is the line shown in a page among these lines? `…` stands for anything.
pub fn is_printed(shown: &str, output: &str) -> bool {
    output.lines().any(|line| {
        let mut rest = line;
        shown
            .split('…')
            .map(str::trim)
            .all(|part| match rest.find(part) {
                Some(at) => {
                    rest = &rest[at + part.len()..];
                    true
                }
                None => false,
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_their_output() {
        let page = Page {
            path: PathBuf::from("a.md"),
            text: "See [b](b.md#c) and [d](https://d).\n```console\n$ one --x\nout …\n$ two\n```\n"
                .to_owned(),
        };
        assert_eq!(page.links(), ["b.md"]);
        let blocks = page.blocks();
        assert_eq!((blocks.len(), blocks[0].line), (1, 2));
        let commands = blocks[0].commands();
        assert_eq!(commands[0].line, "one --x");
        assert_eq!(commands[0].output, ["out …"]);
        assert_eq!(commands[1].output, Vec::<String>::new());
    }

    #[test]
    fn an_ellipsis_stands_for_anything_in_between_and_nothing_else_does() {
        let output = "first\ncompleted after 0.8 s · run 01\n";
        assert!(is_printed("completed after … s · run …", output));
        assert!(is_printed("first", output));
        assert!(!is_printed("failed after … s", output));
        assert!(!is_printed("run … completed", output));
    }
}
