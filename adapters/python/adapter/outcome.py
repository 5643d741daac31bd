"""How the work ended.

Completed is only what says so itself: `done` and exit 0. Everything else is classified by
structured facts: the typed error code, then the exit status.
"""

from akbench_adapter import contract as ak
from akbench_adapter import failure
from akbench_adapter.json_line import text

# Typed codes of the protocol: class, and whether trying again later may help.
_CODES = {
    "connection_failed": ("network", True),
    "context_window_exceeded": ("context-window-exceeded", False),
    "model_not_found": ("model-not-found", False),
    "quota_exceeded": ("quota-exceeded", False),
    "rate_limited": ("rate-limited", True),
    "refused": ("agent-refusal", False),
    "server_error": ("provider-error", True),
    "unauthorized": ("authentication", False),
}
# SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS: the program's own doing.
_CRASHES = {4, 6, 7, 8, 11, 31}


def of(spawn, stream):
    """The outcome; `None` if the program may have outlived its engine."""
    if spawn.exit is None:
        return None
    if stream.error is not None:
        return ak.Outcome_Failed(_reported(spawn, *stream.error))
    if stream.done is not None and spawn.exit_code == 0:
        return ak.Outcome_Completed()
    hung = all(reason == "adapter" and signal != "SIGINT" for signal, reason in spawn.sent)
    if spawn.sent and not (stream.done is not None and hung):
        return ak.Outcome_Cancelled()
    kind, message = _unexpected_end(spawn, stream)
    return ak.Outcome_Failed(failure(kind, message, {"exit": _exit(spawn)}))


def unresolved(spawn, stream):
    """What the program was still struggling with when its output stops."""
    if stream.retry is None or stream.done is not None or stream.error is not None:
        return None
    line, event = stream.retry
    code = text(event.get("code"))
    kind, _ = _CODES.get(code, ("unknown", True))
    facts = {"code": code, "source": f"{spawn.folder}/stdout:{line}"}
    message = "the agent was still trying again: " + (text(event.get("message")) or "")
    return failure(kind, message, facts, retryable=True)


def _reported(spawn, line, event):
    code = text(event.get("code"))
    kind, retryable = _CODES.get(code, ("agent-error", False))
    facts = {"exit": _exit(spawn), "code": code, "source": f"{spawn.folder}/stdout:{line}"}
    return failure(kind, text(event.get("message")) or "", facts, retryable)


def _unexpected_end(spawn, stream):
    if stream.done is not None:
        if spawn.sent:
            return "agent-crash", "the agent said that it was done and did not exit"
        return "agent-crash", f"the agent said that it was done and ended with {_words(spawn)}"
    if spawn.exit_signal is not None:
        kind = "agent-crash" if spawn.exit_signal in _CRASHES else "unknown"
        return kind, f"the agent was ended by {_words(spawn)}, which the engine did not send"
    if stream.unreadable:
        return "agent-protocol-error", "the agent printed lines that are no JSON objects"
    return "agent-crash", f"the agent ended with {_words(spawn)} and without `done`"


def _words(spawn):
    if spawn.exit_signal is not None:
        return f"signal {spawn.exit_signal}"
    return f"exit {spawn.exit_code}"


def _exit(spawn):
    if spawn.exit_signal is not None:
        return {"signalled": spawn.exit_signal}
    return {"exited": spawn.exit_code}
