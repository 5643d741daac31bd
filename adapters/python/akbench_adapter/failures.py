"""From exceptions to failures of the contract."""

import functools
import json

from wit_world.imports import types
from componentize_py_types import Err


class AdapterFailure(Exception):
    """An operation could not be carried out; the engine is told so.

    `kind` is a class of the contract as `wit/agent.wit` writes it, for example
    `environment-invalid`. `evidence` holds the structured facts that it rests on.
    """

    def __init__(self, kind, message, evidence=None, retryable=False):
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.evidence = evidence or {}
        self.retryable = retryable


class Pending(Exception):
    """Nothing to go on with for now.

    `interrupted` is true if the engine wants the session back, false if only the time that
    was asked for has passed.
    """

    def __init__(self, interrupted):
        super().__init__("interrupted" if interrupted else "timed out")
        self.interrupted = interrupted


def failure(kind, message, evidence=None, retryable=False):
    """A failure of the contract, for an outcome."""
    return types.Failure(
        class_=_failure_class(kind),
        message=message,
        evidence=json.dumps(evidence or {}),
        retryable=retryable,
    )


def _failure_class(kind):
    name = "FailureClass_" + "".join(part.capitalize() for part in kind.split("-"))
    found = getattr(types, name, None)
    if found is None or found is types.FailureClass_Other:
        raise ValueError(f"the contract has no failure class `{kind}`; see wit/agent.wit")
    return found()


def operation(method):
    """Makes a method an operation: `AdapterFailure` becomes the failure that the engine
    reads, and `Pending` one of class `interrupted`.

    Any other exception is a mistake in the adapter. It is let through on purpose: the
    component then traps, and the engine blames the adapter and shows the traceback.
    """

    @functools.wraps(method)
    def operate(*args):
        try:
            return method(*args)
        except AdapterFailure as error:
            reported = failure(error.kind, error.message, error.evidence, error.retryable)
        except Pending:
            name = method.__name__.replace("_", "-")
            reported = failure("interrupted", f"{name} was interrupted before it was done")
        raise Err(reported)

    return operate
