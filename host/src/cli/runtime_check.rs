//! `akbench runtime check`: is the endpoint there, and does it take the credential?

use super::table::Page;
use super::wording::{known, name_of, one_line, seconds};
use super::{CliError, folders, output, value};
use crate::endpoint::{Answer, Question, ask};
use crate::process::redaction::Redactor;
use crate::registry::{Extent, ResolvedRuntime};
use crate::runner::plan::{HostEnvironment, ProcessEnvironment, only_runtime};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

/// Models that are listed for people.
const MAX_MODELS: usize = 20;

/// Ask an endpoint once for its list of models, with the credential that runs would use.
///
/// One bounded request that costs nothing; the credential is never printed. Exit codes: 0 it
/// answered and refused nothing · 3 it did not · 2 usage, no such runtime, no credential.
#[derive(Debug, Args)]
pub struct CheckRuntime {
    /// The runtime, as ID, ID@1 or ID@1.2.0 [default: AKBENCH_RUNTIME, else the only one]
    #[arg(value_name = "ID")]
    runtime: Option<String>,

    /// How long to wait for the answer
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = value::duration, allow_hyphen_values = true)]
    timeout: Duration,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// A folder with more descriptors; later ones win
    #[arg(long = "descriptors", value_name = "DIR")]
    descriptors: Vec<PathBuf>,
}

impl CheckRuntime {
    pub fn execute(self) -> Result<u8, CliError> {
        let registry = folders::registry(&self.descriptors, Extent::WithoutTasks)?;
        folders::report_overrides(&registry);
        let wanted = self.runtime.clone().or_else(|| {
            let variable = ProcessEnvironment.text("AKBENCH_RUNTIME");
            variable.filter(|name| !name.is_empty())
        });
        let runtime = match &wanted {
            Some(name) => registry
                .runtime(name)
                .map_err(|error| CliError::usage(error.to_string()))?,
            None => only_runtime(&registry).ok_or_else(|| {
                CliError::usage(
                    "name the runtime: `akbench runtime list` shows those that are configured",
                )
            })?,
        };
        let lookup = |name: &str| ProcessEnvironment.text(name);
        let (resolved, secret) = match (runtime.resolve(lookup), runtime.credential(lookup)) {
            (Ok(resolved), Ok(secret)) => (resolved, secret),
            (resolved, secret) => {
                let of_url = resolved.err().map(|error| error.to_string());
                let of_secret = secret
                    .err()
                    .map(|error| format!("runtime `{}`: {error}", runtime.id));
                return Err(CliError::Usage(
                    of_url.into_iter().chain(of_secret).collect(),
                ));
            }
        };
        let credential = secret.as_ref().map(|secret| secret.expose());
        let redactor = Redactor::new(credential.map(str::as_bytes))?;
        let answer = ask(
            &Question {
                base_url: &resolved.base_url,
                headers: &resolved.headers,
                credential,
                timeout: self.timeout,
            },
            &redactor,
        );
        let name = format!("{}@{}", runtime.id, runtime.version);
        if self.json {
            output::json(&entry(&name, &resolved, &answer))?;
        } else {
            output::text(&page(&name, &resolved, &answer))?;
        }
        Ok(if answer.class.is_some() { 3 } else { 0 })
    }
}

/// `None` if the endpoint lists no models, or the runtime proposes none.
fn is_listed(resolved: &ResolvedRuntime, answer: &Answer) -> Option<bool> {
    Some(answer.models.as_ref()?.contains(resolved.model.as_ref()?))
}

fn entry(name: &str, resolved: &ResolvedRuntime, answer: &Answer) -> serde_json::Value {
    json!({
        "runtime": name,
        "wire_api": resolved.wire_api,
        "url": answer.url,
        "credential_variable": resolved.credential_variable,
        "status": answer.status,
        "latency_ms": answer.latency_ms,
        "class": answer.class,
        "fault": answer.class.as_ref().map(|class| class.fault()),
        "problem": answer.problem,
        "error_type": answer.error_type,
        "error_code": answer.error_code,
        "models": answer.models,
        "model": resolved.model,
        "model_listed": is_listed(resolved, answer),
    })
}

fn page(name: &str, resolved: &ResolvedRuntime, answer: &Answer) -> String {
    let mut page = Page::default();
    let verdict = match (answer.status, &answer.class) {
        (Some(_), None) => "answers",
        (Some(_), Some(_)) => "answers with an error",
        (None, _) => "does not answer",
    };
    page.line(&format!("{name} {verdict}"));
    page.row("asked", format!("GET {}", answer.url));
    page.row(
        "credential",
        resolved
            .credential_variable
            .as_ref()
            .map_or_else(|| "none".to_owned(), |name| format!("from {name}")),
    );
    page.row(
        "status",
        format!(
            "{}, after {}",
            known(answer.status),
            seconds(answer.latency_ms)
        ),
    );
    if let Some(problem) = &answer.problem {
        let class = answer.class.as_ref().map_or_else(String::new, name_of);
        page.row("problem", format!("{class}: {}", one_line(problem)));
    }
    for (row, code) in [("type", &answer.error_type), ("code", &answer.error_code)] {
        if let Some(code) = code {
            page.row(row, one_line(code));
        }
    }
    match &answer.models {
        Some(models) => {
            let shown: Vec<String> = models
                .iter()
                .take(MAX_MODELS)
                .map(|it| one_line(it))
                .collect();
            let more = models.len().saturating_sub(MAX_MODELS);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            page.row(
                "models",
                format!("{}: {}{more}", models.len(), shown.join(", ")),
            );
        }
        None if answer.class.is_none() => page.row(
            "models",
            "it lists none, so neither credential nor model is proven",
        ),
        None => {}
    }
    if let (Some(model), Some(listed)) = (&resolved.model, is_listed(resolved, answer)) {
        let listed = if listed { "is listed" } else { "is not listed" };
        page.row("model", format!("{} {listed}", one_line(model)));
    }
    page.finish()
}
