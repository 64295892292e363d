"""A model that says what a test wrote down, and short ways to write it down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from engine.vocabulary.errors import CallFailure, ModelCallError, PermanentFailure
from engine.vocabulary.messages import ModelTurn, ReasoningPart, Usage, WireCall
from engine.vocabulary.ports import StreamSink
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import ASK_QUESTION_TOOL, REQUEST_INPUT_TOOL, SUBMIT_TOOL


class Streamed(Struct):
    """A turn whose pieces arrive first; each is `(kind, text)`, kind `text` or `thinking`."""

    pieces: tuple[tuple[str, str], ...]
    turn: ModelTurn | CallFailure


class Held:
    """A turn that comes when the test lets it; `begun` tells that the call is under way."""

    def __init__(self, turn: ModelTurn | CallFailure | Streamed) -> None:
        self.turn = turn
        self.begun = asyncio.Event()
        self.release = asyncio.Event()
        self.cancelled = False


Scripted = ModelTurn | CallFailure | Streamed | Held
Script = Mapping[str, Any] | Callable[[AgentRequest], Scripted]
"""Lists of what is scripted by node id, or a function of the request."""


class ScriptedModel:
    """A `ModelPort` that plays a script: turns by node id, or a function of the request.

    It keeps every request, and counts how many calls were under way at once.
    """

    def __init__(self, script: Script) -> None:
        self._answer: Callable[[AgentRequest], Scripted]
        if callable(script):
            self._answer = script
        else:
            self._turns = {node_id: iter(turns) for node_id, turns in script.items()}
            self._answer = self._next
        self.requests: list[AgentRequest] = []
        self.in_flight = 0
        self.most_in_flight = 0

    def requests_of(self, node_id: str) -> list[AgentRequest]:
        """The requests of one node, in order."""
        return [request for request in self.requests if request.node_id == node_id]

    async def invoke(self, request: AgentRequest, sink: StreamSink | None = None) -> ModelTurn:
        """Play the next turn."""
        self.requests.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._play(self._answer(request), sink)
        finally:
            self.in_flight -= 1

    async def _play(self, scripted: Scripted, sink: StreamSink | None) -> ModelTurn:
        if isinstance(scripted, Held):
            scripted.begun.set()
            try:
                await scripted.release.wait()
            except asyncio.CancelledError:
                scripted.cancelled = True
                raise
            scripted = scripted.turn
        if isinstance(scripted, Streamed):
            for kind, text in scripted.pieces:
                if sink is not None:
                    (sink.text if kind == "text" else sink.thinking)(text)
            scripted = scripted.turn
        if isinstance(scripted, ModelTurn):
            return scripted
        raise ModelCallError(scripted)

    def _next(self, request: AgentRequest) -> Scripted:
        turns = self._turns.get(request.node_id, iter(()))
        scripted: Scripted | None = next(turns, None)
        if scripted is None:
            return PermanentFailure(f"the script has no more turns for '{request.node_id}'")
        return scripted


def submit(output: Any, message: str | None = None, *, usage: Usage | None = None) -> ModelTurn:
    """A turn that submits an output."""
    arguments = {"output": output, "assistant_message": message}
    return ModelTurn(calls=(_call(SUBMIT_TOOL, arguments, "s1"),), usage=usage)


def use(*calls: tuple[str, dict[str, Any]], text: str = "") -> ModelTurn:
    """A turn that calls executable tools: `(name, arguments)` each."""
    wire = tuple(_call(name, args, f"t{n}") for n, (name, args) in enumerate(calls))
    return ModelTurn(text=text, calls=wire, finish_reason="tool_calls")


def ask(question: str) -> ModelTurn:
    """A turn that asks a person a free-text question."""
    arguments = {"assistant_message": question}
    return ModelTurn(calls=(_call(REQUEST_INPUT_TOOL, arguments, "q1"),))


def ask_choice(question_id: str, question: str, options: Mapping[str, str]) -> ModelTurn:
    """A turn that asks a person to choose; `options` maps labels to descriptions."""
    choices = [{"label": label, "description": text} for label, text in options.items()]
    asked = {"id": question_id, "header": "Choice", "question": question, "options": choices}
    return ModelTurn(calls=(_call(ASK_QUESTION_TOOL, {"questions": [asked]}, "q1"),))


def say(text: str, *, thinking: str = "", usage: Usage | None = None) -> ModelTurn:
    """A turn of plain text."""
    reasoning = (ReasoningPart("text", thinking),) if thinking else ()
    return ModelTurn(text=text, reasoning=reasoning, usage=usage)


def _call(name: str, arguments: dict[str, Any], provider_call_id: str) -> WireCall:
    return WireCall(name, arguments, provider_call_id)


def summary(text: str, message: str | None = None, *, usage: Usage | None = None) -> ModelTurn:
    """A turn that submits what the agents of these tests are to submit."""
    return submit({"summary": text}, message, usage=usage)


def answer_with_own_name(request: AgentRequest) -> Scripted:
    """A script in which each node submits its id."""
    return summary(request.node_id)


OK = summary("ok")
WRITE = use(("write", {"path": "x", "content": "y"}))
