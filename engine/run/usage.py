"""Adding up the tokens of model calls."""

from __future__ import annotations

from engine.vocabulary.messages import Usage


def add_usage(one: Usage | None, other: Usage | None) -> Usage | None:
    """The tokens of two calls together; what is unknown in both stays unknown."""
    if one is None or other is None:
        return other if one is None else one
    return Usage(
        _add(one.prompt_tokens, other.prompt_tokens),
        _add(one.completion_tokens, other.completion_tokens),
        _add(one.total_tokens, other.total_tokens),
        _add(one.cached_input_tokens, other.cached_input_tokens),
        _add(one.cache_creation_input_tokens, other.cache_creation_input_tokens),
    )


def _add(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other
