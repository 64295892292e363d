from __future__ import annotations

import asyncio

import pytest

from engine.vocabulary.errors import ModelCallError, TransientFailure
from engine.vocabulary.messages import ModelTurn, ReasoningPart
from engine.vocabulary.requests import AgentRequest
from providers.scripted_adapter import ScriptedAdapter
from tests.support.requests import request_for
from tests.support.wire_suite import RecordingSink


def test_replies_are_played_in_their_order_and_requests_are_kept() -> None:
    adapter = ScriptedAdapter([ModelTurn("One."), TransientFailure("busy"), ModelTurn("Two.")])

    async def run() -> list[str]:
        first = await adapter.invoke(request_for("a"))
        with pytest.raises(ModelCallError, match="busy"):
            await adapter.invoke(request_for("b"))
        second = await adapter.invoke(request_for("c"))
        with pytest.raises(LookupError, match="'d'"):
            await adapter.invoke(request_for("d"))
        return [first.text, second.text]

    assert asyncio.run(run()) == ["One.", "Two."]
    assert [request.node_id for request in adapter.requests] == ["a", "b", "c", "d"]


def test_a_function_makes_each_reply_from_its_request() -> None:
    def reply(request: AgentRequest) -> ModelTurn:
        return ModelTurn(f"This is {request.node_id}.")

    turn = asyncio.run(ScriptedAdapter(reply).invoke(request_for("x")))
    assert turn.text == "This is x."


def test_text_and_reasoning_that_may_be_shown_are_streamed() -> None:
    parts = (ReasoningPart("text", "Hm."), ReasoningPart("opaque", "hidden", data={"a": 1}))
    sink = RecordingSink()
    adapter = ScriptedAdapter([ModelTurn("Hello there.", reasoning=parts)], piece=5)
    asyncio.run(adapter.invoke(request_for(), sink))
    assert sink.texts == ["Hello", " ther", "e."]
    assert sink.thoughts == ["Hm."]
