"""Stop a run, go on with it, and close it with the program."""

import asyncio
from pathlib import Path

import pytest

from engine.vocabulary import events as ev
from engine.vocabulary.errors import (
    NodeNotActive,
    RunIsOver,
    TransientFailure,
    UnknownNode,
)
from engine.vocabulary.messages import UserMessage
from engine.vocabulary.report import RunCancelled, RunCompleted
from orchestration.errors import NoContinuableRun
from orchestration.runs.view_values import NodeStatus, RunStatus, TraceStatus
from tests.support.engine_driver import ASKING, workflow
from tests.support.run_rig import TWO, RunRig, run_async, settled_needs, until
from tests.support.scripted_model import OK, WRITE, Held, ask


def test_stopping_cancels_the_call_and_says_so(tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(OK)
        rig = RunRig(workflow([("a", "b")]), {"a": [held]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        await rig.run.stop()
        assert held.cancelled
        assert isinstance(await rig.run.settled(), RunCancelled)
        assert (rig.view.active, rig.view.status) == (False, RunStatus.STOPPED)
        assert rig.view.status_by_node == {"a": NodeStatus.STOPPED, "b": NodeStatus.IDLE}
        assert len(rig.events(ev.Aborted)) == 1
        assert rig.budget.provider_calls.in_use == 0
        await rig.run.stop()
        assert len(rig.events(ev.Aborted)) == 1

    run_async(body)


def test_a_run_can_be_stopped_before_its_first_step(tmp_path: Path) -> None:
    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"]), {"a": [OK]}, tmp_path)
        rig.run.start()
        await rig.run.stop()
        await asyncio.sleep(0)
        assert rig.model.requests == []
        assert [type(record.event) for record in rig.records] == [ev.Aborted]

    run_async(body)


def test_a_completed_run_cannot_be_stopped_or_continued(tmp_path: Path) -> None:
    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"]), {"a": [OK]}, tmp_path)
        await rig.start()
        await rig.run.stop()
        assert rig.status() is RunStatus.COMPLETED
        with pytest.raises(NoContinuableRun):
            rig.run.continue_()
        with pytest.raises(RunIsOver):
            await rig.run.answer("a", "x")

    run_async(body)


def test_a_run_that_is_on_cannot_be_continued(tmp_path: Path) -> None:
    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"], agents={"a": ASKING}), {"a": [ask("?")]}, tmp_path)
        await rig.start()
        with pytest.raises(NoContinuableRun):
            rig.run.continue_()
        await rig.run.stop()

    run_async(body)


def test_a_stopped_run_goes_on_where_it_was_and_the_same_question_waits(tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(OK)
        rig = RunRig(TWO, {"a": [ask("Which?"), OK], "b": [held, OK]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        await until(lambda: rig.view.pending_inputs)
        pause_id = rig.view.pending_inputs["a"].pause_id
        await rig.run.stop()
        assert rig.view.pending_inputs == {}
        with pytest.raises(RunIsOver):
            await rig.run.answer("a", "late")
        rig.run.continue_()
        outcome = await settled_needs(rig)
        assert [pending.pause_id for pending in outcome.inputs] == [pause_id]
        assert rig.view.pending_inputs["a"].question == "Which?"
        assert len(rig.events(ev.NodeAwaitingInput)) == 2
        assert rig.view.status_by_node == {
            "a": NodeStatus.AWAITING_INPUT,
            "b": NodeStatus.COMPLETED,
        }
        await rig.run.answer("a", "That", pause_id)
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert rig.model.requests_of("b")[-1].model_attempt == 2
        assert [record.seq for record in rig.records] == list(range(1, len(rig.records) + 1))

    run_async(body)


def test_an_approval_keeps_its_id_over_stop_and_continue_and_runs_once(tmp_path: Path) -> None:
    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"]), {"a": [WRITE, OK]}, tmp_path)
        rig.run.start()
        approval_id = (await settled_needs(rig)).approvals[0].approval_id
        await rig.run.stop()
        assert rig.view.pending_approvals == {}
        rig.run.continue_()
        assert (await settled_needs(rig)).approvals[0].approval_id == approval_id
        assert list(rig.view.pending_approvals) == [approval_id]
        assert len(rig.events(ev.ToolApprovalRequested)) == 2
        await rig.run.decide(approval_id, True)
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert (tmp_path / "x").read_text() == "y"
        assert len(rig.events(ev.ToolStarted)) == 1

    run_async(body)


def test_a_stopped_run_can_go_on_with_a_message_to_the_node_that_was_stopped(
    tmp_path: Path,
) -> None:
    async def body() -> None:
        held = Held(OK)
        flow = workflow([("a", "c")], nodes=["b"], agents={"b": ASKING})
        rig = RunRig(flow, {"a": [held, OK], "b": [ask("?"), OK], "c": [OK]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        await until(lambda: rig.view.pending_inputs)
        await rig.run.stop()
        for nobody, error in (("c", NodeNotActive), ("zzz", UnknownNode)):
            with pytest.raises(error):
                rig.run.continue_(nobody, "Hello?")
        assert (rig.run.is_over, rig.status()) == (True, RunStatus.STOPPED)
        rig.run.continue_("a", "Make it blue")
        outcome = await settled_needs(rig)
        assert [pending.node_id for pending in outcome.inputs] == ["b"]
        requests = rig.model.requests_of("a")
        assert [request.model_attempt for request in requests] == [1, 2]
        assert requests[-1].transcript[-1] == UserMessage("Make it blue")
        await rig.run.stop()
        rig.run.continue_("b", "Yes")
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert rig.model.requests_of("b")[-1].transcript[-1] == UserMessage("Yes")
        said = [(e.role, e.content) for e in rig.view.chat["b"] if e.role == "user"]
        assert said == [("user", "Yes")]

    run_async(body)


def test_a_backoff_ends_with_the_run(tmp_path: Path) -> None:
    async def body() -> None:
        flow = workflow(nodes=["a"], settings={"retryPolicy": {"backoff_ms": 600_000}})
        rig = RunRig(flow, {"a": [TransientFailure("busy")]}, tmp_path)
        rig.run.start()
        await until(lambda: rig.events(ev.AiInvokeFailed))
        assert rig.status() is RunStatus.RUNNING
        await rig.run.stop()
        assert rig.status() is RunStatus.STOPPED

    run_async(body)


def test_a_run_that_waits_is_left_as_it_is_when_the_program_ends(tmp_path: Path) -> None:
    async def body() -> None:
        rig = RunRig(TWO, {"a": [ask("?")], "b": [OK]}, tmp_path)
        rig.run.start()
        await settled_needs(rig)
        told = len(rig.records)
        await rig.run.close()
        assert len(rig.records) == told
        assert rig.status() is RunStatus.PAUSED
        with pytest.raises(RunIsOver):
            await rig.run.answer("a", "too late")

    run_async(body)


def test_a_run_that_moves_is_stopped_when_the_program_ends(tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(OK)
        rig = RunRig(workflow(nodes=["a"]), {"a": [held]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        await rig.run.close()
        assert held.cancelled
        assert rig.status() is RunStatus.STOPPED

    run_async(body)


def test_the_trace_of_a_stopped_run_says_stopped(tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(OK)
        rig = RunRig(workflow(nodes=["a"]), {"a": [held]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        await rig.run.stop()
        assert rig.view.trace[-1].status is TraceStatus.STOPPED

    run_async(body)
