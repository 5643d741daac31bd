"""What the program printed, as a whole."""

from akbench_adapter.json_line import json_object, text


class Stream:
    """The events that decide something."""

    def __init__(self, lines):
        # The first `start` event; empty if there was none.
        self.start = {}
        self.last_message = None
        self.tools = []
        self.warnings = []
        # The last `usage` event: totals, so that it stands for all before.
        self.usage = None
        # (line, event) of the first event that ends the work.
        self.done = None
        self.error = None
        # (line, event) of a `retry` that nothing followed.
        self.retry = None
        # Whole lines that are no JSON object.
        self.unreadable = 0
        for line in lines:
            self._add(line)

    def _add(self, line):
        if not line.data:
            return
        event = json_object(line)
        if event is None:
            # A last line without its newline was torn by the end, not misprinted.
            self.unreadable += line.terminated
            return
        self.retry = None
        match event.get("type"):
            case "start" if not self.start:
                self.start = event
            case "message" if text(event.get("text")) is not None:
                self.last_message = event["text"]
            case "warning" if text(event.get("text")) is not None:
                self.warnings.append(event["text"])
            case "tool":
                self.tools.append(event)
            case "usage":
                self.usage = event
            case "retry":
                self.retry = (line.number, event)
            case "done" if self.error is None and self.done is None:
                self.done = (line.number, event)
            case "error" if self.error is None and self.done is None:
                self.error = (line.number, event)
