"""What the evidence shows of a task."""

import json

from akbench_adapter import nothing_observed
from akbench_adapter import contract as ak
from akbench_adapter.json_line import count, text

import outcome
from stream import Stream

# The labels of the programs that are started.
VERSION = "version"
TASK = "task"

_TOOL_STATUS = {
    "completed": ak.ToolStatus.COMPLETED,
    "failed": ak.ToolStatus.FAILED,
    "denied": ak.ToolStatus.DENIED,
}


def observations(evidence):
    """Everything measured; the same for the same evidence, whenever it is asked."""
    seen = nothing_observed()
    for spawn in evidence.spawns(VERSION):
        printed = evidence.read(f"{spawn.folder}/stdout") or b""
        seen.agent_version = reported_version(printed.decode(errors="replace"))
    tasks = evidence.spawns(TASK)
    if not tasks:
        return seen
    spawn = tasks[-1]
    stream = Stream(evidence.lines(f"{spawn.folder}/stdout"))
    seen.outcome = outcome.of(spawn, stream)
    seen.unresolved = outcome.unresolved(spawn, stream)
    seen.native_session_id = text(stream.start.get("session"))
    seen.final_message = stream.last_message
    seen.tool_calls = [tool_call(event) for event in stream.tools]
    seen.applied.model = text(stream.start.get("model"))
    seen.warnings = stream.warnings
    if stream.usage is not None:
        seen.usage = token_usage(stream.usage)
        ended = stream.done is not None
        missing = [] if ended else ["last request"]
        seen.provenance = [
            ak.Provenance("usage", ak.Origin.AGENT, "stdout:usage", ended, missing)
        ]
    if stream.unreadable:
        seen.extra = json.dumps({"unreadable_lines": stream.unreadable})
    return seen


def reported_version(printed):
    """The version in what `--version` printed; `None` if it is something else."""
    words = printed.split()
    return words[1] if len(words) == 2 and words[0] == "line-agent" else None


def token_usage(event):
    """The running totals of a `usage` event."""
    return ak.TokenUsage(
        input=count(event.get("input")),
        cached_input=count(event.get("cached_input")),
        cache_write_input=None,
        output=count(event.get("output")),
        reasoning_output=None,
        total=count(event.get("total")),
    )


def tool_call(event):
    """The tool call of a `tool` event."""
    status = text(event.get("status"))
    return ak.ToolCall(
        id=text(event.get("id")) or "",
        name=text(event.get("name")) or "",
        sub_agent=None,
        status=_TOOL_STATUS.get(status),
        exit_code=count(event.get("exit_code"), below=1 << 31),
        duration=count(event.get("duration_ms"), below=1 << 32),
    )
