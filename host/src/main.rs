//! The `akbench` program: a thin command line over the library.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else: a supervisor needs neither a command line nor a runtime.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|arg| arg == akbench::supervisor::HIDDEN_COMMAND)
    {
        return match akbench::supervisor::run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("supervisor: {error}");
                ExitCode::FAILURE
            }
        };
    }
    akbench::cli::main()
}
