//! The breaks, in the order of the suite's cases.

use serde::{Deserialize, Serialize};

macro_rules! breaks {
    ($($(#[doc = $doc:literal])+ $name:ident,)*) => {
        /// One deliberate break of the reference adapter, or of its descriptor.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Break {
            /// Breaks nothing: the reference.
            #[default]
            Nothing,
            $($(#[doc = $doc])+ $name,)*
        }

        impl Break {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// What it breaks.
            pub fn what(self) -> &'static str {
                match self {
                    Self::Nothing => "nothing is broken",
                    $(Self::$name => concat!($($doc),+).trim_ascii(),)*
                }
            }
        }
    };
}

breaks! {
    /// `validate-environment` traps.
    TrapInValidate,
    /// `start-session` traps.
    TrapInStart,
    /// `submit-task` traps.
    TrapInSubmit,
    /// `wait-for-completion` traps.
    TrapInWait,
    /// `get-status` traps.
    TrapInStatus,
    /// `collect-observations` traps.
    TrapInCollect,
    /// `cancel` traps.
    TrapInCancel,
    /// `close` traps.
    TrapInClose,

    /// The descriptor's schema lets undeclared parameters pass.
    OpenSchema,
    /// Unknown parameters are dropped in silence.
    UnknownParameterTaken,
    /// A parameter of the wrong type is taken for its default.
    WrongTypeTaken,
    /// A missing runtime is not noticed.
    NoRuntimeNeeded,
    /// Any protocol is taken for its own.
    AnyWireApi,

    /// The report names another version than the program.
    VersionMisread,
    /// A missing program is an unknown failure.
    MissingProgramUnnamed,
    /// Every version is understood.
    AnyVersion,
    /// The agent's sandbox may be broken.
    SandboxFailureIgnored,
    /// A probe that prints nothing is good news.
    ProbeCrashIgnored,
    /// A probe is left running until the session starts.
    ProbeLeft,

    /// The agent is started with the session.
    WorksAtStart,
    /// A replay writes into the agent's home.
    ReplayWrites,

    /// The agent works in its home.
    WorksInHome,

    /// An empty instruction is filled in.
    EmptyFilled,
    /// A long instruction is cut.
    LongCut,
    /// Leading dashes are taken away.
    DashStripped,
    /// Variables are expanded.
    VariablesExpanded,
    /// CR LF becomes LF.
    LineEndsUnified,
    /// The instruction ends at its first NUL.
    NulEnds,
    /// One control character is dropped.
    BellDropped,
    /// U+2028 and U+2029 become newlines.
    SeparatorsBecomeNewlines,
    /// Characters outside of the basic plane are replaced.
    MathFolded,
    /// Accents are composed.
    AccentsComposed,
    /// A byte order mark is taken away.
    MarkDropped,

    /// Nothing is said about work that is completed.
    CompletedUnsaid,
    /// What the agent reports as its failure is called a crash.
    FailureReclassified,
    /// An agent that was done and had to be ended has no known end.
    StayingEndUnknown,
    /// Exit code 0 after some output is a success.
    ExitCodeDecides,
    /// Exit code 0 without any output is a success.
    SilenceIsSuccess,

    /// Work that had almost no time is called completed.
    ShortLimitIsDone,
    /// At a time limit the agent is killed unasked.
    LimitKills,
    /// An agent that had to be killed has completed its work.
    KilledIsDone,
    /// An agent that fell silent has completed its work.
    IdleIsDone,

    /// Cancelling without a task fails.
    CancelNeedsTask,
    /// A cancel kills the agent unasked.
    CancelKills,
    /// A second cancel fails.
    CancelOnce,
    /// A cancel after the end makes the work cancelled.
    LateCancelCounts,

    /// A second close fails.
    CloseOnce,
    /// Closing a session that was never used fails.
    CloseNeedsTask,
    /// Closing while the agent works fails.
    CloseNeedsEnd,

    /// The first task is observed for the second.
    FirstTaskObserved,
    /// A second task is taken, though there can be one only.
    SecondTaskTaken,
    /// A task for a working agent is swallowed.
    TaskSwallowed,

    /// A session is still `running` when its work is completed.
    CompletedIsRunning,
    /// Failed work is `completed`.
    FailedIsCompleted,
    /// Cancelled work is `failed`.
    CancelledIsFailed,

    /// A tool's exit code is not observed.
    ToolExitLost,
    /// The second answer differs from the first.
    AnswersDiffer,
    /// The tokens come from nowhere.
    UsageUnsourced,
    /// Where the agent said nothing, its tokens are 0.
    NothingIsZero,
    /// The descriptor promises turns, which are never observed.
    PromisesTurns,
    /// A crash has a price, though the descriptor calls prices unsupported.
    CrashCosts,

    /// Missing tokens are guessed.
    UsageGuessed,
    /// Without evidence there is a last message all the same.
    NothingIsSomething,

    /// SIGABRT is taken for a cancel.
    SigabrtIsCancel,
    /// SIGBUS is taken for a cancel.
    SigbusIsCancel,
    /// SIGFPE is taken for a cancel.
    SigfpeIsCancel,
    /// SIGHUP is taken for a cancel.
    SighupIsCancel,
    /// SIGILL is taken for a cancel.
    SigillIsCancel,
    /// SIGINT is taken for a cancel.
    SigintIsCancel,
    /// SIGKILL is taken for a cancel.
    SigkillIsCancel,
    /// SIGPIPE is taken for a cancel.
    SigpipeIsCancel,
    /// SIGSEGV is taken for a cancel.
    SigsegvIsCancel,
    /// SIGTERM is taken for a cancel.
    SigtermIsCancel,

    /// After thousands of lines the last message is lost.
    ManyLinesDrown,
    /// Much on stderr, and the last message is lost.
    StderrDrowns,
    /// A long line, and the last message is lost.
    LongLineDrowns,
    /// Bytes that are no text, and the last message is lost.
    OnlyText,
    /// Completed work is celebrated with a flood of events.
    EventFlood,

    /// The agent is given another home than the session's.
    HomeIsWorkspace,

    /// An interrupted wait fails.
    InterruptedWaitFails,
    /// A wait that was too short ends the work.
    TimeoutEnds,
    /// An interrupted probe is a broken environment.
    InterruptedProbeIsInvalid,

    /// A replay of completed work forgets the last message.
    ReplayForgetsCompleted,
    /// A replay of failed work forgets the session's name.
    ReplayForgetsFailed,
    /// A replay of cancelled work forgets the tokens.
    ReplayForgetsCancelled,

    /// The agent's own logs are kept as they are.
    LogsKeptRaw,
}

impl Break {
    /// The signal that it takes for a cancel.
    pub fn taken_for_cancel(self) -> Option<i32> {
        Some(match self {
            Self::SighupIsCancel => 1,
            Self::SigintIsCancel => 2,
            Self::SigillIsCancel => 4,
            Self::SigabrtIsCancel => 6,
            Self::SigbusIsCancel => 7,
            Self::SigfpeIsCancel => 8,
            Self::SigkillIsCancel => 9,
            Self::SigsegvIsCancel => 11,
            Self::SigpipeIsCancel => 13,
            Self::SigtermIsCancel => 15,
            _ => return None,
        })
    }
}
