"""Adding up the tokens of model calls."""

from __future__ import annotations

from msgspec import Struct

from engine.vocabulary.messages import Usage


class UsageSum(Struct, omit_defaults=True):
    """Tokens and cost of all calls so far; a field of which nothing is known is `None`."""

    prompt: int | None = None
    completion: int | None = None
    total: int | None = None
    cached_input: int | None = None
    cache_creation_input: int | None = None
    cost: float | None = None

    def add(self, usage: Usage) -> None:
        """Count one call."""
        if usage.prompt_tokens is not None:
            self.prompt = (self.prompt or 0) + usage.prompt_tokens
        if usage.completion_tokens is not None:
            self.completion = (self.completion or 0) + usage.completion_tokens
        if usage.total_tokens is not None:
            self.total = (self.total or 0) + usage.total_tokens
        if usage.cached_input_tokens is not None:
            self.cached_input = (self.cached_input or 0) + usage.cached_input_tokens
        if usage.cache_creation_input_tokens is not None:
            self.cache_creation_input = (
                self.cache_creation_input or 0
            ) + usage.cache_creation_input_tokens
        if usage.cost is not None:
            self.cost = (self.cost or 0.0) + usage.cost

    def as_usage(self) -> Usage | None:
        """The sum as a value, `None` where nothing is known."""
        usage = Usage(
            self.prompt,
            self.completion,
            self.total,
            self.cached_input,
            self.cache_creation_input,
            self.cost,
        )
        return None if usage == Usage() else usage


def add_usage(one: Usage | None, other: Usage | None) -> Usage | None:
    """The tokens of two calls together; what is unknown in both stays unknown."""
    total = UsageSum()
    for usage in (one, other):
        if usage is not None:
            total.add(usage)
    return total.as_usage()
