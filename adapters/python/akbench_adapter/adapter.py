"""The operations that come before a session."""

import json

import wit_world.exports
from wit_world.imports import types

from .failures import AdapterFailure, operation


class Adapter(wit_world.exports.Agent):
    """An adapter. Subclasses implement `validate` and `session`."""

    def validate(self, parameters, runtime):
        """Can the agent run here? Returns an `EnvironmentReport`, or raises
        `AdapterFailure`."""
        raise NotImplementedError

    def session(self, parameters, runtime):
        """Prepares a session that works. Both arguments are `None` in a session whose work
        is over."""
        raise NotImplementedError

    @operation
    def validate_environment(self, config):
        return self.validate(_parameters(config), config.runtime)

    @operation
    def start_session(self, config):
        if config.mode == types.SessionMode.REPLAY:
            session = self.session(None, None)
            session.replays = True
            return session
        return self.session(_parameters(config), config.runtime)


def _parameters(config):
    try:
        parameters = json.loads(config.parameters)
    except ValueError as error:
        raise AdapterFailure("invalid-configuration", f"the parameters are no JSON: {error}") from None
    if not isinstance(parameters, dict):
        raise AdapterFailure("invalid-configuration", "the parameters are no JSON object")
    return parameters
