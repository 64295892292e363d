"""What a model port must do whatever is behind it: a scripted server or a real model.

Each check makes a call and judges the turn. Nothing in here knows what the model will say.
"""

from __future__ import annotations

import asyncio
from typing import Any

from engine.vocabulary.events import RunEvent
from engine.vocabulary.messages import (
    AssistantMessage,
    CallItem,
    ModelTurn,
    ResultItem,
    TranscriptView,
    UserMessage,
)
from engine.vocabulary.ports import ModelPort
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import SUBMIT_TOOL, ToolCall, ToolResult
from tests.support.requests import request_for

OUTPUT_SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "points": {"type": "integer"}},
    "required": ["title", "points"],
    "additionalProperties": False,
}


class RecordingSink:
    """Keeps what a port streams."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.events: list[RunEvent] = []
        self.began = asyncio.Event()

    def text(self, delta: str) -> None:
        self.texts.append(delta)
        self.began.set()

    def thinking(self, delta: str) -> None:
        self.thoughts.append(delta)
        self.began.set()

    def event(self, event: RunEvent) -> None:
        self.events.append(event)


def node_request(model: str, **changes: Any) -> AgentRequest:
    """The request of a node that has a title and a number to give."""
    plan: dict[str, Any] = {
        "node_label": "Plan",
        "task_prompt": "Give a title for a photo app and how many points its plan has.",
        "input": {"upstream": [], "entrypoint": {"text": "A photo app"}},
        "output_schema": OUTPUT_SCHEMA,
    }
    return request_for("plan", model=model, **(plan | changes))


def transcript_with_a_failed_try() -> TranscriptView:
    """A conversation in which a submit was refused and a tool answered."""
    return TranscriptView(
        [
            AssistantMessage("I will look first."),
            CallItem(ToolCall("run-1-call-7", "read", {"path": "a.txt"}, "call_abc")),
            ResultItem(ToolResult("run-1-call-7", "read", "a photo app named Lumen")),
            UserMessage("Submit the output now."),
        ]
    )


async def check_submits(port: ModelPort, request: AgentRequest) -> ModelTurn:
    """The node's output comes as one call of the submit tool."""
    turn = await port.invoke(request)
    assert not turn.truncated
    assert [call.name for call in turn.calls] == [SUBMIT_TOOL]
    arguments = turn.calls[0].arguments
    assert arguments is not None
    output = arguments["output"]
    assert isinstance(output["title"], str)
    assert isinstance(output["points"], int)
    assert turn.finish_reason == "tool_calls"
    return turn


async def check_goes_on_from_a_transcript(port: ModelPort, model: str) -> ModelTurn:
    """Calls and results of earlier turns are understood."""
    request = node_request(model, transcript=transcript_with_a_failed_try())
    return await check_submits(port, request)


async def check_counts_tokens(port: ModelPort, request: AgentRequest) -> None:
    """Tokens in and out are reported, and the prompt is not empty."""
    usage = (await port.invoke(request)).usage
    assert usage is not None
    assert usage.prompt_tokens
    assert usage.completion_tokens


async def check_stops_at_the_limit(port: ModelPort, request: AgentRequest) -> ModelTurn:
    """A reply that runs into the output limit is marked as cut off, and nothing in it can run."""
    turn = await port.invoke(request)
    assert turn.truncated
    return turn


async def check_streams_what_it_says(port: ModelPort, request: AgentRequest) -> ModelTurn:
    """The streamed pieces make up the text of the turn."""
    sink = RecordingSink()
    turn = await port.invoke(request, sink)
    assert "".join(sink.texts) == turn.text
    return turn


async def check_calls_side_by_side(port: ModelPort, request: AgentRequest, count: int) -> None:
    """Several calls at once do not mix."""
    turns = await asyncio.gather(*[port.invoke(request) for _ in range(count)])
    assert all(turn.calls[0].name == SUBMIT_TOOL for turn in turns)


async def check_cancels(
    port: ModelPort, request: AgentRequest, begun: asyncio.Event, sink: RecordingSink
) -> None:
    """A cancelled call ends."""
    task = asyncio.create_task(_invoke(port, request, sink))
    await begun.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def _invoke(port: ModelPort, request: AgentRequest, sink: RecordingSink) -> ModelTurn:
    return await port.invoke(request, sink)
