//! One real run on a small task, against a scripted model, for a person to watch.

mod workspace_files;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use akbench_responses_server::{Server, scripts};

use self::workspace_files::Listing;
use crate::agent::real_cli::{self, Search};
use crate::agent::{self, PROGRAM, stub};
use crate::failure::{Explain, Outcome};
use crate::toolchain::Installing;
use crate::workspace::Workspace;
use crate::{build, digest, steps};

/// What the scripted model's tool call does; the stub's recording did the same.
const INSTRUCTION: &str = "Write hi to out.txt.\n";

/// Builds everything and runs the agent; its exit code becomes the demo's.
///
/// # Errors
///
/// If something does not build or the demo's own folders cannot be made.
pub fn run(workspace: &Workspace, installing: Installing) -> Outcome<ExitCode> {
    build::everything(workspace, installing)?;

    let demo = workspace.target.join("demo");
    fs::create_dir_all(&demo).explain(|| format!("create {}", demo.display()))?;
    let folder = tempfile::Builder::new()
        .prefix("run-")
        .tempdir_in(&demo)
        .explain(|| format!("create a folder in {}", demo.display()))?;
    let agent = Agent::choose(workspace, &folder.path().join("bin"))?;
    let files = folder.path().join("workspace");
    let task = folder.path().join("task.txt");
    fs::create_dir(&files).explain(|| format!("create {}", files.display()))?;
    fs::write(&task, INSTRUCTION).explain(|| format!("write {}", task.display()))?;
    let before = Listing::of(&files)?;
    let server = Server::start(scripts::happy())
        .explain(|| "start the scripted model server on 127.0.0.1".to_owned())?;

    eprintln!();
    eprintln!("agent      {}", agent.description);
    eprintln!("model      a scripted server at {}", server.base_url());
    eprintln!("task       {}", INSTRUCTION.trim_end());
    eprintln!();

    let out = workspace.target.join("demo-runs");
    let results_before = results_in(&out);
    let mut command = Command::new(workspace.debug_program("akbench"));
    command
        .arg("run")
        .arg("--adapter")
        .arg(workspace.adapters().join("codex.wasm"))
        .arg("--workspace")
        .arg(&files)
        .arg("--task-file")
        .arg(&task)
        .args([
            "--param",
            "sandbox_mode=workspace-write",
            "--runtime",
            "llm-router",
        ])
        // In the folder itself, so that the change can be shown below.
        .arg("--in-place")
        .arg("--out")
        .arg(&out)
        .current_dir(&workspace.root)
        .env("AKBENCH_SHARE", &workspace.root)
        .env("AKBENCH_LLM_ROUTER_URL", server.base_url())
        .env("AKBENCH_LLM_ROUTER_KEY", random_key()?)
        .env("PATH", &agent.path);
    eprintln!("xtask: {}", steps::shown(&command));
    let status = command
        .status()
        .explain(|| format!("start `{}`", steps::shown(&command)))?;

    println!();
    Listing::of(&files)?.print_changes_since(&before);
    println!(
        "The model was asked {} times.",
        server.model_requests().len()
    );
    for result in results_in(&out)
        .iter()
        .filter(|result| !results_before.contains(result))
    {
        println!("The result and its evidence: {}", workspace.shown(result));
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The program that the demo runs as the agent.
struct Agent {
    description: String,
    /// `PATH` for akbench, with this agent before all others.
    path: OsString,
}

impl Agent {
    /// The real CLI if there is one, else the stub, laid out in `bin`.
    fn choose(workspace: &Workspace, bin: &Path) -> Outcome<Self> {
        match real_cli::find()? {
            Search::Found(program) => {
                // A link under the agent's name, because a path given by hand may end otherwise.
                fs::create_dir_all(bin).explain(|| format!("create {}", bin.display()))?;
                let link = bin.join(PROGRAM);
                std::os::unix::fs::symlink(&program, &link)
                    .explain(|| format!("link {} to {}", link.display(), program.display()))?;
                Ok(Self {
                    description: format!("the real Codex CLI, {}", program.display()),
                    path: agent::path_with(bin)?,
                })
            }
            Search::Absent(reason) => {
                let scenario = workspace.root.join("xtask/demo-stub");
                stub::with_scenario_folder(&workspace.debug_program("stub-cli"), bin, &scenario)?;
                Ok(Self {
                    description: format!(
                        "a stub that plays a recorded session, because {reason} \
                         (the real one: npm install -g @openai/codex@0.171.0)"
                    ),
                    path: agent::path_with(bin)?,
                })
            }
        }
    }
}

/// A key that only this demo's model server will ever see.
fn random_key() -> Outcome<String> {
    let mut bytes = [0; 24];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .explain(|| "read random bytes from /dev/urandom".to_owned())?;
    Ok(format!("demo-{}", digest::hexadecimal(&bytes)))
}

/// The stored results under `out`, which the runner may put a folder or two deeper.
fn results_in(out: &Path) -> Vec<PathBuf> {
    fn search(folder: &Path, depth: u8, found: &mut Vec<PathBuf>) {
        let result = folder.join("result.json");
        if result.is_file() {
            found.push(result);
        } else if depth > 0 {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    search(&entry.path(), depth - 1, found);
                }
            }
        }
    }
    let mut found = Vec::new();
    search(out, 2, &mut found);
    found.sort();
    found
}
