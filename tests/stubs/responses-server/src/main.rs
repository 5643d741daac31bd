//! Plays a script file until it is killed.

#![forbid(unsafe_code)]

use akbench_responses_server::{Options, Script, Server};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str =
    "usage: responses-server --script FILE [--port N] [--log FILE] [--until-stdin-closes]

Plays a script of model replies on 127.0.0.1 until it is killed, or until its standard input
ends. The first line on stdout is
the base URL. The log gets a line of JSON per request, authorization included.";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("responses-server: {message}");
            ExitCode::from(2)
        }
    }
}

#[derive(Default)]
struct Arguments {
    script: Option<PathBuf>,
    port: u16,
    log: Option<PathBuf>,
    until_stdin_closes: bool,
    help: bool,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut arguments = Self::default();
        while let Some(word) = words.next() {
            let name = word.to_string_lossy().into_owned();
            let mut value = || {
                words
                    .next()
                    .ok_or_else(|| format!("{name} needs a value\n\n{USAGE}"))
            };
            match name.as_str() {
                "--script" => arguments.script = Some(value()?.into()),
                "--log" => arguments.log = Some(value()?.into()),
                "--port" => {
                    let port = value()?;
                    arguments.port = port
                        .to_str()
                        .and_then(|text| text.parse().ok())
                        .ok_or_else(|| {
                            format!("--port {port:?} is not a number from 0 to 65535")
                        })?;
                }
                "--until-stdin-closes" => arguments.until_stdin_closes = true,
                "--help" | "-h" => arguments.help = true,
                _ => return Err(format!("unknown argument {word:?}\n\n{USAGE}")),
            }
        }
        Ok(arguments)
    }
}

fn run() -> Result<(), String> {
    let arguments = Arguments::parse(std::env::args_os().skip(1))?;
    if arguments.help {
        println!("{USAGE}");
        return Ok(());
    }
    let path = arguments
        .script
        .ok_or_else(|| format!("--script is missing\n\n{USAGE}"))?;
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("failed to read {}: {error}", path.display()))?;
    let script = Script::from_json(&text)
        .map_err(|error| format!("{} is no script: {error}", path.display()))?;
    let log =
        match arguments.log {
            Some(path) => {
                let opened = File::options().create(true).append(true).open(&path);
                Some(opened.map_err(|error| {
                    format!("failed to open the log {}: {error}", path.display())
                })?)
            }
            None => None,
        };
    let server = Server::start_with(
        script,
        Options {
            port: arguments.port,
            log,
        },
    )
    .map_err(|error| {
        format!(
            "failed to listen on 127.0.0.1, port {}: {error}",
            arguments.port
        )
    })?;
    writeln!(io::stdout(), "{}", server.base_url())
        .map_err(|error| format!("failed to write to stdout: {error}"))?;
    if arguments.until_stdin_closes {
        let mut ignored = [0; 4096];
        let mut stdin = io::stdin();
        loop {
            match stdin.read(&mut ignored) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(format!("failed to read stdin: {error}")),
            }
        }
    }
    loop {
        std::thread::park();
    }
}
