"""The port through which everything passes that a run needs to go on or to be run again."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.inputs import EngineInput, ModelReplied
from engine.vocabulary.tools import NO_EFFECTS, ToolEffects, ToolResult


class SeenFile(Struct, frozen=True, array_like=True):
    """Which version of a file a conversation knows: its real path, SHA-256 in hexadecimal."""

    conversation_id: str
    path: str
    digest: str


class Journal(Protocol):
    """Takes a run's facts in the order in which they come about.

    `turn` and `input` share one order: together they are the inputs of the engine, each written
    down before it is fed. `intent` and `result` return when the fact is safe; they take it before
    they wait for anything, so that who is cancelled meanwhile has written it down once.
    """

    def opened(self, run_id: str, seed: bytes) -> None:
        """The run begins; `seed` makes its ids and its randomness."""

    def input(self, value: EngineInput) -> None:
        """This is fed to the engine next."""

    def turn(self, reply: ModelReplied) -> None:
        """A model's reply, which is fed to the engine next."""

    async def intent(
        self, node_id: str, call: AdmittedCall, *, targets: tuple[str, ...] = ()
    ) -> None:
        """This call runs next; `targets` is what it is about to touch, as inspections say it."""

    async def result(
        self,
        node_id: str,
        result: ToolResult,
        *,
        effects: ToolEffects = NO_EFFECTS,
        seen: tuple[SeenFile, ...] = (),
    ) -> None:
        """The call has ended; `effects` is what it did besides, `seen` what it showed of files."""


class CallIntent(Struct, frozen=True):
    """A tool call that was about to run, and what it was about to touch."""

    node_id: str
    call: AdmittedCall
    targets: tuple[str, ...] = ()


class CallResult(Struct, frozen=True):
    """A tool call that has ended."""

    node_id: str
    result: ToolResult


class MemoryJournal:
    """Keeps everything in memory, for as long as the run's session lives."""

    __slots__ = ("inputs", "run_id", "seed", "tool_facts")

    def __init__(self) -> None:
        self.run_id = ""
        self.seed = b""
        self.inputs: list[EngineInput] = []
        self.tool_facts: list[CallIntent | CallResult] = []

    def opened(self, run_id: str, seed: bytes) -> None:
        """Note what the run is made from."""
        self.run_id, self.seed = run_id, seed

    def input(self, value: EngineInput) -> None:
        """Note an input."""
        self.inputs.append(value)

    def turn(self, reply: ModelReplied) -> None:
        """Note a model's reply among the inputs."""
        self.inputs.append(reply)

    async def intent(
        self, node_id: str, call: AdmittedCall, *, targets: tuple[str, ...] = ()
    ) -> None:
        """Note that a call is about to run."""
        self.tool_facts.append(CallIntent(node_id, call, targets))

    async def result(
        self,
        node_id: str,
        result: ToolResult,
        *,
        effects: ToolEffects = NO_EFFECTS,
        seen: tuple[SeenFile, ...] = (),
    ) -> None:
        """Note that a call has ended."""
        self.tool_facts.append(CallResult(node_id, result))
