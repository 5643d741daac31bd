"""The parameters of an experiment."""

from .failures import AdapterFailure


def known(parameters, **types):
    """Refuses a parameter that is not named here, or whose value has another type: `str`, `bool`,
    `int`, `float`, `list` or `dict`. The engine checks them against the descriptor's schema; the
    adapter checks again, because it may be given another descriptor."""
    for name, value in parameters.items():
        if name not in types:
            raise AdapterFailure("invalid-configuration", f"the parameter `{name}` is not known")
        wanted = types[name]
        # A boolean is an `int` to Python, and none to JSON.
        fits = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
        if not fits:
            raise AdapterFailure(
                "invalid-configuration", f"the parameter `{name}` is no {wanted.__name__}"
            )
