"""Checking an endpoint: what is tried, what is found, and what is kept of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from engine.vocabulary.tools import SUBMIT_TOOL
from providers.config import configured
from providers.endpoint_report import EndpointReport, State
from providers.factory import ProviderPool
from providers.quirks import Quirk, Quirks
from providers.specs import SPECS, Wire
from tests.support.loopback import (
    Answer,
    Asked,
    Cut,
    LoopbackServer,
    json_answer,
    refused_url,
    sse,
)
from tests.support.wire_runs import KEY, SUBMIT
from tests.support.wire_scripts import SCRIPTS, WireScript

LIST = {"data": [{"id": "m", "context_length": 8192}, {"id": "n"}]}
NOTES = (("c1", "note", '{"word": "red"}'), ("c2", "note", '{"word": "blue"}'))

Endpoint = Callable[[Asked], Answer]


def able(script: WireScript) -> Endpoint:
    """An endpoint that can do everything."""

    def answer(asked: Asked) -> Answer:
        if asked.method == "GET":
            return json_answer(LIST)
        body = asked.json
        if "none" in str(body.get("tool_choice")):
            return script.answer(text="4")
        if "note" in script.asked_tools(body):
            return script.answer(calls=NOTES)
        if script.asked_choice_word(body) == "auto":
            return script.answer(text="Hello.", thoughts="They want a greeting.")
        return script.answer(calls=(SUBMIT,))

    return answer


def refusing(script: WireScript, words: str, refuses: Callable[[Any], bool]) -> Endpoint:
    """An endpoint that refuses some requests and can do all the others."""

    def answer(asked: Asked) -> Answer:
        if asked.method == "POST" and refuses(asked.json):
            return script.refusal(400, words)
        return able(script)(asked)

    return answer


def check(
    script: WireScript, endpoint: Endpoint, quirks: Quirks | None = None, **changes: Any
) -> EndpointReport:
    limit_s, model = changes.pop("limit_s", 60.0), changes.pop("model", "")
    with LoopbackServer(answer_with=endpoint) as server:
        config = configured(
            SPECS[changes.pop("provider_id", "custom_openai_compatible")],
            base_url=changes.pop("base_url", server.url),
            wire=script.wire,
            **{"api_key": KEY, "quirks": quirks, **changes},
        )

        async def run() -> EndpointReport:
            pool = ProviderPool()
            try:
                return await pool.examine(config, model, limit_s=limit_s)
            finally:
                await pool.aclose()

        report = asyncio.run(run())
    assert KEY not in repr(report)
    return report


def states(report: EndpointReport) -> dict[str, str]:
    return {finding.name: finding.state.value for finding in report.findings}


def test_an_endpoint_that_can_do_everything(script: WireScript) -> None:
    quirks = Quirks()
    report = check(script, able(script), quirks)
    assert report.ok, report
    assert (report.model, report.models, report.context_window) == ("m", ("m", "n"), 8192)
    found = states(report)
    assert set(found.values()) == {"yes"}, found
    assert set(found) >= {
        "models",
        "context_window",
        "streaming",
        "usage",
        "reasoning_fields",
        "choice_required",
        "choice_auto",
        "choice_none",
        "choice_named",
        "parallel_calls",
        "schema_references",
    }
    assert report.refuses == ()
    profile = quirks.profile_of("m")
    assert profile is not None
    assert profile.findings == report.findings
    assert profile.context_window == 8192


@pytest.mark.parametrize(
    ("words", "part", "name", "quirk"),
    [
        (
            "Invalid tool_choice 'required'",
            lambda body: "required" in str(body.get("tool_choice")),
            "choice_required",
            Quirk.NO_REQUIRED_CHOICE,
        ),
        (
            "strict is not supported",
            lambda body: "'strict': True" in str(body["tools"]),
            "strict_schemas",
            Quirk.NO_STRICT_TOOLS,
        ),
        (
            "$ref is not supported in a schema",
            lambda body: "$ref" in str(body["tools"]),
            "schema_references",
            Quirk.PLAIN_SCHEMAS,
        ),
        (
            "unknown field: reasoning_effort",
            lambda body: "reasoning_effort" in body,
            "reasoning_options",
            Quirk.NO_REASONING_OPTIONS,
        ),
    ],
)
def test_what_is_refused_is_found_and_kept(
    words: str, part: Callable[[Any], bool], name: str, quirk: Quirk
) -> None:
    script, quirks = SCRIPTS[Wire.CHAT], Quirks()
    report = check(script, refusing(script, words, part), quirks)
    assert report.ok
    finding = next(finding for finding in report.findings if finding.name == name)
    assert finding.state is State.NO
    assert words in finding.detail
    assert quirks.of("m") == {quirk}
    assert report.refuses == (quirk.value,)


def test_an_object_as_choice_may_be_refused_alone() -> None:
    script, quirks = SCRIPTS[Wire.CHAT], Quirks()
    words = "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"
    report = check(
        script,
        refusing(script, words, lambda body: isinstance(body.get("tool_choice"), dict)),
        quirks,
    )
    assert states(report)["choice_named"] == "no"
    assert states(report)["choice_required"] == "yes"
    assert quirks.of("m") == frozenset()


def test_an_endpoint_that_cannot_stream_is_asked_for_whole_replies() -> None:
    script, quirks = SCRIPTS[Wire.CHAT], Quirks()

    def answer(asked: Asked) -> Answer:
        if asked.method == "GET":
            return json_answer(LIST)
        if asked.json.get("stream"):
            return script.refusal(400, "streaming is not supported")
        call = {"id": "c1", "function": {"name": SUBMIT_TOOL, "arguments": SUBMIT[2]}}
        message = {"content": None, "tool_calls": [call]}
        return json_answer({"choices": [{"message": message, "finish_reason": "tool_calls"}]})

    report = check(script, answer, quirks)
    assert report.ok
    assert states(report)["streaming"] == "no"
    assert states(report)["usage"] == "no"
    assert states(report)["choice_none"] == "ignored"
    assert states(report)["parallel_calls"] == "ignored"
    assert quirks.of("m") == {Quirk.NO_STREAM}


def test_a_check_forgets_what_is_no_longer_refused() -> None:
    script = SCRIPTS[Wire.CHAT]
    quirks = Quirks({"m": ["no_required_tool_choice", "no_fast_mode", "no_stream_usage"]})
    report = check(script, able(script), quirks)
    assert quirks.of("m") == {Quirk.NO_FAST_MODE}
    assert report.refuses == ("no_fast_mode",)


def test_a_model_that_cannot_be_asked_is_said(script: WireScript) -> None:
    quirks = Quirks()
    report = check(script, refusing(script, "model is overloaded", lambda body: True), quirks)
    assert not report.ok
    assert "overloaded" in report.sentence
    assert quirks.as_data() == {}


def test_an_endpoint_that_is_not_there_is_asked_once(script: WireScript) -> None:
    report = check(script, able(script), base_url=refused_url())
    assert not report.ok
    assert "connection refused" in report.sentence
    assert report.findings == ()


def test_a_list_that_does_not_exist_does_not_end_the_check(script: WireScript) -> None:
    def answer(asked: Asked) -> Answer:
        if asked.method == "GET":
            return json_answer({"error": {"message": "no"}}, 404)
        return able(script)(asked)

    report = check(script, answer, default_model="other")
    assert report.ok
    assert report.model == "other"
    assert states(report)["models"] == "no"
    assert states(report)["context_window"] == "unknown"


def test_the_model_that_is_wanted_is_asked(script: WireScript) -> None:
    assert check(script, able(script), model="n").model == "n"
    assert check(script, able(script), default_model="n").model == "n"


def test_what_gets_no_answer_is_unknown_and_changes_nothing() -> None:
    script, quirks = SCRIPTS[Wire.CHAT], Quirks({"m": ["no_required_tool_choice"]})

    def answer(asked: Asked) -> Answer:
        if asked.method == "POST" and script.asked_choice_word(asked.json) == "required":
            return sse(Cut())
        return able(script)(asked)

    report = check(script, answer, quirks)
    assert report.ok
    assert states(report)["choice_required"] == "unknown"
    assert states(report)["choice_none"] == "yes"
    assert quirks.of("m") == {Quirk.NO_REQUIRED_CHOICE}


def test_when_the_time_is_up_nothing_more_is_asked() -> None:
    report = check(SCRIPTS[Wire.CHAT], able(SCRIPTS[Wire.CHAT]), limit_s=0.0)
    assert not report.ok
    assert "the time was up" in report.sentence
