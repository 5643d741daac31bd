//! What an adapter can do with its imports, in plain words.

use serde::Serialize;

/// What one import lets an adapter do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Authority {
    /// The import, for example `wasi:filesystem/types@0.2.12`.
    pub import: String,
    /// Whether it gives anything: some interfaces are linked and refuse every call.
    pub granted: bool,
    /// In plain words.
    pub meaning: &'static str,
}

/// What each import of a component lets it do. The imports are those of a component that was
/// loaded, so that none is refused.
pub fn of(imports: &[String]) -> Vec<Authority> {
    imports
        .iter()
        .map(|import| {
            let interface = import.split('@').next().unwrap_or(import);
            let (granted, meaning) = meaning(interface);
            Authority {
                import: import.clone(),
                granted,
                meaning,
            }
        })
        .collect()
}

fn meaning(interface: &str) -> (bool, &'static str) {
    let package = interface.split('/').next().unwrap_or(interface);
    match interface {
        "akbench:agent/types" => (false, "the words of the contract; no authority"),
        "akbench:agent/process" => (
            true,
            "start the programs that its descriptor names, in a supervised tree with a cleared \
             environment",
        ),
        "akbench:agent/events" => (true, "report progress and log lines, up to a limit"),
        "wasi:cli/environment" => (false, "the host's environment and arguments: both empty"),
        "wasi:cli/exit" => (false, "end itself, which counts as a trap"),
        "wasi:cli/stdin" => (false, "standard input: empty"),
        "wasi:cli/stdout" | "wasi:cli/stderr" => {
            (true, "print up to 64 KiB, kept for the report of a trap")
        }
        _ => match package {
            "wasi:filesystem" => (
                true,
                "files of its three folders: /evidence (to read), /artifacts and /agent-home",
            ),
            "wasi:io" => (true, "streams, and waiting for them"),
            "wasi:clocks" => (true, "the time"),
            "wasi:random" => (true, "random numbers"),
            "wasi:sockets" => (false, "the network: every call is denied"),
            "wasi:cli" => (false, "a terminal: there is none"),
            _ => (false, "nothing"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_that_is_linked_and_denied_grants_nothing() {
        let imports = [
            "akbench:agent/process@0.1.0",
            "wasi:sockets/tcp@0.2.6",
            "wasi:filesystem/types@0.2.12",
            "wasi:cli/terminal-input@0.2.6",
        ]
        .map(str::to_owned);
        let granted: Vec<bool> = of(&imports).iter().map(|import| import.granted).collect();
        assert_eq!(granted, [true, false, true, false]);
    }
}
