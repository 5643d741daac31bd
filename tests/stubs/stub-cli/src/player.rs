//! Playing steps in order.

use crate::failure::Failure;
use crate::output::Channel;
use crate::signals::Handled;
use crate::step::{OnSignal, ReadStdin, Step};
use crate::{daemon, files, output, programs, report, signals};
use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct Player {
    /// The scenario folder.
    folder: PathBuf,
    handled: Arc<Handled>,
}

impl Player {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            handled: Arc::default(),
        }
    }

    pub(crate) fn play(&self, steps: &[Step]) -> Result<(), Failure> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&self, step: &Step) -> Result<(), Failure> {
        match step {
            Step::Stdout(write) => output::write(Channel::Stdout, write, &self.folder),
            Step::Stderr(write) => output::write(Channel::Stderr, write, &self.folder),
            Step::Flood(flood) => output::flood(flood, &self.folder),
            Step::CloseStdout => output::close(Channel::Stdout),
            Step::CloseStderr => output::close(Channel::Stderr),
            Step::Copy(copy) => files::copy(copy, &self.folder),
            Step::WriteFile(file) => files::write(file, &self.folder),
            Step::AppendFile(file) => files::append(file, &self.folder),
            Step::DeleteFile(place) => files::delete(place),
            Step::MakeFifo(place) => files::make_fifo(place),
            Step::MakeSymlink(link) => files::symlink(link),
            Step::ReadStdin(read) => read_stdin(read),
            Step::IgnoreSignals(names) => names.iter().try_for_each(|signal| {
                signals::ignore(signal.number())
                    .map_err(|error| Failure::step(format!("failed to ignore {signal:?}: {error}")))
            }),
            Step::OnSignal(on_signal) => self.on_signal(on_signal),
            Step::SleepMs(milliseconds) => {
                thread::sleep(Duration::from_millis(*milliseconds));
                Ok(())
            }
            Step::Hang => {
                self.handled.wait();
                Ok(())
            }
            Step::Daemon(daemon) => daemon::start(daemon),
            Step::Run(run) => programs::run(run),
            Step::ReportEnv(to) => report::send(&report::environment(), to),
            Step::ReportSelf(to) => report::send(&report::process(), to),
            Step::StopSelf => signals::stop_self(),
            Step::Exit(code) => std::process::exit(i32::from(*code)),
            Step::KillSelf(signal) => signals::kill_self(*signal),
        }
    }

    fn on_signal(&self, step: &OnSignal) -> Result<(), Failure> {
        let player = self.clone();
        let steps = step.steps.clone();
        signals::handle(step.signal, Arc::clone(&self.handled), move || {
            player.play(&steps)
        })
        .map_err(|error| Failure::step(format!("failed to handle {:?}: {error}", step.signal)))
    }
}

fn read_stdin(step: &ReadStdin) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::step(format!("failed to read stdin: {error}")))?;
    if let Some(path) = &step.save_to {
        let path = files::base(step.into_env.as_deref())?.join(path);
        fs::write(&path, &bytes).map_err(|error| {
            Failure::step(format!("failed to write {}: {error}", path.display()))
        })?;
    }
    match &step.require {
        Some(wanted) if wanted.as_bytes() != bytes => Err(Failure::step(format!(
            "stdin was {} bytes, {:?}, expected {} bytes, {wanted:?}",
            bytes.len(),
            String::from_utf8_lossy(&bytes),
            wanted.len()
        ))),
        _ => Ok(()),
    }
}
