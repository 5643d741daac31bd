//! The files of the projects that `akbench adapter new` writes: the adapters of this repository
//! themselves, so that a project begins with what is tested.

use super::adapter_new::Language;

/// A file of a project.
pub struct Template {
    /// Relative to the project.
    pub path: &'static str,
    /// Is it a program?
    pub executable: bool,
    text: &'static str,
    /// A text and what stands for it in a project; `None`: only the name is replaced.
    replaced: Option<(&'static str, &'static str)>,
    /// A crate of this repository whose name the project's replaces.
    own_crate: Option<&'static str>,
}

/// The ids of this repository's own adapters, which a project's name replaces.
const OWN_IDS: [&str; 3] = ["echo-python", "echo-javascript", "echo-c"];
/// Stands for the name in files that are templates only.
const PLACEHOLDER: &str = "AKBENCH_NAME";

impl Template {
    /// A file that is not run.
    pub const fn file(path: &'static str, text: &'static str) -> Self {
        Self {
            path,
            executable: false,
            text,
            replaced: None,
            own_crate: None,
        }
    }

    /// A file that is run.
    pub const fn program(path: &'static str, text: &'static str) -> Self {
        Self {
            path,
            executable: true,
            text,
            replaced: None,
            own_crate: None,
        }
    }

    /// The same, with one text in it replaced.
    pub fn replacing(self, text: &'static str, by: &'static str) -> Self {
        Self {
            replaced: Some((text, by)),
            ..self
        }
    }

    /// The same, as part of a crate that gets the project's name.
    pub fn of_crate(self, name: &'static str) -> Self {
        Self {
            own_crate: Some(name),
            ..self
        }
    }

    /// Its text in a project of this name.
    pub fn text_for(&self, name: &str) -> String {
        let text = self.text.replace(PLACEHOLDER, name);
        let text = match self.replaced {
            Some((own, by)) => text.replace(own, by),
            None => text,
        };
        let text = match self.own_crate {
            Some(own) => text
                .replace(own, name)
                .replace(&own.replace('-', "_"), &name.replace('-', "_")),
            None => text,
        };
        OWN_IDS.iter().fold(text, |text, id| text.replace(id, name))
    }
}

/// A file at the same place below `$folder` in this repository.
macro_rules! copied {
    ($kind:ident, $folder:literal, $path:literal) => {
        Template::$kind(
            $path,
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../",
                $folder,
                "/",
                $path
            )),
        )
    };
}

/// A file of this repository, from below `$folder` to below `$to`.
macro_rules! moved {
    ($to:literal, $folder:literal, $path:literal) => {
        Template::file(
            concat!($to, "/", $path),
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../",
                $folder,
                "/",
                $path
            )),
        )
    };
}

/// The files of a project in this language.
pub fn templates(language: Language) -> impl Iterator<Item = Template> {
    let own: Vec<Template> = match language {
        Language::Rust => include!("../../../templates/rust/files.rs").into(),
        Language::Python => of_a_line_agent(python()),
        Language::JavaScript => of_a_line_agent(javascript()),
        Language::C => of_a_line_agent(c()),
    };
    shared().into_iter().chain(own)
}

fn shared() -> Vec<Template> {
    vec![
        Template::file("wit/agent.wit", include_str!("../../../wit/agent.wit")),
        copied!(file, "templates", "try/task.txt"),
        copied!(file, "templates", "try/workspace/notes.txt"),
    ]
}

/// With what the adapters of the line agent share.
fn of_a_line_agent(mut own: Vec<Template>) -> Vec<Template> {
    own.extend([
        copied!(file, "templates", "README.md"),
        copied!(program, "templates", "try/line-agent"),
        copied!(file, "templates", "suite/completes/expect.json"),
        copied!(file, "templates", "suite/completes/scenario.json"),
        copied!(file, "templates", "suite/completes/stdout.jsonl"),
        copied!(file, "templates", "suite/fails/expect.json"),
        copied!(file, "templates", "suite/fails/scenario.json"),
        copied!(file, "templates", "suite/fails/stdout.jsonl"),
        copied!(file, "templates", "suite/interrupted/expect.json"),
        copied!(file, "templates", "suite/interrupted/scenario.json"),
        copied!(file, "templates", "suite/interrupted/stdout.jsonl"),
        copied!(file, "templates", "suite/suite.json"),
        copied!(file, "templates", "suite/wrong-version/scenario.json"),
    ]);
    own
}

fn python() -> Vec<Template> {
    vec![
        copied!(file, "adapters/python", "adapter/adapter.py"),
        copied!(file, "adapters/python", "adapter/descriptor.json"),
        copied!(file, "adapters/python", "adapter/observe.py"),
        copied!(file, "adapters/python", "adapter/outcome.py"),
        copied!(file, "adapters/python", "adapter/stream.py"),
        copied!(file, "adapters/python", "akbench_adapter/__init__.py"),
        copied!(file, "adapters/python", "akbench_adapter/adapter.py"),
        copied!(file, "adapters/python", "akbench_adapter/contract.py"),
        copied!(file, "adapters/python", "akbench_adapter/evidence.py"),
        copied!(file, "adapters/python", "akbench_adapter/failures.py"),
        copied!(file, "adapters/python", "akbench_adapter/json_line.py"),
        copied!(file, "adapters/python", "akbench_adapter/lines.py"),
        copied!(file, "adapters/python", "akbench_adapter/observations.py"),
        copied!(file, "adapters/python", "akbench_adapter/parameters.py"),
        copied!(file, "adapters/python", "akbench_adapter/programs.py"),
        copied!(file, "adapters/python", "akbench_adapter/session.py"),
        copied!(program, "adapters/python", "build.sh"),
    ]
}

fn javascript() -> Vec<Template> {
    vec![
        copied!(file, "adapters/javascript", "adapter/adapter.js"),
        copied!(file, "adapters/javascript", "adapter/descriptor.json"),
        copied!(file, "adapters/javascript", "adapter/observe.js"),
        copied!(file, "adapters/javascript", "adapter/outcome.js"),
        copied!(file, "adapters/javascript", "adapter/stream.js"),
        copied!(program, "adapters/javascript", "build.sh"),
        copied!(file, "adapters/javascript", "sdk/adapter.js"),
        copied!(file, "adapters/javascript", "sdk/evidence.js"),
        copied!(file, "adapters/javascript", "sdk/failures.js"),
        copied!(file, "adapters/javascript", "sdk/files.js"),
        copied!(file, "adapters/javascript", "sdk/index.js"),
        copied!(file, "adapters/javascript", "sdk/json_line.js"),
        copied!(file, "adapters/javascript", "sdk/lines.js"),
        copied!(file, "adapters/javascript", "sdk/observations.js"),
        copied!(file, "adapters/javascript", "sdk/parameters.js"),
        copied!(file, "adapters/javascript", "sdk/programs.js"),
        copied!(file, "adapters/javascript", "sdk/session.js"),
        copied!(file, "adapters/javascript", "sdk/utf8.js"),
        copied!(file, "adapters/javascript", "wit/filesystem.wit"),
        copied!(file, "adapters/javascript", "wit/world.wit"),
    ]
}

fn c() -> Vec<Template> {
    vec![
        copied!(file, "adapters/c", "adapter/adapter.c"),
        copied!(file, "adapters/c", "adapter/descriptor.json"),
        copied!(file, "adapters/c", "adapter/observe.c"),
        copied!(file, "adapters/c", "adapter/observe.h"),
        copied!(file, "adapters/c", "adapter/outcome.c"),
        copied!(file, "adapters/c", "adapter/outcome.h"),
        copied!(file, "adapters/c", "adapter/stream.c"),
        copied!(file, "adapters/c", "adapter/stream.h"),
        copied!(program, "adapters/c", "build.sh"),
        copied!(file, "adapters/c", "sdk/akbench.h"),
        copied!(file, "adapters/c", "sdk/contract.h"),
        copied!(file, "adapters/c", "sdk/evidence.c"),
        copied!(file, "adapters/c", "sdk/evidence.h"),
        copied!(file, "adapters/c", "sdk/failure.c"),
        copied!(file, "adapters/c", "sdk/failure.h"),
        copied!(file, "adapters/c", "sdk/files.c"),
        copied!(file, "adapters/c", "sdk/files.h"),
        copied!(file, "adapters/c", "sdk/json.c"),
        copied!(file, "adapters/c", "sdk/json.h"),
        copied!(file, "adapters/c", "sdk/lines.c"),
        copied!(file, "adapters/c", "sdk/lines.h"),
        copied!(file, "adapters/c", "sdk/parameters.c"),
        copied!(file, "adapters/c", "sdk/parameters.h"),
        copied!(file, "adapters/c", "sdk/program.c"),
        copied!(file, "adapters/c", "sdk/program.h"),
        copied!(file, "adapters/c", "sdk/session.c"),
        copied!(file, "adapters/c", "sdk/session.h"),
        copied!(file, "adapters/c", "sdk/text.c"),
        copied!(file, "adapters/c", "sdk/text.h"),
        copied!(file, "adapters/c", "wit/filesystem.wit"),
        copied!(file, "adapters/c", "wit/world.wit"),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    fn repository() -> PathBuf {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        root.to_owned()
    }

    fn files(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() {
                if name != "__pycache__" && name != "node_modules" {
                    files(&entry.path(), &format!("{prefix}{name}/"), found);
                }
            } else {
                found.insert(format!("{prefix}{name}"));
            }
        }
    }

    fn listed(templates: Vec<Template>) -> BTreeSet<String> {
        let paths = templates.iter().map(|file| file.path.to_owned());
        paths.collect()
    }

    #[test]
    fn no_file_of_an_adapter_is_left_out_of_its_template() {
        for (folder, own) in [
            ("python", python()),
            ("javascript", javascript()),
            ("c", c()),
        ] {
            let mut there = BTreeSet::new();
            let adapters = repository().join("adapters");
            files(&adapters.join(folder), "", &mut there);
            assert_eq!(listed(own), there, "{folder}");
        }
        let mut there = BTreeSet::new();
        files(&repository().join("templates/suite"), "suite/", &mut there);
        there.extend(["README.md".to_owned(), "try/line-agent".to_owned()]);
        assert_eq!(listed(of_a_line_agent(Vec::new())), there);
    }
}
