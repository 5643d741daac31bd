"""JSON lines, as agents print them."""

import json
import re

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def json_object(line):
    """The JSON object on a line, or `None` if there is something else. Strings in it can be
    handed to the engine: half of a surrogate pair, which JSON allows and UTF-8 does not, is
    replaced by U+FFFD."""
    # Agents print megabytes of other things; this is quicker than finding out by an exception.
    if not line.data.lstrip(b" \t\r").startswith(b"{"):
        return None
    try:
        value = json.loads(line.data.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return _well_formed(value) if isinstance(value, dict) else None


def count(value, below=1 << 53):
    """`value` if it is an integer from 0 up to `below`, else `None`: never a guess. JSON does
    not tell 100 from 1e2."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 <= value < below and value == int(value) else None


def text(value):
    """`value` if it is a string, else `None`."""
    return value if isinstance(value, str) else None


def _refuse(name):
    raise ValueError(f"{name} is no JSON")


def _well_formed(value):
    match value:
        case str():
            return _LONE_SURROGATE.sub("\ufffd", value)
        case list():
            return [_well_formed(each) for each in value]
        case dict():
            return {_well_formed(key): _well_formed(each) for key, each in value.items()}
    return value
