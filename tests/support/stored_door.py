"""Runs that ask a person, for tests of what is stored of them."""

from __future__ import annotations

from typing import Any

from engine.graph.workflow import Workflow
from engine.vocabulary.messages import UserMessage
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.requests import AgentRequest
from orchestration.backend import Backend
from tests.support.engine_driver import ASKING, workflow
from tests.support.run_rig import request_of
from tests.support.scripted_model import Scripted, ask, summary

CHAIN = workflow([("a", "b")], agents={"a": ASKING})


def asking_script(request: AgentRequest) -> Scripted:
    """Node `a` asks and repeats the answer, `b` says what it got."""
    said = [item for item in request.transcript if isinstance(item, UserMessage)]
    if request.node_id == "b":
        return summary(f"b of {request.model}: {request.task_prompt}")
    return summary(said[-1].content) if said else ask("What now?")


async def paused(backend: Backend, flow: Workflow = CHAIN, **more: Any) -> str:
    """A run that waits for a person."""
    run_id = await backend.start_run(request_of(flow, "go", **more))
    assert isinstance(await backend.settled(run_id), NeedsInteraction)
    return run_id


async def completed(backend: Backend, answer: str = "first") -> str:
    """A run of `CHAIN` that was answered so and is over."""
    run_id = await paused(backend)
    await backend.answer(run_id, "a", answer)
    assert isinstance(await backend.settled(run_id), RunCompleted)
    return run_id
