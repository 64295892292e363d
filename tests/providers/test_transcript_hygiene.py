"""Whatever a transcript went through, a request holds every call with exactly one result."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.vocabulary.messages import (
    AssistantMessage,
    CallItem,
    Reasoning,
    ReasoningPart,
    ResultItem,
    TranscriptItem,
    TranscriptView,
    UserMessage,
)
from engine.vocabulary.tools import ToolCall, ToolResult
from providers.chat_mapping import chat_body
from providers.mapping import Body, MappingContext
from providers.messages_mapping import messages_body
from providers.responses_mapping import responses_body
from providers.specs import SPECS, Wire
from providers.wire_json import encoded
from tests.support.requests import request_for

SPEC = SPECS["custom_openai_compatible"]
BODIES: dict[Wire, Any] = {
    Wire.CHAT: chat_body,
    Wire.RESPONSES: responses_body,
    Wire.MESSAGES: messages_body,
}
SEALED: dict[Wire, Body] = {
    Wire.CHAT: {"reasoning_details": [{"type": "reasoning.encrypted", "data": "sealed"}]},
    Wire.RESPONSES: {"type": "reasoning", "id": "rs1", "encrypted_content": "sealed"},
    Wire.MESSAGES: {"type": "thinking", "thinking": "Hm.", "signature": "sealed"},
}
IDS = st.sampled_from(["call-1", "call-2", "call-3", "call-4"])


def item(wire: Wire) -> st.SearchStrategy[TranscriptItem]:
    """Anything that may stand in a transcript, in any order."""
    opaque = ReasoningPart("opaque", provider_id=SPEC.id, data=SEALED[wire])
    foreign = ReasoningPart("opaque", provider_id="another", data={"foreign": True})
    return st.one_of(
        st.builds(lambda i, n: CallItem(ToolCall(i, "read", {"n": n}, f"wire-{i}")), IDS, IDS),
        st.builds(lambda i: ResultItem(ToolResult(i, "read", f"result of {i}")), IDS),
        st.sampled_from([AssistantMessage("I look."), UserMessage("Go on."), UserMessage(" ")]),
        st.sampled_from([Reasoning((opaque,)), Reasoning((foreign, opaque))]),
    )


def pairs(wire: Wire, body: Body) -> tuple[list[str], list[str]]:
    """The ids of the calls in a request, and of the results, each where it stands."""
    calls: list[str] = []
    results: list[str] = []
    if wire is Wire.CHAT:
        for message in body["messages"]:
            calls += [call["id"] for call in message.get("tool_calls", ())]
            results += [message["tool_call_id"]] if message["role"] == "tool" else []
    elif wire is Wire.RESPONSES:
        for part in body["input"]:
            calls += [part["call_id"]] if part["type"] == "function_call" else []
            results += [part["call_id"]] if part["type"] == "function_call_output" else []
    else:
        for message in body["messages"]:
            for block in message["content"]:
                calls += [block["id"]] if block["type"] == "tool_use" else []
                results += [block["tool_use_id"]] if block["type"] == "tool_result" else []
    return calls, results


@pytest.mark.parametrize("wire", list(Wire))
@settings(deadline=None)
@given(st.data())
def test_calls_and_results_are_paired_both_ways(wire: Wire, data: st.DataObject) -> None:
    items = data.draw(st.lists(item(wire), max_size=14))
    body = BODIES[wire](request_for(transcript=TranscriptView(items)), MappingContext(SPEC))
    calls, results = pairs(wire, body)
    assert results == calls
    assert len(set(calls)) == len(calls) == sum(isinstance(each, CallItem) for each in items)
    assert all(len(call_id) <= SPEC.id_length and call_id.isalnum() for call_id in calls)
    assert "foreign" not in json.dumps(body)


@pytest.mark.parametrize("wire", list(Wire))
@settings(deadline=None)
@given(st.data())
def test_a_request_is_the_same_after_a_resume(wire: Wire, data: st.DataObject) -> None:
    items = data.draw(st.lists(item(wire), max_size=14))
    stored = msgspec.json.encode(items)
    restored: Any = msgspec.json.decode(stored, type=list[TranscriptItem])
    context = MappingContext(SPEC)
    before = BODIES[wire](request_for(transcript=TranscriptView(items)), context)
    after = BODIES[wire](request_for(transcript=TranscriptView(restored)), context)
    assert encoded(after) == encoded(before)


@pytest.mark.parametrize("wire", list(Wire))
def test_sealed_reasoning_comes_first_in_its_message(wire: Wire) -> None:
    opaque = ReasoningPart("opaque", provider_id=SPEC.id, data=SEALED[wire])
    items: list[TranscriptItem] = [
        AssistantMessage("I look."),
        Reasoning((opaque,)),
        AssistantMessage("Now I see."),
        CallItem(ToolCall("call-1", "read", {})),
        ResultItem(ToolResult("call-1", "read", "x")),
    ]
    body = BODIES[wire](request_for(transcript=TranscriptView(items)), MappingContext(SPEC))
    text = encoded(body).decode()
    sealed, said = text.index("sealed"), text.index("Now I see.")
    assert (sealed < said) is (wire is not Wire.CHAT)
    assert text.count("sealed") == 1
