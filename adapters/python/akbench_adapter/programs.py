"""Starting programs and reading what they print."""

from collections import deque
from dataclasses import dataclass

from componentize_py_types import Err
from wit_world.imports import process

from .failures import AdapterFailure, Pending
from .lines import LineSplitter

# Bytes that are read at once.
_CHUNK = 64 << 10
# Bytes of a probe's output that are looked at.
_PROBE_OUTPUT = 64 << 10
# Longer than any probe takes: the engine's deadline comes first. In milliseconds.
_PROBE_TIME = 60_000

# Pieces of an environment variable's value.
workspace = process.EnvPart_Path(process.Directory.WORKSPACE)
home = process.EnvPart_Path(process.Directory.AGENT_HOME)


class Program:
    """A running program. What it prints is also kept by the engine, as evidence."""

    def __init__(self, program, label, args, env=None, stdin=None):
        """Starts `program`, as the descriptor names it, in the workspace.

        `env` maps names to a text or a list of pieces (`workspace`, `home`,
        `EnvPart_Credential(name)`); `stdin` is a text, or `None` for an empty input.
        """
        variables = [(name, _pieces(value)) for name, value in (env or {}).items()]
        given = process.StdinMode_Closed()
        if stdin is not None:
            given = process.StdinMode_Bytes(stdin.encode())
        command = process.Command(
            program, label, list(args), variables, process.Directory.WORKSPACE, given
        )
        try:
            self._child = process.spawn(command)
        except Err as error:
            raise _not_started(program, error.value) from None
        self._splitter = LineSplitter()
        self._ready = deque()
        self._ended = False

    def lines(self, timeout):
        """Yields what the program prints until it closes stdout. Raises `Pending` if
        nothing came within `timeout` milliseconds; call it again to go on."""
        while True:
            while self._ready:
                yield self._ready.popleft()
            if self._ended:
                return
            match _waited(self._child.read_stdout, _CHUNK, timeout):
                case process.Output_Bytes(data):
                    self._ready.extend(self._splitter.push(data))
                case process.Output_TimedOut():
                    raise Pending(interrupted=False)
                case process.Output_End():
                    self._ended = True
                    self._ready.extend(self._splitter.finish())

    def exit(self, timeout):
        """How it ended. Raises `Pending` if it still runs after `timeout` milliseconds."""
        status = _waited(self._child.wait, timeout)
        if status is None:
            raise Pending(interrupted=False)
        return status

    def interrupt(self):
        """Sends it SIGINT."""
        self._child.signal(process.Signal.INTERRUPT)

    def terminate(self, grace):
        """Ends it and everything it started, at the latest after `grace` milliseconds."""
        return self._child.terminate(grace)

    def release(self):
        """Lets go of it; what still runs is ended. Nothing here relies on the garbage
        collector, which may come late."""
        if self._child is not None:
            self._child.__exit__(None, None, None)
            self._child = None

    def read_all(self, stream, timeout):
        """The first bytes of `stdout` or `stderr`, as text, read to its end."""
        read = getattr(self._child, f"read_{stream}")
        kept = bytearray()
        while True:
            match _waited(read, _PROBE_OUTPUT, timeout):
                case process.Output_Bytes(data):
                    kept += data[: _PROBE_OUTPUT - len(kept)]
                case process.Output_TimedOut():
                    raise Pending(interrupted=False)
                case process.Output_End():
                    return kept.decode(errors="replace")


@dataclass(frozen=True)
class Ended:
    """A program that ran to its end."""

    status: process.ExitStatus
    stdout: str
    stderr: str

    @property
    def succeeded(self):
        """Did it return 0?"""
        return self.status == process.ExitStatus_Exited(0)

    @property
    def facts(self):
        """Its end, as evidence of a failure."""
        exited = isinstance(self.status, process.ExitStatus_Exited)
        return {"exit": {"exited" if exited else "signalled": self.status.value}}


def run_to_end(program, label, args, env=None):
    """Runs a short probe. Raises `Pending` if the engine's deadline comes first."""
    running = Program(program, label, args, env)
    try:
        stdout = running.read_all("stdout", _PROBE_TIME)
        stderr = running.read_all("stderr", _PROBE_TIME)
        return Ended(running.exit(_PROBE_TIME), stdout, stderr)
    finally:
        running.release()


def _waited(call, *args):
    try:
        return call(*args)
    except Err as error:
        if error.value == process.WaitError.INTERRUPTED:
            raise Pending(interrupted=True) from None
        raise


def _pieces(value):
    return [process.EnvPart_Text(value)] if isinstance(value, str) else list(value)


_REASONS = {
    process.SpawnError_NotGranted: ("not_granted", "the descriptor does not grant `{}`"),
    process.SpawnError_NotFound: ("not_found", "the program was not found: {}"),
    process.SpawnError_NotExecutable: ("not_executable", "it cannot be executed: {}"),
    process.SpawnError_Limit: ("limit", "a limit of the host: {}"),
    process.SpawnError_Failed: ("failed", "{}"),
}


def _not_started(program, error):
    kind, reason = _REASONS[type(error)]
    message = f"`{program}` could not be started: {reason.format(error.value)}"
    return AdapterFailure("environment-invalid", message, {"spawn": kind})
