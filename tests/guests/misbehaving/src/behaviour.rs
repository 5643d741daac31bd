//! The ways to misbehave.

use serde::{Deserialize, Serialize};

/// One of the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `validate-environment`
    Validate,
    /// `start-session`
    Start,
    /// `submit-task`
    Submit,
    /// `wait-for-completion`
    Wait,
    /// `get-status`
    Status,
    /// `collect-observations`
    Collect,
    /// `cancel`
    Cancel,
    /// `close`
    Close,
}

/// One way to break the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Behaviour {
    /// Breaks nothing.
    None,
    LoopInValidate,
    LoopInStart,
    LoopInSubmit,
    LoopInWait,
    LoopInStatus,
    LoopInCollect,
    LoopInCancel,
    LoopInClose,
    TrapInValidate,
    TrapInStart,
    TrapInSubmit,
    TrapInWait,
    TrapInStatus,
    TrapInCollect,
    TrapInCancel,
    TrapInClose,
    /// Takes all the memory that there is.
    MemoryBomb,
    /// Recurses without end.
    DeepRecursion,
    /// Hands out a string of a gigabyte.
    GigabyteString,
    /// Emits a million events.
    MillionEvents,
    /// Opens files by the thousand and keeps them.
    LeakedHandles,
    /// Starts programs without end.
    LeakedChildren,
    /// Looks into the folders beside its own.
    ParentFolder,
    /// Follows a link of its own to a file of the host.
    Symlink,
    /// Reads a named pipe in the agent's home.
    Fifo,
    /// Opens a connection.
    Socket,
    /// Reads the host's environment.
    HostEnvironment,
    /// Starts a program that its descriptor does not name.
    ProgramNotGranted,
    /// Sets a variable by which a program would load another one's code.
    ForbiddenVariable,
    /// Writes into the evidence.
    WritesEvidence,
    /// Reports a cost that its descriptor calls unsupported.
    UnsupportedCost,
    /// Reports 0 where nothing is known.
    ZeroForNull,
    /// Goes on waiting when it is interrupted.
    IgnoresInterruption,
    /// Says that all is well, whatever the evidence shows.
    ContradictsEvidence,
    /// Takes an exit code for the truth.
    ExitCodeDecides,
    /// Answers differently each time.
    ChangesItsAnswer,
    /// Observes from memory, which a replay does not have.
    ObservesFromMemory,
    /// Changes the instruction.
    TrimsInstruction,
    /// Takes a second task that it can't do.
    TakesASecondTask,
    /// Fails when it is closed twice.
    ClosesOnce,
    /// Fails when there is nothing to cancel.
    CancelsOnlyWork,
    /// Says `completed` of everything.
    StatusAlwaysCompleted,
    /// Accepts whatever it is configured with.
    AcceptsAnyConfiguration,
    /// Calls truncated usage complete and fills it up.
    InventsUsage,
}

impl Behaviour {
    /// The operation in which it computes without end.
    pub fn loops_in(self) -> Option<Operation> {
        Some(match self {
            Self::LoopInValidate => Operation::Validate,
            Self::LoopInStart => Operation::Start,
            Self::LoopInSubmit => Operation::Submit,
            Self::LoopInWait => Operation::Wait,
            Self::LoopInStatus => Operation::Status,
            Self::LoopInCollect => Operation::Collect,
            Self::LoopInCancel => Operation::Cancel,
            Self::LoopInClose => Operation::Close,
            _ => return None,
        })
    }

    /// The operation in which it traps.
    pub fn traps_in(self) -> Option<Operation> {
        Some(match self {
            Self::TrapInValidate => Operation::Validate,
            Self::TrapInStart => Operation::Start,
            Self::TrapInSubmit => Operation::Submit,
            Self::TrapInWait => Operation::Wait,
            Self::TrapInStatus => Operation::Status,
            Self::TrapInCollect => Operation::Collect,
            Self::TrapInCancel => Operation::Cancel,
            Self::TrapInClose => Operation::Close,
            _ => return None,
        })
    }
}
