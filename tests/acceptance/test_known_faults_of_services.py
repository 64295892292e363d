"""Known faults of services, each by the id of its case.

Everything goes through the real adapters against a scripted server. What each fault is a kind of
has tests of its own; here stands its first example, and the list says that none is missing.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.vocabulary.messages import CallItem, ResultItem, TranscriptView
from engine.vocabulary.report import RunCompleted
from engine.vocabulary.tools import SUBMIT_TOOL, JsonObject, ToolCall, ToolDefinition, ToolResult
from providers.config import configured
from providers.specs import SPECS, Wire
from tests.support.engine_driver import workflow
from tests.support.known_faults import (
    CHAT,
    DONE,
    TEXT,
    Bench,
    Cases,
    called,
    errors,
    history,
    properties,
)
from tests.support.loopback import Answer, Asked, LoopbackServer, json_answer, sse
from tests.support.loopback_runs import Played, closed
from tests.support.wire_runs import MODEL, SUBMIT, play, use
from tests.support.wire_suite import node_request

IDS = ("P01", "P03", "P05", "P07", "P09")
SUBMITTED = CHAT.answer(calls=(DONE,))
CASES = Cases()
case = CASES.case


@pytest.mark.parametrize("case_id", IDS)
def test_the_right_thing_happens(case_id: str, tmp_path: Path) -> None:
    CASES.check(case_id, tmp_path)


def test_every_case_is_there() -> None:
    assert CASES.ids == sorted(IDS)


@case("P01")
def only_words_for_the_tool_choice(tmp_path: Path) -> None:
    bench = Bench(tmp_path, read=closed(["path"], path=TEXT))
    words = "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"

    def strict(asked: Asked) -> Answer:
        is_word = isinstance(asked.json.get("tool_choice"), str)
        return SUBMITTED if is_word else json_answer({"error": {"message": words}}, 400)

    played = bench.play(server=strict)
    assert isinstance(played.outcome, RunCompleted)
    assert [asked.json["tool_choice"] for asked in played.asked] == ["required"]

    told = iter((CHAT.answer(text="I am done."), SUBMITTED))

    def stricter(asked: Asked) -> Answer:
        if asked.json["tool_choice"] != "auto":
            return json_answer({"error": {"message": "Unsupported tool_choice: required"}}, 400)
        return next(told)

    played = bench.play(server=stricter)
    assert isinstance(played.outcome, RunCompleted)
    # Learned once; the nudge after plain words goes in the form that is known by then.
    assert [asked.json["tool_choice"] for asked in played.asked] == ["required", "auto", "auto"]
    assert SUBMIT_TOOL in json.dumps(played.asked[2].json["messages"][-1])


@case("P03")
def ids_of_calls(tmp_path: Path) -> None:
    theirs = ("call_PTLP8xhu3uwZk4l3nlnrrJha", "turn1_0", "x" * 43)
    items: list[Any] = []
    for number, wire_id in enumerate(theirs):
        items.append(CallItem(ToolCall(f"run-call-{number}", "read", {}, wire_id)))
    items += [ResultItem(ToolResult(f"run-call-{n}", "read", f"result {n}")) for n in range(3)]
    request = node_request(MODEL, transcript=TranscriptView(items))
    with LoopbackServer() as server:
        for spec, most in (("mistral", 9), ("custom_openai_compatible", 40)):
            pairs = []
            for _ in range(2):
                config = configured(
                    SPECS[spec], base_url=server.url, wire=Wire.CHAT, api_key="sk-0123456789"
                )
                server.play(CHAT.answer(calls=(SUBMIT,)))
                use(config, lambda port: port.invoke(request))
                asked = server.last
                results = [m for m in asked.json["messages"] if m["role"] == "tool"]
                pairs.append([(each["id"]) for each in history(asked)])
                assert [each["tool_call_id"] for each in results] == pairs[-1]
                assert ["result " + str(n) for n in range(3)] == [e["content"] for e in results]
            assert pairs[0] == pairs[1]
            assert len(set(pairs[0])) == 3
            assert all(each.isalnum() and len(each) <= most for each in pairs[0])
            assert spec != "mistral" or all(len(each) == 9 for each in pairs[0])


@case("P05")
def a_part_of_json_schema(tmp_path: Path) -> None:
    schema = {
        "$schema": "x",
        "type": "object",
        "properties": {
            "h": {"type": "object"},
            "a": {"type": "array", "items": {"$ref": "#/properties/h"}},
            "o": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "additionalProperties": False,
    }
    tree = properties(child={"$ref": "#"})
    tools = tuple(ToolDefinition(name, name, s) for name, s in (("flat", schema), ("tree", tree)))
    request = node_request(MODEL, available_tools=tools)
    warnings: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: warnings.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("providers.schemas").addHandler(handler)
    try:
        with LoopbackServer() as server:
            server.play(CHAT.answer(calls=(SUBMIT,)))
            config = configured(SPECS["gemini"], base_url=server.url, wire=Wire.CHAT, api_key="k")
            use(config, lambda port: port.invoke(request))
            sent = CHAT.asked_tools(server.last.json)
    finally:
        logging.getLogger("providers.schemas").removeHandler(handler)
    assert sorted(sent) == ["flat", SUBMIT_TOOL]
    assert sent["flat"]["properties"]["a"] == {"type": "array", "items": {"type": "object"}}
    assert not {"$schema", "additionalProperties"} & sent["flat"].keys()
    assert "default" not in sent["flat"]["properties"]["o"]
    assert len(warnings) == 1
    assert "'tree'" in warnings[0]
    # What was left out for the service still holds here.
    bench = Bench(tmp_path, flat=schema)
    (error,) = errors(bench.play(called(("c1", "flat", '{"more": 1}'))))
    assert not bench.ran
    assert "does not declare" in error


@case("P07")
def a_prompt_that_was_cut(tmp_path: Path) -> None:
    def outcome_of(words: int, prompt: int, completion: int) -> Played:
        flow = workflow(nodes=["a"], defaults={"system_prompt": "word " * words})
        answer = CHAT.answer(calls=(DONE,), counts=(prompt, completion, 0))
        return Bench(tmp_path / f"{words}-{prompt}").play(server=[answer], flow=flow)

    error = outcome_of(15_750, 2051, 30).error
    assert "has cut the prompt" in error
    assert "2051" in error
    assert "raise the context length" in error
    assert "has cut the prompt" in outcome_of(5_000, 4066, 30).error
    assert isinstance(outcome_of(5_000, 5_200, 30).outcome, RunCompleted)


@case("P09")
def counts_in_every_chunk(tmp_path: Path) -> None:
    def told(usage_of: Sequence[JsonObject]) -> Any:
        with LoopbackServer() as server:
            return play(CHAT, server, sse(*usage_of, done=True)).usage

    def chunk(text: str) -> JsonObject:
        return {"index": 0, "delta": {"content": text}, "finish_reason": None}

    zero = {"prompt_tokens": 0, "completion_tokens": 0}
    real = {"prompt_tokens": 10, "completion_tokens": 2}
    usage = told(
        [
            {"choices": [chunk("a")], "usage": zero},
            {"choices": [chunk("b")], "usage": real},
            {"choices": [{"delta": {}, "finish_reason": "stop", "usage": real}]},
        ]
    )
    assert (usage.prompt_tokens, usage.completion_tokens) == (10, 2)
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    assert told([{"choices": [chunk("a")]}, end]) is None
