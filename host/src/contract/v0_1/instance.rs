//! One adapter instance: a store of its own, and the eight operations.

use super::bindings::akbench::agent::types as wit;
use super::bindings::{Adapter, AdapterPre};
use super::translate::{self, Violation};
use crate::contract::observed::{EnvironmentReport, Observations, ReportedFailure};
use crate::contract::session::SessionHost;
use crate::sandbox::engine::Sandbox;
use crate::sandbox::guest_time::GuestTime;
use crate::sandbox::limits::{HOSTCALL_FUEL, LimitExceeded, MAX_HANDLES, MemoryLimiter};
use crate::sandbox::open_file;
use serde_json::{Map, Value};
use std::time::Duration;
use wasmtime::component::{Component, HasSelf, Linker, ResourceAny, ResourceTable};
use wasmtime::{Engine, Store, UpdateDeadline};
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

/// What an adapter prints is kept up to here, for the report of a trap.
const PRINTED: usize = 64 << 10;

/// What the store of one instance holds.
pub struct State {
    pub(super) wasi: WasiCtx,
    pub(super) table: ResourceTable,
    pub(super) host: SessionHost,
    pub(super) time: GuestTime,
    memory: MemoryLimiter,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl super::bindings::akbench::agent::types::Host for State {}

/// What an instance gets.
pub struct InstanceOptions {
    /// Its reach into the world.
    pub host: SessionHost,
    /// Bytes of memory it may use.
    pub memory_bytes: u64,
}

/// The endpoint that the agent is to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeBinding {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub base_url: String,
    /// The protocol spoken there.
    pub wire_api: String,
    /// The model, unless a parameter names one.
    pub model: Option<String>,
    /// Sent with every request.
    pub headers: Vec<(String, String)>,
    /// The name of the secret.
    pub credential: Option<String>,
}

/// The experiment's configuration of the agent.
#[derive(Debug, Clone)]
pub struct AgentConfig {
    /// Parameter name to value.
    pub parameters: Map<String, Value>,
    /// The endpoint.
    pub runtime: Option<RuntimeBinding>,
    /// The work is over: only observe.
    pub replay: bool,
}

/// What the agent is to do.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its name.
    pub id: String,
    /// What to do.
    pub instruction: String,
    /// Files that go with it, relative to `/evidence/task`.
    pub attachments: Vec<String>,
    /// The time it has.
    pub time_limit: Option<Duration>,
}

/// What waiting brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Not over.
    Pending,
    /// Over.
    Ended,
}

/// Where a session stands, as the adapter says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentStatus {
    /// No task yet.
    Created,
    /// At work.
    Running,
    /// Done.
    Completed,
    /// Ended badly.
    Failed,
    /// Stopped.
    Cancelled,
}

/// An instance, and its session once it is started.
pub struct Instance {
    store: Store<State>,
    adapter: Adapter,
    session: Option<ResourceAny>,
    printed: MemoryOutputPipe,
}

type Answer<T> = wasmtime::Result<Result<T, ReportedFailure>>;

/// A component whose imports are resolved, so that every session of it only instantiates.
#[derive(Clone)]
pub struct Prepared(AdapterPre<State>);

impl Prepared {
    /// Checks that a component has the types of this version, without running any of it.
    ///
    /// # Errors
    ///
    /// What is missing or differs.
    pub fn new(engine: &Engine, component: &Component) -> wasmtime::Result<Self> {
        let mut linker: Linker<State> = Linker::new(engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        open_file::link(&mut linker)?;
        Adapter::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?;
        AdapterPre::new(linker.instantiate_pre(component)?).map(Self)
    }
}

impl Instance {
    /// Instantiates a component.
    ///
    /// # Errors
    ///
    /// If its folders can't be opened, or it traps while it starts.
    pub async fn new(
        sandbox: &Sandbox,
        component: &Prepared,
        options: InstanceOptions,
    ) -> wasmtime::Result<Self> {
        let engine = sandbox.engine();

        let printed = MemoryOutputPipe::new(PRINTED);
        let folders = &options.host.grants.folders;
        let mut wasi = WasiCtxBuilder::new();
        wasi.stdout(printed.clone()).stderr(printed.clone());
        wasi.allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false);
        // Only regular files are ever opened, so a read never waits; a hand-over to another
        // thread for each of them would cost far more than the read.
        wasi.allow_blocking_current_thread(true);
        wasi.preopened_dir(&folders.evidence, "/evidence", FsPerms::ReadOnly)?;
        wasi.preopened_dir(&folders.artifacts, "/artifacts", FsPerms::ReadWrite)?;
        wasi.preopened_dir(&folders.agent_home, "/agent-home", FsPerms::ReadWrite)?;
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        let state = State {
            wasi: wasi.build(),
            table,
            host: options.host,
            time: GuestTime::new(sandbox.ticker().clone()),
            memory: MemoryLimiter::new(options.memory_bytes),
        };
        let mut store = Store::new(engine, state);
        store.limiter(|state| &mut state.memory);
        store.set_hostcall_fuel(HOSTCALL_FUEL);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|context| {
            match context.data().time.exceeded() {
                Some(limit) => Err(wasmtime::Error::new(LimitExceeded::new(
                    "computing time per operation",
                    format!("{} s", limit.as_secs()),
                ))),
                // Others get their turn, among them whoever wants the session back.
                None => Ok(UpdateDeadline::Yield(1)),
            }
        });
        store.data_mut().time.begin(Duration::from_secs(30));
        let adapter = component.0.instantiate_async(&mut store).await;
        store.data_mut().time.pause();
        Ok(Self {
            adapter: adapter?,
            store,
            session: None,
            printed,
        })
    }

    /// Allows this much computing time for the next operation.
    pub fn begin_operation(&mut self, computing: Duration) {
        self.store.data_mut().time.begin(computing);
    }

    /// The operation is over.
    pub fn end_operation(&mut self) {
        self.store.data_mut().time.pause();
    }

    /// Was memory refused? Then a trap that follows is the limit's doing.
    pub fn memory_limit_hit(&self) -> Option<usize> {
        let memory = &self.store.data().memory;
        memory.refused.then(|| memory.limit())
    }

    /// Bytes of memory that the adapter holds. It never gives any back.
    pub fn memory_used(&self) -> usize {
        self.store.data().memory.used()
    }

    /// What the adapter printed, for the report of a trap.
    pub fn printed(&self) -> String {
        String::from_utf8_lossy(&self.printed.contents())
            .trim()
            .to_owned()
    }

    /// The session's reach, to wait for its evidence.
    pub fn host(&self) -> &SessionHost {
        &self.store.data().host
    }

    /// `validate-environment`.
    pub async fn validate_environment(
        &mut self,
        config: &AgentConfig,
    ) -> Answer<EnvironmentReport> {
        let config = config_to(config);
        let agent = self.adapter.akbench_agent_agent();
        let result = agent
            .call_validate_environment(&mut self.store, &config)
            .await?;
        Ok(result.map(translate::report).map_err(translate::failure))
    }

    /// `start-session`.
    pub async fn start_session(&mut self, config: &AgentConfig) -> Answer<()> {
        let config = config_to(config);
        let agent = self.adapter.akbench_agent_agent();
        let result = agent.call_start_session(&mut self.store, &config).await?;
        Ok(result
            .map(|session| self.session = Some(session))
            .map_err(translate::failure))
    }

    /// `submit-task`.
    pub async fn submit_task(&mut self, task: &Task) -> Answer<()> {
        let task = wit::Task {
            id: task.id.clone(),
            instruction: task.instruction.clone(),
            attachments: task.attachments.clone(),
            time_limit: task
                .time_limit
                .map(|limit| u32::try_from(limit.as_millis()).unwrap_or(u32::MAX)),
            extra: "{}".to_owned(),
        };
        let session = self.session()?;
        let agent = self.adapter.akbench_agent_agent();
        let result = agent
            .session()
            .call_submit_task(&mut self.store, session, &task)
            .await?;
        Ok(result.map_err(translate::failure))
    }

    /// `wait-for-completion`.
    pub async fn wait_for_completion(&mut self, timeout: Duration) -> Answer<Progress> {
        let timeout = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
        let session = self.session()?;
        let agent = self.adapter.akbench_agent_agent();
        let result = agent
            .session()
            .call_wait_for_completion(&mut self.store, session, timeout)
            .await?;
        Ok(result
            .map(|progress| match progress {
                wit::Progress::Pending => Progress::Pending,
                wit::Progress::Ended => Progress::Ended,
            })
            .map_err(translate::failure))
    }

    /// `collect-observations`, and what in them the contract does not allow.
    pub async fn collect_observations(&mut self) -> Answer<(Observations, Vec<Violation>)> {
        let session = self.session()?;
        let agent = self.adapter.akbench_agent_agent();
        let result = agent
            .session()
            .call_collect_observations(&mut self.store, session)
            .await?;
        Ok(result
            .map(translate::observations)
            .map_err(translate::failure))
    }

    /// `cancel`.
    pub async fn cancel(&mut self, grace: Duration) -> Answer<()> {
        let grace = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
        let session = self.session()?;
        let agent = self.adapter.akbench_agent_agent();
        let result = agent
            .session()
            .call_cancel(&mut self.store, session, grace)
            .await?;
        Ok(result.map_err(translate::failure))
    }

    /// `get-status`.
    pub async fn status(&mut self) -> wasmtime::Result<AgentStatus> {
        let session = self.session()?;
        let agent = self.adapter.akbench_agent_agent();
        let status = agent
            .session()
            .call_get_status(&mut self.store, session)
            .await?;
        Ok(match status {
            wit::AgentStatus::Created => AgentStatus::Created,
            wit::AgentStatus::Running => AgentStatus::Running,
            wit::AgentStatus::Completed => AgentStatus::Completed,
            wit::AgentStatus::Failed => AgentStatus::Failed,
            wit::AgentStatus::Cancelled => AgentStatus::Cancelled,
        })
    }

    /// `close`, and the session goes on to exist: only to see what a second one does.
    pub async fn close_and_keep(&mut self) -> Answer<()> {
        let session = self.session()?;
        let agent = self.adapter.akbench_agent_agent();
        let result = agent.session().call_close(&mut self.store, session).await?;
        Ok(result.map_err(translate::failure))
    }

    /// `close`, and the end of the session.
    pub async fn close(&mut self) -> Answer<()> {
        let result = self.close_and_keep().await?;
        if let Some(session) = self.session.take() {
            session.resource_drop_async(&mut self.store).await?;
        }
        Ok(result)
    }

    fn session(&self) -> wasmtime::Result<ResourceAny> {
        self.session
            .ok_or_else(|| wasmtime::Error::msg("the engine called a session that is not open"))
    }
}

fn config_to(config: &AgentConfig) -> wit::AgentConfig {
    wit::AgentConfig {
        parameters: Value::Object(config.parameters.clone()).to_string(),
        runtime: config.runtime.as_ref().map(|runtime| wit::RuntimeBinding {
            name: runtime.name.clone(),
            base_url: runtime.base_url.clone(),
            wire_api: runtime.wire_api.clone(),
            model: runtime.model.clone(),
            headers: runtime.headers.clone(),
            credential: runtime.credential.clone(),
        }),
        mode: if config.replay {
            wit::SessionMode::Replay
        } else {
            wit::SessionMode::Run
        },
    }
}
