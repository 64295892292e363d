"""Requests to models, for tests that need one and do not care how it came about."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from engine.vocabulary.messages import TranscriptView
from engine.vocabulary.requests import AgentRequest

_PLAIN = AgentRequest(
    workflow_id="flow",
    run_id="run",
    node_id="a",
    node_label="Alpha",
    model="m",
    provider_id="p",
    system_messages=("You are a node.",),
    task_prompt="Do it.",
    input={"upstream": []},
    output_schema={"type": "object"},
    transcript=TranscriptView(),
)


def request_for(node_id: str = "a", **changes: Any) -> AgentRequest:
    """A plain request with some fields changed."""
    return replace(_PLAIN, node_id=node_id, **changes)
