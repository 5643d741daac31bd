"""A session that runs one program for its one task."""

import wit_world.exports.agent
from wit_world.imports import process
from wit_world.imports.types import AgentStatus, Progress

from .evidence import Evidence
from .failures import AdapterFailure, Pending, operation

# How often a program that has nothing more to say is looked at, in milliseconds.
_STEP = 1_000
# How long a program may take to exit after its last event, in milliseconds.
_EXIT_WAIT = 30_000
# What a program that does not exit gets before it is killed, in milliseconds.
_EXIT_GRACE = 2_000


class ProcessSession(wit_world.exports.agent.Session):
    """Subclasses implement `start`, `follow` and `observe`; the six operations are done."""

    # True in a session whose work is over: nothing can be started.
    replays = False

    def __init__(self):
        self._program = None
        self._status = AgentStatus.CREATED
        self._reported = None
        self._waited = 0

    def start(self, task):
        """Starts the work: returns a `Program`."""
        raise NotImplementedError

    def follow(self, line):
        """Tells people what a line of stdout means, while the agent works. Returns
        `AgentStatus.COMPLETED` or `FAILED` if the agent says here that it is done, else
        `None`. Nothing that counts is decided here: see `observe`."""
        raise NotImplementedError

    def observe(self, evidence):
        """Everything that was measured, from the evidence alone."""
        raise NotImplementedError

    def ask_to_stop(self, program):
        """Asks the agent to stop as it likes to be asked; by default SIGINT."""
        program.interrupt()

    @operation
    def submit_task(self, task):
        if self.replays:
            raise AdapterFailure("invalid-state", "a session in replay mode takes no task")
        if self._status != AgentStatus.CREATED:
            raise AdapterFailure("invalid-state", "this agent takes one task in a session")
        if task.attachments:
            raise AdapterFailure("unsupported", "this adapter passes no attachments on")
        self._program = self.start(task)
        self._status = AgentStatus.RUNNING

    @operation
    def wait_for_completion(self, timeout):
        if self._status == AgentStatus.CREATED:
            raise AdapterFailure("invalid-state", "no task was submitted that could be waited for")
        if self._program is None:
            return Progress.ENDED
        try:
            exit = self._follow_to_the_end(timeout)
        except Pending:
            return Progress.PENDING
        self._settle(exit, AgentStatus.FAILED)
        return Progress.ENDED

    def get_status(self):
        return self._status

    @operation
    def collect_observations(self):
        return self.observe(Evidence())

    @operation
    def cancel(self, grace):
        if self._program is None:
            return
        self.ask_to_stop(self._program)
        try:
            exit = self._program.exit(grace - grace // 4)
        except Pending as pending:
            exit = self._program.terminate(0 if pending.interrupted else grace // 4)
        self._settle(exit, AgentStatus.CANCELLED)

    @operation
    def close(self):
        if self._program is not None:
            self._program.release()
            self._program = None

    def _follow_to_the_end(self, timeout):
        ended = False
        while True:
            over = ended or self._reported is not None
            try:
                if ended:
                    return self._program.exit(_STEP)
                for line in self._program.lines(_STEP if over else timeout):
                    reported = self.follow(line)
                    if reported is not None:
                        self._reported = reported
                        # From here on the program is only given a while to exit.
                        break
                else:
                    ended = True
            except Pending as pending:
                if pending.interrupted or not over:
                    raise
                self._waited += _STEP
                if self._waited >= _EXIT_WAIT:
                    return self._program.terminate(_EXIT_GRACE)

    def _settle(self, exit, otherwise):
        clean = exit == process.ExitStatus_Exited(0)
        completed = clean and self._reported == AgentStatus.COMPLETED
        self._status = AgentStatus.COMPLETED if completed else otherwise
        self._program.release()
        self._program = None
