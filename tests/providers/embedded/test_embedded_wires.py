"""The suite of the three wires against the real model, which speaks all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from engine.vocabulary.ports import ModelPort
from providers.config import configured
from providers.embedded.server import EmbeddedServer
from providers.factory import ProviderPool
from providers.specs import SPECS, Wire
from tests.support.wire_suite import (
    check_calls_side_by_side,
    check_counts_tokens,
    check_goes_on_from_a_transcript,
    check_stops_at_the_limit,
    check_submits,
    node_request,
)

pytestmark = [pytest.mark.local, pytest.mark.parametrize("wire", list(Wire))]

MODEL = "embedded"
Check = Callable[[ModelPort], Awaitable[Any]]


def use(server: EmbeddedServer, wire: Wire, check: Check) -> None:
    """Run a check on a port that speaks `wire` to the embedded server."""

    async def run() -> None:
        pool = ProviderPool(server)
        try:
            await check(pool.port(configured(SPECS["embedded"], wire=wire)))
        finally:
            await pool.aclose()

    asyncio.run(run())


def test_a_submit_fits_and_its_tokens_are_counted(
    embedded_server: EmbeddedServer, wire: Wire
) -> None:
    async def check(port: ModelPort) -> None:
        await check_submits(port, node_request(MODEL))
        await check_counts_tokens(port, node_request(MODEL))

    use(embedded_server, wire, check)


def test_it_goes_on_from_calls_and_results(embedded_server: EmbeddedServer, wire: Wire) -> None:
    use(embedded_server, wire, lambda port: check_goes_on_from_a_transcript(port, MODEL))


def test_calls_side_by_side_do_not_mix(embedded_server: EmbeddedServer, wire: Wire) -> None:
    use(embedded_server, wire, lambda port: check_calls_side_by_side(port, node_request(MODEL), 2))


def test_a_reply_that_hits_the_limit_is_cut_off(
    embedded_server: EmbeddedServer, wire: Wire
) -> None:
    short = msgspec.structs.replace(node_request(MODEL), max_output_tokens=4)
    use(embedded_server, wire, lambda port: check_stops_at_the_limit(port, short))
