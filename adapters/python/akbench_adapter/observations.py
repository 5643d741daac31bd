"""Observations to start from."""

from wit_world.imports import types


def nothing_observed():
    """Observations in which nothing is known. Set what the evidence shows, and only that."""
    return types.Observations(
        outcome=None,
        unresolved=None,
        agent_version=None,
        native_session_id=None,
        final_message=None,
        turns=None,
        model_requests=None,
        usage=None,
        usage_by_model=None,
        cost_usd=None,
        tool_calls=None,
        applied=types.AppliedSettings(None, None, None, None, None),
        warnings=[],
        native_logs=[],
        provenance=[],
        extra="{}",
    )
