//! The `process` import.

use super::bindings::akbench::agent::process as wit;
use super::instance::State;
use crate::contract::child::{Child, Output, StdinError};
use crate::contract::session::{AdapterCommand, Directory, EnvPart, SpawnRefusal, StdinMode};
use crate::process::exit::ExitStatus;
use std::future::Future;
use std::time::Duration;
use wasmtime::component::Resource;

/// What a guest holds when it holds a `child`.
pub struct GuestChild(pub Child);

type Answer<T> = wasmtime::Result<T>;

impl State {
    /// Runs a blocking import without charging the guest for the time.
    async fn blocking<T>(&mut self, work: impl AsyncFnOnce(&mut Self) -> T) -> T {
        self.time.pause();
        let result = work(self).await;
        self.time.resume();
        result
    }

    fn child(&mut self, child: &Resource<GuestChild>) -> Answer<&mut Child> {
        Ok(&mut self.table.get_mut(child)?.0)
    }
}

impl wit::Host for State {
    fn spawn(
        &mut self,
        command: wit::Command,
    ) -> impl Future<Output = Answer<Result<Resource<GuestChild>, wit::SpawnError>>> + Send {
        self.blocking(
            async |state| match state.host.spawn(command_from(command)).await {
                Ok(child) => Ok(Ok(state.table.push(GuestChild(child))?)),
                Err(refusal) => Ok(Err(refusal_to(refusal))),
            },
        )
    }

    fn locate(
        &mut self,
        directory: wit::Directory,
        relative: String,
    ) -> Answer<Result<String, String>> {
        Ok(self.host.locate(directory_from(directory), &relative))
    }
}

impl wit::HostChild for State {
    async fn read_stdout(
        &mut self,
        child: Resource<GuestChild>,
        max_bytes: u32,
        timeout: u32,
    ) -> Answer<Result<wit::Output, wit::WaitError>> {
        self.blocking(async |state| {
            let read = state
                .child(&child)?
                .read_stdout(max_bytes, millis(timeout))
                .await;
            Ok(read.map(output_to).map_err(|_| wit::WaitError::Interrupted))
        })
        .await
    }

    async fn read_stderr(
        &mut self,
        child: Resource<GuestChild>,
        max_bytes: u32,
        timeout: u32,
    ) -> Answer<Result<wit::Output, wit::WaitError>> {
        self.blocking(async |state| {
            let read = state
                .child(&child)?
                .read_stderr(max_bytes, millis(timeout))
                .await;
            Ok(read.map(output_to).map_err(|_| wit::WaitError::Interrupted))
        })
        .await
    }

    async fn write_stdin(
        &mut self,
        child: Resource<GuestChild>,
        bytes: Vec<u8>,
    ) -> Answer<Result<u32, wit::StdinError>> {
        self.blocking(async |state| {
            let written = state.child(&child)?.write_stdin(&bytes).await;
            Ok(written.map_err(|error| match error {
                StdinError::Interrupted => wit::StdinError::Interrupted,
                StdinError::BrokenPipe => wit::StdinError::BrokenPipe,
            }))
        })
        .await
    }

    fn close_stdin(&mut self, child: Resource<GuestChild>) -> Answer<()> {
        self.child(&child)?.close_stdin();
        Ok(())
    }

    async fn wait(
        &mut self,
        child: Resource<GuestChild>,
        timeout: u32,
    ) -> Answer<Result<Option<wit::ExitStatus>, wit::WaitError>> {
        self.blocking(async |state| {
            let waited = state.child(&child)?.wait(millis(timeout)).await;
            Ok(waited
                .map(|status| status.map(status_to))
                .map_err(|_| wit::WaitError::Interrupted))
        })
        .await
    }

    async fn signal(&mut self, child: Resource<GuestChild>, signal: wit::Signal) -> Answer<()> {
        let signal = match signal {
            wit::Signal::Interrupt => rustix::process::Signal::INT,
            wit::Signal::Terminate => rustix::process::Signal::TERM,
        };
        self.blocking(async |state| {
            state.child(&child)?.signal(signal.as_raw()).await;
            Ok(())
        })
        .await
    }

    async fn terminate(
        &mut self,
        child: Resource<GuestChild>,
        grace: u32,
    ) -> Answer<wit::ExitStatus> {
        self.blocking(async |state| {
            let status = state.child(&child)?.terminate(millis(grace)).await;
            Ok(status_to(status))
        })
        .await
    }

    async fn drop(&mut self, child: Resource<GuestChild>) -> Answer<()> {
        // Dropping the child itself ends its tree.
        self.table.delete(child)?;
        Ok(())
    }
}

fn millis(millis: u32) -> Duration {
    Duration::from_millis(millis.into())
}

fn directory_from(directory: wit::Directory) -> Directory {
    match directory {
        wit::Directory::Workspace => Directory::Workspace,
        wit::Directory::AgentHome => Directory::AgentHome,
        wit::Directory::Artifacts => Directory::Artifacts,
    }
}

fn command_from(command: wit::Command) -> AdapterCommand {
    let part = |part| match part {
        wit::EnvPart::Text(text) => EnvPart::Text(text),
        wit::EnvPart::Path(directory) => EnvPart::Path(directory_from(directory)),
        wit::EnvPart::Credential(name) => EnvPart::Credential(name),
    };
    AdapterCommand {
        program: command.program,
        label: command.label,
        args: command.args,
        env: command
            .env
            .into_iter()
            .map(|(name, parts)| (name, parts.into_iter().map(part).collect()))
            .collect(),
        cwd: directory_from(command.cwd),
        stdin: match command.stdin {
            wit::StdinMode::Closed => StdinMode::Closed,
            wit::StdinMode::Bytes(bytes) => StdinMode::Bytes(bytes),
            wit::StdinMode::Piped => StdinMode::Piped,
        },
    }
}

fn refusal_to(refusal: SpawnRefusal) -> wit::SpawnError {
    match refusal {
        SpawnRefusal::NotGranted(what) => wit::SpawnError::NotGranted(what),
        SpawnRefusal::NotFound(what) => wit::SpawnError::NotFound(what),
        SpawnRefusal::NotExecutable(what) => wit::SpawnError::NotExecutable(what),
        SpawnRefusal::Limit(what) => wit::SpawnError::Limit(what),
        SpawnRefusal::Failed(what) => wit::SpawnError::Failed(what),
    }
}

fn output_to(output: Output) -> wit::Output {
    match output {
        Output::Bytes(bytes) => wit::Output::Bytes(bytes),
        Output::TimedOut => wit::Output::TimedOut,
        Output::End => wit::Output::End,
    }
}

fn status_to(status: ExitStatus) -> wit::ExitStatus {
    match status {
        ExitStatus::Exited { code } => wit::ExitStatus::Exited(code),
        ExitStatus::Signalled { signal } => wit::ExitStatus::Signalled(signal),
    }
}
