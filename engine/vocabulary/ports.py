"""The protocols through which the engine and its surroundings meet."""

from __future__ import annotations

from typing import Protocol

from engine.vocabulary.effects import AsideText, InspectCalls, RunTools
from engine.vocabulary.events import RunEvent
from engine.vocabulary.messages import ModelTurn, TurnOutcome
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import (
    ApprovalMode,
    CallInspection,
    ToolAccessPolicy,
    ToolDefinition,
    ToolEffects,
    ToolResult,
)


class StreamSink(Protocol):
    """Takes a reply as it arrives. Must be cheap and must not raise."""

    def text(self, delta: str) -> None:
        """A piece of the assistant's text."""

    def thinking(self, delta: str) -> None:
        """A piece of reasoning that may be shown."""

    def event(self, event: RunEvent) -> None:
        """Something to be told about the call itself, such as a repair."""


class ModelPort(Protocol):
    """A provider adapter: one request, one finished turn."""

    async def invoke(self, request: AgentRequest, sink: StreamSink | None = None) -> ModelTurn:
        """Make the call; cancelling the task ends the request on the wire.

        Raises:
            ModelCallError: with a failure that is told without knowing the completion protocol: any
                but `MalformedSubmit` and `MixedToolTurn`.
        """


class AiPort(Protocol):
    """A model call with the completion protocol applied to its reply."""

    async def invoke(self, request: AgentRequest, sink: StreamSink | None = None) -> TurnOutcome:
        """Make the call.

        Raises:
            ModelCallError: with any failure.
        """


class ToolPort(Protocol):
    """Runs tool calls."""

    async def execute_batch(self, batch: RunTools) -> tuple[tuple[ToolResult, ...], ToolEffects]:
        """Run the calls and give their results in call order, fewer if cancelled."""

    async def inspect(self, batch: InspectCalls) -> tuple[CallInspection, ...]:
        """Find out what the calls would touch; nothing is changed, and no call fails it."""

    async def put_aside(self, node_id: str, texts: tuple[AsideText, ...]) -> None:
        """Keep results of a node or subagent that its requests do not hold any more.

        Raises:
            OSError: they cannot be written.
        """


class ToolCatalog(Protocol):
    """Which tools there are; a pure look-up that gives equal answers for equal questions."""

    def offered(
        self, node_id: str, mode: ApprovalMode, policy: ToolAccessPolicy
    ) -> tuple[ToolDefinition, ...]:
        """The tools that the node is offered, in the order in which they are sent."""

    def definition(self, name: str) -> ToolDefinition | None:
        """A tool by name, offered or not; `None` if nobody knows it."""


class Entropy(Protocol):
    """Ids and randomness as pure functions of a serial number, so that a run can be replayed."""

    def identifier(self, serial: int) -> str:
        """A text that is unique among the serials of the run, of letters, digits and `-`."""

    def fraction(self, serial: int) -> float:
        """A number in [0, 1) that looks random."""
