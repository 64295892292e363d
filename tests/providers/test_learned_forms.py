"""A refusal in a run teaches the record once, and the request goes again in the accepted form."""

from __future__ import annotations

from typing import Any

import pytest

from engine.vocabulary.messages import Usage
from providers.prompt_check import words_if_cut
from providers.quirks import Quirk, Quirks
from providers.specs import Wire
from providers.wire_json import encoded
from tests.support.loopback import LoopbackServer, json_answer
from tests.support.wire_runs import MODEL, SUBMIT, play
from tests.support.wire_scripts import SCRIPTS, WireScript
from tests.support.wire_suite import node_request

REFERRING = {
    "type": "object",
    "properties": {"title": {"$ref": "#/$defs/t"}, "points": {"type": "integer", "default": 1}},
    "required": ["title"],
    "$defs": {"t": {"type": "string"}},
}


@pytest.mark.parametrize(
    "words",
    [
        'Invalid JSON payload received. Unknown name "$defs" at tools[0]',
        "failed to parse grammar",
        "tools.0: unsupported keyword in parameters",
    ],
)
def test_schemas_are_sent_plain_where_others_are_refused(
    script: WireScript, server: LoopbackServer, words: str
) -> None:
    quirks, request = Quirks(), node_request(MODEL, output_schema=REFERRING)
    answer = script.answer(calls=(SUBMIT,))
    turn = play(script, server, script.refusal(400, words), answer, request=request, quirks=quirks)
    assert turn.calls
    assert quirks.of(MODEL) == {Quirk.PLAIN_SCHEMAS}
    first, second = (str(script.asked_tools(asked.json)) for asked in server.asked)
    assert "$ref" in first
    assert "$ref" not in second
    assert "default" not in second
    assert "title" in second
    play(script, server, answer, request=request, quirks=quirks)
    assert "$ref" not in server.last.body.decode()


def test_whole_replies_are_asked_for_where_streams_are_refused(server: LoopbackServer) -> None:
    script, quirks = SCRIPTS[Wire.CHAT], Quirks()
    call = {"id": "c1", "function": {"name": SUBMIT[1], "arguments": SUBMIT[2]}}
    whole = {"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    refusal = script.refusal(400, "stream: true is not supported with tools")
    turn = play(script, server, refusal, json_answer(whole), quirks=quirks)
    assert [made.name for made in turn.calls] == [SUBMIT[1]]
    assert quirks.of(MODEL) == {Quirk.NO_STREAM}
    assert "stream" not in server.last.json
    assert "stream_options" not in server.last.json


def test_a_prompt_without_blanks_is_counted_too() -> None:
    body: dict[str, Any] = {"messages": [{"role": "user", "content": "写作计划" * 4_000}]}
    size = len(encoded(body))
    assert words_if_cut(body, size, Usage(1_000, 9)) is not None
    assert words_if_cut(body, size, Usage(9_000, 9)) is None
