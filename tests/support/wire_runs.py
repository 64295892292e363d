"""Calls over one wire to a scripted server, from start to end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.vocabulary.errors import ModelCallError
from engine.vocabulary.messages import ModelTurn
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import SUBMIT_TOOL
from providers.config import ProviderConfig, configured
from providers.factory import ProviderPool
from providers.specs import SPECS
from tests.support.loopback import Answer, LoopbackServer
from tests.support.wire_scripts import WireScript, submit_arguments
from tests.support.wire_suite import node_request

KEY = "sk-test-0123456789abcdef"
MODEL = "test-model"
OUTPUT = {"title": "Lumen", "points": 3}
SUBMIT = ("call_1", SUBMIT_TOOL, submit_arguments(OUTPUT, "Done."))


def config_for(script: WireScript, base_url: str, **changes: Any) -> ProviderConfig:
    return configured(
        SPECS["custom_openai_compatible"],
        base_url=base_url,
        wire=script.wire,
        **{"api_key": KEY, **changes},
    )


def use(config: ProviderConfig, check: Any, **pool_options: Any) -> Any:
    """Run an async function on a port, and close everything afterwards."""

    async def run() -> Any:
        pool = ProviderPool(**pool_options)
        try:
            return await check(pool.port(config))
        finally:
            await pool.aclose()

    return asyncio.run(run())


def play(
    script: WireScript,
    server: LoopbackServer,
    *answers: Answer,
    request: AgentRequest | None = None,
    **changes: Any,
) -> ModelTurn:
    """One call that gets these answers."""
    server.play(*answers)
    turn: ModelTurn = use(
        config_for(script, server.url, **changes),
        lambda port: port.invoke(request or node_request(MODEL)),
    )
    return turn


def fail(script: WireScript, server: LoopbackServer, *answers: Answer, **changes: Any) -> Any:
    """The failure of one call that gets these answers."""
    with pytest.raises(ModelCallError) as raised:
        play(script, server, *answers, **changes)
    assert KEY not in str(raised.value)
    return raised.value.failure
