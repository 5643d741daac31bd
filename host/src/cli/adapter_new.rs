//! `akbench adapter new`: a project for an adapter of one's own.

use super::CliError;
use super::adapter_templates::{Template, templates};
use clap::{Args, ValueEnum};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Write a project that builds an adapter and runs it at once.
#[derive(Debug, Args)]
pub struct NewAdapter {
    /// The agent's id: lower-case letters, digits, `-` and `_`, a letter first
    #[arg(value_parser = id)]
    name: String,

    /// The language to write it in
    #[arg(long, value_enum)]
    lang: Language,

    /// The folder to make [default: NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A language with a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// Built with cargo, and turned into a component with wasm-tools
    Rust,
    /// Built with componentize-py
    Python,
    /// Built with componentize-qjs
    #[value(name = "js", alias = "javascript")]
    JavaScript,
    /// Built with clang and wit-bindgen
    C,
}

impl NewAdapter {
    /// Writes the project and says what to do next.
    ///
    /// # Errors
    ///
    /// If the folder exists, or something can't be written.
    pub fn execute(self) -> Result<u8, CliError> {
        let folder = self.out.clone().unwrap_or_else(|| self.name.clone().into());
        create(&folder)?;
        for template in templates(self.lang) {
            write(&folder, &template, &self.name).map_err(|error| CliError::System {
                action: "write the project",
                error,
            })?;
        }
        println!("{}", folder.display());
        eprintln!(
            "next: cd {} && ./build.sh {}.wasm, then see README.md",
            folder.display(),
            self.name
        );
        Ok(0)
    }
}

/// The id of an agent, as descriptors want it.
fn id(text: &str) -> Result<String, String> {
    let starts = text.starts_with(|c: char| c.is_ascii_lowercase());
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if starts && text.chars().all(allowed) {
        Ok(text.to_owned())
    } else {
        Err("expected lower-case letters, digits, `-` and `_`, beginning with a letter".to_owned())
    }
}

/// Makes a folder that does not exist yet: nothing is overwritten.
fn create(folder: &Path) -> Result<(), CliError> {
    match fs::create_dir(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(CliError::usage(format!(
                "`{}` exists already; name another folder with `--out`",
                folder.display()
            )))
        }
        Err(error) => Err(CliError::usage(format!(
            "the folder `{}` can't be made: {error}",
            folder.display()
        ))),
    }
}

fn write(folder: &Path, template: &Template, name: &str) -> io::Result<()> {
    let path = folder.join(template.path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(&path, template.text_for(name))?;
    if template.executable {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn project(lang: Language) -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("my-agent");
        let command = NewAdapter {
            name: "my-agent".to_owned(),
            lang,
            out: Some(folder.clone()),
        };
        assert_eq!(command.execute().unwrap(), 0);
        (place, folder)
    }

    #[test]
    fn every_project_has_its_contract_script_and_descriptor_under_its_own_name() {
        for lang in Language::value_variants() {
            let (_place, folder) = project(*lang);
            let script = fs::metadata(folder.join("build.sh")).unwrap();
            assert_ne!(script.permissions().mode() & 0o111, 0, "{lang:?}");
            let wit = fs::read_to_string(folder.join("wit/agent.wit")).unwrap();
            assert!(wit.contains("package akbench:agent@"));
            let descriptor = folder.join("adapter/descriptor.json");
            let descriptor = crate::registry::AgentDescriptor::load(&descriptor).unwrap();
            assert_eq!(descriptor.id.to_string(), "my-agent");
            let readme = fs::read_to_string(folder.join("README.md")).unwrap();
            assert!(!readme.contains("AKBENCH_NAME"));
        }
    }

    #[test]
    fn a_folder_that_exists_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let command = NewAdapter {
            name: "my-agent".to_owned(),
            lang: Language::C,
            out: Some(place.path().to_owned()),
        };
        assert_eq!(command.execute().unwrap_err().exit_code(), 2);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_names_that_a_descriptor_can_have_are_taken() {
        assert_eq!(id("my-agent_2").unwrap(), "my-agent_2");
        for wrong in ["", "2x", "../x", "My", "a b", "ä"] {
            assert!(id(wrong).is_err(), "{wrong}");
        }
    }
}
