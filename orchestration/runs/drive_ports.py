"""What the drive loop needs of an engine, and of whoever makes the model calls."""

from __future__ import annotations

from typing import Protocol

from engine.vocabulary.effects import CallModel, Step
from engine.vocabulary.errors import CallFailure
from engine.vocabulary.inputs import EngineInput
from engine.vocabulary.messages import TurnOutcome


class Steppable(Protocol):
    """What the loop needs of an engine."""

    def feed(self, given: EngineInput) -> Step:
        """Take one input."""


class ModelCaller(Protocol):
    """Makes one model call and tells about it."""

    def context_window(self, model: str) -> int | None:
        """How many tokens a model can take in, where that is known."""

    async def call(self, effect: CallModel) -> TurnOutcome | CallFailure:
        """Give the reply, or how the call failed."""
