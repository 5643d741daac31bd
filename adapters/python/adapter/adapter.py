"""The adapter `echo-python`: runs a program that speaks the line protocol."""

from akbench_adapter import Adapter, AdapterFailure, ProcessSession, Program, home, known, run_to_end
from akbench_adapter import contract as ak
from akbench_adapter.json_line import json_object, text

import observe

PROGRAM = "line-agent"
# Where the agent keeps its own files.
ENVIRONMENT = {"LINE_AGENT_HOME": [home]}


class Session(ProcessSession):
    def __init__(self, parameters):
        super().__init__()
        self.parameters = parameters

    def start(self, task):
        args = ["run"]
        if "model" in self.parameters:
            args += ["--model", self.parameters["model"]]
        return Program(PROGRAM, observe.TASK, args, ENVIRONMENT, stdin=task.instruction)

    def follow(self, line):
        event = json_object(line) or {}
        match event.get("type"):
            case "start":
                ak.emit(ak.Event_TurnStarted())
            case "message" if text(event.get("text")):
                ak.emit(ak.Event_Message(event["text"]))
            case "warning" if text(event.get("text")):
                ak.emit(ak.Event_Warning(event["text"]))
            case "tool":
                ak.emit(ak.Event_ToolFinished(observe.tool_call(event)))
            case "usage":
                ak.emit(ak.Event_Usage(observe.token_usage(event)))
            case "done":
                ak.emit(ak.Event_TurnFinished(None))
                return ak.AgentStatus.COMPLETED
            case "error":
                return ak.AgentStatus.FAILED
        return None

    def observe(self, evidence):
        return observe.observations(evidence)


class Agent(Adapter):
    def validate(self, parameters, runtime):
        known(parameters, model=str)
        ended = run_to_end(PROGRAM, observe.VERSION, ["--version"], ENVIRONMENT)
        version = observe.reported_version(ended.stdout)
        if version is None:
            raise AdapterFailure(
                "environment-invalid",
                "`line-agent --version` did not print `line-agent` and a version; check that "
                "the program found is the right one",
                ended.facts,
            )
        return ak.EnvironmentReport(version, [])

    def session(self, parameters, runtime):
        return Session(parameters)
