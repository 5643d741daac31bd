"""The types of the contract under one name, as `componentize-py` generates them."""

from componentize_py_types import Err
from wit_world.imports.events import *  # noqa: F403
from wit_world.imports.events import emit, log
from wit_world.imports.process import *  # noqa: F403
from wit_world.imports.process import spawn
from wit_world.imports.types import *  # noqa: F403

__all__ = [name for name in dir() if not name.startswith("_")]
