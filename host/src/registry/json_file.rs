//! Reading a descriptor file: bytes, JSON, schema, and then the Rust type.

use super::error::{Problem, RegistryError};
use super::{formats, schema_check, strict_json};
use crate::digest::Sha256;
use jsonschema::Validator;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// Far more than any descriptor needs: a wrong file must not fill the memory.
const MAX_BYTES: u64 = 4 << 20;

/// The kinds of files that have a published schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Agent,
    Runtime,
    Catalog,
    Task,
}

/// A file that is what its schema says.
#[derive(Debug)]
pub(super) struct Checked<T> {
    pub(super) content: T,
    pub(super) document: Value,
    pub(super) digest: Sha256,
}

struct Schema {
    document: Value,
    validator: Validator,
}

static AGENT: LazyLock<Result<Schema, String>> = LazyLock::new(|| {
    compile(include_str!(
        "../../../descriptors/schemas/agent.schema.json"
    ))
});
static RUNTIME: LazyLock<Result<Schema, String>> = LazyLock::new(|| {
    compile(include_str!(
        "../../../descriptors/schemas/runtime.schema.json"
    ))
});
static CATALOG: LazyLock<Result<Schema, String>> = LazyLock::new(|| {
    compile(include_str!(
        "../../../descriptors/schemas/catalog.schema.json"
    ))
});
static TASK: LazyLock<Result<Schema, String>> = LazyLock::new(|| {
    compile(include_str!(
        "../../../descriptors/schemas/task.schema.json"
    ))
});

/// Reads a file, checks it against the schema of its kind and with `further`, which sees the
/// document even if the schema refused it, so that all problems come at once.
///
/// # Errors
///
/// Everything that is wrong with the file.
pub(super) fn read<T: DeserializeOwned>(
    path: &Path,
    kind: FileKind,
    further: impl FnOnce(&Value) -> Vec<Problem>,
) -> Result<Checked<T>, Vec<RegistryError>> {
    read_problems(path, kind, further).map_err(|problems| {
        let about = |problem| RegistryError {
            file: path.to_owned(),
            problem,
        };
        problems.into_iter().map(about).collect()
    })
}

fn read_problems<T: DeserializeOwned>(
    path: &Path,
    kind: FileKind,
    further: impl FnOnce(&Value) -> Vec<Problem>,
) -> Result<Checked<T>, Vec<Problem>> {
    let bytes = read_bytes(path).map_err(|problem| vec![problem])?;
    let document = strict_json::parse(&bytes).map_err(|problem| vec![problem])?;
    let mut problems = match schema(kind) {
        Ok(schema) => schema_check::check(&schema.validator, &schema.document, &document),
        Err(reason) => vec![Problem::BrokenSchema {
            reason: reason.clone(),
        }],
    };
    problems.extend(further(&document));
    if !problems.is_empty() {
        return Err(problems);
    }
    // Only reached if the schema lets something through that the type does not.
    let content = T::deserialize(&document).map_err(|error| {
        vec![Problem::Value {
            pointer: String::new(),
            expected: format!("a document that can be read ({error})"),
            found: "one that can't".to_owned(),
        }]
    })?;
    Ok(Checked {
        content,
        document,
        digest: Sha256::of(&bytes),
    })
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    let unreadable = |reason: String| Problem::Unreadable { reason };
    let metadata = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    // Opening a named pipe would wait for its writer.
    if !metadata.is_file() {
        return Err(unreadable("expected a regular file".to_owned()));
    }
    if metadata.len() > MAX_BYTES {
        return Err(unreadable(format!(
            "expected at most {MAX_BYTES} bytes, found {}",
            metadata.len()
        )));
    }
    fs::read(path).map_err(|error| unreadable(error.to_string()))
}

fn schema(kind: FileKind) -> Result<&'static Schema, &'static String> {
    match kind {
        FileKind::Agent => AGENT.as_ref(),
        FileKind::Runtime => RUNTIME.as_ref(),
        FileKind::Catalog => CATALOG.as_ref(),
        FileKind::Task => TASK.as_ref(),
    }
}

fn compile(text: &str) -> Result<Schema, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let options = formats::register(jsonschema::draft202012::options());
    let mut without_patterns = document.clone();
    drop_patterns(&mut without_patterns);
    let validator = options
        .build(&without_patterns)
        .map_err(|error| error.to_string())?;
    Ok(Schema {
        document,
        validator,
    })
}

/// Leaves out the patterns of what a format of ours describes: they say the same to others who
/// use the published schemas, and compiling them takes longer than reading all descriptors.
fn drop_patterns(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let format = object.get("format").and_then(Value::as_str);
            if format.is_some_and(|format| formats::words(format).is_some()) {
                object.remove("pattern");
            }
            object.values_mut().for_each(drop_patterns);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_patterns),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::registry::capability::Capability;

    #[test]
    fn the_built_in_schemas_are_valid_and_name_only_formats_that_are_checked() {
        fn formats_of(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(object) => {
                    if let Some(Value::String(name)) = object.get("format") {
                        found.push(name.clone());
                    }
                    object.values().for_each(|value| formats_of(value, found));
                }
                Value::Array(array) => array.iter().for_each(|value| formats_of(value, found)),
                _ => {}
            }
        }
        for kind in [
            FileKind::Agent,
            FileKind::Runtime,
            FileKind::Catalog,
            FileKind::Task,
        ] {
            let schema = schema(kind).expect("a valid schema");
            assert!(jsonschema::meta::is_valid(&schema.document), "{kind:?}");
            let mut formats = Vec::new();
            formats_of(&schema.document, &mut formats);
            assert!(!formats.is_empty());
            for format in formats {
                assert!(formats::words(&format).is_some(), "{format}");
            }
        }
    }

    #[test]
    fn the_schemas_name_every_capability() {
        let schema = schema(FileKind::Agent).expect("a valid schema");
        let claims = &schema.document["properties"]["capabilities"];
        let mut expected: Vec<&str> = Capability::ALL
            .iter()
            .map(|capability| capability.as_str())
            .collect();
        let mut properties: Vec<&str> = claims["properties"]
            .as_object()
            .expect("an object")
            .keys()
            .map(String::as_str)
            .collect();
        let mut required: Vec<&str> = claims["required"]
            .as_array()
            .expect("an array")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let task = super::schema(FileKind::Task).expect("a valid schema");
        let mut required_by_tasks: Vec<&str> =
            task.document["properties"]["requires"]["items"]["enum"]
                .as_array()
                .expect("an array")
                .iter()
                .filter_map(Value::as_str)
                .collect();
        required_by_tasks.sort_unstable();
        for names in [&mut expected, &mut properties, &mut required] {
            names.sort_unstable();
        }
        assert_eq!(properties, expected);
        assert_eq!(required, expected);
        assert_eq!(required_by_tasks, expected);
    }
}
