"""Calls that are no longer what was allowed when they are to run: nothing runs, ask anew."""

from __future__ import annotations

from typing import Any

import pytest

from engine.vocabulary.errors import AlreadyDecided
from engine.vocabulary.events import (
    ToolCompleted,
    ToolDenied,
)
from engine.vocabulary.inputs import (
    NodePatched,
    RuntimePatch,
    ToolsFinished,
)
from engine.vocabulary.report import RunCompleted
from engine.vocabulary.tools import (
    ApprovalMode,
    ToolCall,
    ToolResult,
)
from tests.support.asked_calls import READ, WRITE, found, one_node
from tests.support.engine_driver import calls, done


def drifting(times: int) -> Any:
    left = [times]

    def run(call: ToolCall) -> ToolResult:
        if call.name == "write" and left[0]:
            left[0] -= 1
            return ToolResult(call.id, call.name, "x has changed", is_error=True, drifted=True)
        return ToolResult(call.id, call.name, "written")

    return run


def test_a_call_that_drifted_is_looked_up_and_asked_about_anew() -> None:
    world = one_node(calls(WRITE), done(), tool_results=drifting(1), inspect=found())
    first = world.asked[0]
    world.decide(first.approval_id)

    second = world.needs.approvals[0]
    assert second.approval_id != first.approval_id
    assert "has changed since" in second.reason
    assert world.results() == []
    with pytest.raises(AlreadyDecided):
        world.decide(first.approval_id)
    world.decide(second.approval_id)
    assert isinstance(world.outcome, RunCompleted)
    assert [result.content for result in world.results()] == ["written"]


def test_a_call_that_keeps_drifting_is_an_error_after_the_third_question_more() -> None:
    world = one_node(calls(WRITE, READ), done(), tool_results=drifting(9))
    for _ in range(4):
        world.decide(world.needs.approvals[0].approval_id)

    assert isinstance(world.outcome, RunCompleted)
    assert len(world.asked) == 4
    write, read = world.results()
    assert (write.is_error, write.drifted, read.is_error) == (True, False, False)
    assert "kept changing" in write.content
    assert [e.tool_call_id for e in world.events_of(ToolCompleted)] == [write.call_id]


def test_a_call_that_was_never_asked_about_is_asked_about_once_it_has_drifted() -> None:
    world = one_node(calls(WRITE), done(), mode="yolo", tool_results=drifting(1))
    (asked,) = world.needs.approvals
    world.decide(asked.approval_id)
    assert isinstance(world.outcome, RunCompleted)


def test_a_drifted_call_of_a_node_that_may_only_read_by_now_is_denied() -> None:
    world = one_node(calls(WRITE), done())
    world.manual = True
    world.decide(world.asked[0].approval_id)
    world.engine.feed(NodePatched("a", RuntimePatch(approval_mode=ApprovalMode.READ_ONLY), 0))
    batch = world.batches.pop("a")
    result = ToolResult(batch.calls[0].call.id, "write", "changed", is_error=True, drifted=True)
    world.apply(world.engine.feed(ToolsFinished("a", batch.batch_id, (result,), 0)))

    assert "a" in world.calls
    assert len(world.events_of(ToolDenied)) == 1


def test_calls_after_one_that_drifted_run_after_it_and_results_keep_the_order() -> None:
    world = one_node(calls(WRITE, READ), done(), mode="yolo", manual=True)
    world.reply("a", calls(WRITE, READ))
    batch = world.batches.pop("a")
    write, read = (c.call for c in batch.calls)
    given = (
        ToolResult(write.id, "write", "changed", is_error=True, drifted=True),
        ToolResult(read.id, "read", "text"),
    )
    world.apply(world.engine.on_tool_results("a", batch.batch_id, given, 0))
    world.finish_inspection("a")
    world.decide(world.needs.approvals[0].approval_id, allow=False)

    assert [r.call_id for r in world.results()] == [write.id, read.id]
