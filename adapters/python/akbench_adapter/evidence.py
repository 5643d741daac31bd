"""What the engine recorded: the only thing from which observations may be derived."""

import json
import os
from dataclasses import dataclass

from .failures import AdapterFailure
from .lines import LineSplitter

_CHUNK = 256 << 10


class EvidenceError(AdapterFailure):
    """Evidence that exists and could not be read."""

    def __init__(self, path, reason):
        super().__init__("unknown", f"evidence file `{path}` could not be read: {reason}")


@dataclass(frozen=True)
class Spawn:
    """A program that was started: a folder `spawns/<n>-<label>`."""

    # Counted from 1 within the session.
    number: int
    # As the adapter named it.
    label: str
    # Relative to the evidence.
    folder: str
    # How it ended, as `exit.json` says; `None` if its end was not recorded.
    exit: dict | None

    @property
    def exit_code(self):
        """What it returned; `None` if a signal ended it or its end was not recorded."""
        return self._status().get("code")

    @property
    def exit_signal(self):
        """The signal that ended it; `None` if it returned or its end was not recorded."""
        return self._status().get("signal")

    @property
    def sent(self):
        """The signals that the engine sent, in order, as (signal, reason), but for those
        that ended leftovers after the program's own end."""
        signals = (self.exit or {}).get("signals", [])
        pairs = [(each.get("signal"), each.get("reason")) for each in signals]
        return [pair for pair in pairs if pair[1] != "leftovers"]

    def _status(self):
        return (self.exit or {}).get("status", {})


class Evidence:
    """A folder of evidence; in an adapter `/evidence`."""

    def __init__(self, root="/evidence"):
        self._root = root

    def spawns(self, label=None):
        """The programs that were started, in order; with `label`, those named so."""
        found = []
        for name in self._list("spawns"):
            number, dash, named = name.partition("-")
            if not (dash and number.isascii() and number.isdigit()):
                continue
            if label is not None and named != label:
                continue
            folder = f"spawns/{name}"
            found.append(Spawn(int(number), named, folder, self._record(f"{folder}/exit.json")))
        return sorted(found, key=lambda spawn: spawn.number)

    def lines(self, path):
        """Yields the lines of a file, one chunk of it in memory at a time; nothing if there
        is no such file."""
        splitter = LineSplitter()
        try:
            with open(os.path.join(self._root, path), "rb") as file:
                while data := file.read(_CHUNK):
                    yield from splitter.push(data)
        except FileNotFoundError:
            return
        except OSError as error:
            raise EvidenceError(path, error.strerror) from None
        yield from splitter.finish()

    def read(self, path):
        """A whole file; `None` if there is none."""
        try:
            with open(os.path.join(self._root, path), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise EvidenceError(path, error.strerror) from None

    def _list(self, folder):
        try:
            return os.listdir(os.path.join(self._root, folder))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise EvidenceError(folder, error.strerror) from None

    def _record(self, path):
        data = self.read(path)
        try:
            record = json.loads(data) if data is not None else None
        except ValueError:
            # Torn by a crash: as good as absent.
            return None
        return record if isinstance(record, dict) else None
