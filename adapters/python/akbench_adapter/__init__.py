"""What an adapter in Python needs besides its own knowledge of one agent.

- `Adapter`, `ProcessSession`: the eight operations, done; subclasses fill in the agent.
- `Program`, `run_to_end`: starting programs and reading what they print.
- `Evidence`: what the engine recorded; all observations come from there.
- `known`: refusing parameters that the adapter does not know.
- `AdapterFailure`, `failure`: saying what went wrong.
- `contract`: the types of `wit/agent.wit` as they are.
"""

from . import contract
from .adapter import Adapter
from .evidence import Evidence, EvidenceError, Spawn
from .failures import AdapterFailure, Pending, failure, operation
from .lines import Line, LineSplitter
from .observations import nothing_observed
from .parameters import known
from .programs import Ended, Program, home, run_to_end, workspace
from .session import ProcessSession

__all__ = [
    "Adapter",
    "AdapterFailure",
    "Ended",
    "Evidence",
    "EvidenceError",
    "Line",
    "LineSplitter",
    "Pending",
    "ProcessSession",
    "Program",
    "Spawn",
    "contract",
    "failure",
    "home",
    "known",
    "nothing_observed",
    "operation",
    "run_to_end",
    "workspace",
]
