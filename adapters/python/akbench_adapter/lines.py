"""Reading a byte stream line by line.

Lines end at the byte `\\n` and nowhere else: agents write U+2028 and U+0085 raw inside JSON
strings, and `str.splitlines` would tear those events apart.
"""

from dataclasses import dataclass

# Bytes of a line that are kept; what comes after is skipped up to the newline.
MAX_LINE = 16 << 20


@dataclass(frozen=True)
class Line:
    """One line, without its newline."""

    # Counted from 1.
    number: int
    # Not necessarily UTF-8.
    data: bytes
    # False for a last line that no newline ends: it may be torn.
    terminated: bool
    # True if the line was longer than `MAX_LINE` and its end was skipped.
    oversized: bool = False


class LineSplitter:
    """Splits what is pushed into it, keeping an unfinished line for later."""

    def __init__(self):
        self._partial = bytearray()
        self._oversized = False
        self._number = 0

    def push(self, data):
        """The lines that these bytes end."""
        lines = []
        *heads, rest = data.split(b"\n")
        for head in heads:
            if self._partial or self._oversized or len(head) > MAX_LINE:
                self._keep(head)
                lines.append(self._take(terminated=True))
            else:
                self._number += 1
                lines.append(Line(self._number, head, True))
        self._keep(rest)
        return lines

    def finish(self):
        """The stream is over: a last line that had no newline, if there is one."""
        if self._partial or self._oversized:
            return [self._take(terminated=False)]
        return []

    def _keep(self, data):
        room = MAX_LINE - len(self._partial)
        self._partial += data[:room]
        self._oversized = self._oversized or len(data) > room

    def _take(self, terminated):
        self._number += 1
        line = Line(self._number, bytes(self._partial), terminated, self._oversized)
        self._partial.clear()
        self._oversized = False
        return line
