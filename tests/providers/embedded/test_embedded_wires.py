"""The real model over all three wires, judged by the suite that the scripted server passes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.run import preamble
from engine.vocabulary.messages import UserMessage
from engine.vocabulary.ports import ModelPort
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import ASK_QUESTION_TOOL, SUBMIT_TOOL
from providers.config import configured
from providers.embedded.server import MODEL_ALIAS, EmbeddedServer, Endpoint
from providers.factory import ProviderPool
from providers.specs import SPECS, Wire
from tests.support.wire_suite import (
    RecordingSink,
    check_calls_side_by_side,
    check_cancels,
    check_counts_tokens,
    check_goes_on_from_a_transcript,
    check_stops_at_the_limit,
    check_streams_what_it_says,
    check_submits,
    node_request,
)

pytestmark = [
    pytest.mark.local,
    pytest.mark.parametrize("wire", list(Wire), ids=lambda wire: wire.value),
]

SHORT_SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 30},
        "points": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["title", "points"],
}
MANY_KINDS_SCHEMA = {
    "type": "object",
    "properties": {
        "severity": {"enum": ["low", "high"]},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "code": {"type": "string", "pattern": r"^[A-Z]{2}-\d+$"},
        "day": {"type": "string", "format": "date"},
        "mail": {"type": "string", "format": "email"},
        "pair": {"type": "array", "prefixItems": [{"type": "boolean"}, {"type": "null"}]},
        "choice": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/part"}]},
        "nothing": {"type": "array", "maxItems": 0},
        "even": {"type": "integer", "multipleOf": 2, "minimum": 10},
    },
    "required": [
        "severity", "share", "code", "day", "mail", "pair", "choice", "nothing", "even",
    ],
    "$defs": {
        "part": {
            "type": "object",
            "properties": {"name": {"type": "string", "minLength": 2, "maxLength": 9}},
            "required": ["name"],
            "not": {"required": ["other"]},
        }
    },
}  # fmt: skip


def use(server: EmbeddedServer, wire: Wire, check: Callable[[ModelPort], Awaitable[Any]]) -> Any:
    """Run a check on a port to the model over one wire."""

    async def run() -> Any:
        pool = ProviderPool(server, bound=server.bound, preamble=preamble)
        try:
            return await check(pool.port(configured(SPECS["embedded"], wire=wire)))
        finally:
            await pool.aclose()

    return asyncio.run(run())


def short_request(**changes: Any) -> AgentRequest:
    return node_request(MODEL_ALIAS, **({"output_schema": SHORT_SCHEMA} | changes))


def test_it_submits_in_one_call_that_fits(embedded_server: EmbeddedServer, wire: Wire) -> None:
    turn = use(embedded_server, wire, lambda port: check_submits(port, short_request()))

    assert 1 <= turn.calls[0].arguments["output"]["points"] <= 9
    assert turn.calls[0].repairs == ()


def test_it_fills_every_kind_of_schema(embedded_server: EmbeddedServer, wire: Wire) -> None:
    from jsonschema import Draft202012Validator

    request = short_request(output_schema=MANY_KINDS_SCHEMA)

    turn = use(embedded_server, wire, lambda port: port.invoke(request))

    assert [call.name for call in turn.calls] == [SUBMIT_TOOL]
    Draft202012Validator(MANY_KINDS_SCHEMA).validate(turn.calls[0].arguments["output"])


def test_it_submits_although_it_may_ask_or_talk(
    embedded_server: EmbeddedServer, wire: Wire
) -> None:
    request = short_request(allow_user_input=True, conversation_mode=True)
    assert ASK_QUESTION_TOOL in request.offered_harness_tools

    use(embedded_server, wire, lambda port: check_submits(port, request))


def test_it_goes_on_from_a_transcript(embedded_server: EmbeddedServer, wire: Wire) -> None:
    use(embedded_server, wire, lambda port: check_goes_on_from_a_transcript(port, MODEL_ALIAS))


def test_it_counts_tokens(embedded_server: EmbeddedServer, wire: Wire) -> None:
    use(embedded_server, wire, lambda port: check_counts_tokens(port, short_request()))


def test_what_it_streams_is_what_it_says(embedded_server: EmbeddedServer, wire: Wire) -> None:
    use(embedded_server, wire, lambda port: check_streams_what_it_says(port, short_request()))


def test_a_reply_that_hits_the_limit_is_cut_off(
    embedded_server: EmbeddedServer, wire: Wire
) -> None:
    request = short_request(max_output_tokens=6)

    use(embedded_server, wire, lambda port: check_stops_at_the_limit(port, request))


def test_calls_side_by_side_do_not_mix(embedded_server: EmbeddedServer, wire: Wire) -> None:
    use(embedded_server, wire, lambda port: check_calls_side_by_side(port, short_request(), 3))


class Announced:
    """An address that tells when it was asked for, which is where a call begins."""

    def __init__(self, server: EmbeddedServer, begun: asyncio.Event) -> None:
        self._server, self._begun = server, begun

    async def endpoint(self) -> Endpoint:
        found = await self._server.endpoint()
        self._begun.set()
        return found


def test_a_cancelled_call_leaves_the_model_free(
    embedded_server: EmbeddedServer, wire: Wire
) -> None:
    async def check() -> None:
        begun = asyncio.Event()
        pool = ProviderPool(Announced(embedded_server, begun), bound=embedded_server.bound)
        port = pool.port(configured(SPECS["embedded"], wire=wire))
        await check_cancels(port, node_request(MODEL_ALIAS), begun, RecordingSink())
        await check_submits(port, short_request())
        await pool.aclose()

    asyncio.run(check())


def test_a_prompt_that_is_too_long_is_told(embedded_server: EmbeddedServer, wire: Wire) -> None:
    from engine.vocabulary.errors import ModelCallError
    from engine.vocabulary.messages import TranscriptView

    transcript = TranscriptView([UserMessage("word " * 5000)])

    with pytest.raises(ModelCallError, match="context"):
        use(
            embedded_server,
            wire,
            lambda port: port.invoke(short_request(transcript=transcript)),
        )
