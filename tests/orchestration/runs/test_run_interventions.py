"""What a person does to a run: retry, interrupt, answer, decide, talk."""

import asyncio
from pathlib import Path

import pytest

from engine.vocabulary import events as ev
from engine.vocabulary.errors import (
    AlreadyDecided,
    InteractionError,
    LiveMessagesDisabled,
    NodeNotActive,
    NodeNotRetryable,
    NoNodeAwaiting,
    PermanentFailure,
    StalePause,
    UnknownApproval,
    UnknownMessage,
    UnknownNode,
    WrongNode,
)
from engine.vocabulary.report import RunCompleted
from engine.vocabulary.tools import (
    JsonObject,
    ToolConcurrency,
    ToolDefinition,
    ToolTier,
)
from orchestration.runs.view_values import NodeStatus, RunStatus
from orchestration.tools.tool import Tool, ToolContext, ToolOutput
from tests.support.engine_driver import ASKING, workflow
from tests.support.run_rig import TWO, RunRig, run_async, settled_needs, texts, until
from tests.support.scripted_model import OK, WRITE, Held, ask, use


def test_a_failed_node_keeps_the_run_open_and_is_retried_with_its_transcript(
    tmp_path: Path,
) -> None:
    async def body() -> None:
        script = {
            "a": [ask("?"), PermanentFailure("no permission"), OK],
            "b": [OK],
        }
        rig = RunRig(TWO, script, tmp_path)
        rig.run.start()
        await settled_needs(rig)
        await rig.run.answer("a", "my answer")
        outcome = await settled_needs(rig)
        assert [node.error for node in outcome.retryables] == ["permanent: no permission"]
        assert (rig.view.active, rig.view.status) == (True, RunStatus.FAILED)
        assert rig.view.last_error == "A: permanent: no permission"
        await rig.run.retry_node("a", "try harder")
        assert isinstance(await rig.run.settled(), RunCompleted)
        last = texts(rig.model.requests_of("a")[-1])
        assert "my answer" in last
        assert "try harder" in last
        assert rig.view.failed == {}

    run_async(body)


def test_interrupting_a_node_cancels_its_call_and_the_others_go_on(tmp_path: Path) -> None:
    async def body() -> None:
        held, other = Held(OK), Held(OK)
        rig = RunRig(TWO, {"a": [held, OK], "b": [other]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        await rig.run.interrupt_node("a")
        await until(lambda: held.cancelled)
        assert rig.view.status_by_node["a"] is NodeStatus.INTERRUPTED
        assert rig.status() is RunStatus.RUNNING
        other.release.set()
        outcome = await settled_needs(rig)
        assert [(node.node_id, node.interrupted) for node in outcome.retryables] == [("a", True)]
        assert rig.status() is RunStatus.PAUSED
        await rig.run.retry_node("a")
        assert isinstance(await rig.run.settled(), RunCompleted)

    run_async(body)


def test_interrupting_a_node_ends_its_tool_and_closes_its_call(tmp_path: Path) -> None:
    ended: list[str] = []

    async def body() -> None:
        begun = asyncio.Event()

        async def slow(arguments: JsonObject, context: ToolContext) -> ToolOutput:
            begun.set()
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                ended.append(context.call_id)
            raise AssertionError

        tool = Tool(
            definition=ToolDefinition(
                "read", "slow", {"type": "object"}, ToolTier.READ, ToolConcurrency.EXCLUSIVE
            ),
            run=slow,
        )
        rig = RunRig(workflow(nodes=["a"]), {"a": [use(("read", {})), OK]}, tmp_path, tools=[tool])
        rig.run.start()
        await begun.wait()
        assert rig.view.status_by_node["a"] is NodeStatus.RUNNING_TOOL
        await rig.run.interrupt_node("a")
        await until(lambda: ended)
        await settled_needs(rig)
        assert len(rig.events(ev.NodeInterrupted)) == 1
        await rig.run.retry_node("a")
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert "ResultItem" in texts(rig.model.requests[-1])
        assert rig.budget.tools.in_use == 0

    run_async(body)


def test_a_pause_is_announced_when_it_arises_while_the_others_work_on(tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(OK)
        rig = RunRig(TWO, {"a": [ask("?"), OK], "b": [held]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        await until(lambda: rig.events(ev.NodeAwaitingInput))
        assert not held.release.is_set()
        await rig.run.answer("a", "now")
        await until(lambda: "a" in rig.view.outputs)
        held.release.set()
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert len(rig.events(ev.NodeAwaitingInput)) == 1

    run_async(body)


def test_retrying_one_node_does_not_ask_the_other_again(tmp_path: Path) -> None:
    async def body() -> None:
        rig = RunRig(TWO, {"a": [ask("?"), OK], "b": [PermanentFailure("x"), OK]}, tmp_path)
        rig.run.start()
        outcome = await settled_needs(rig)
        assert (len(outcome.inputs), len(outcome.retryables)) == (1, 1)
        assert rig.status() is RunStatus.PAUSED
        await rig.run.retry_node("b")
        outcome = await settled_needs(rig)
        assert (len(outcome.inputs), len(outcome.retryables)) == (1, 0)
        assert len(rig.events(ev.NodeAwaitingInput)) == 1
        await rig.run.stop()

    run_async(body)


def test_a_message_to_a_failed_node_retries_it(tmp_path: Path) -> None:
    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"]), {"a": [PermanentFailure("x"), OK]}, tmp_path)
        rig.run.start()
        await settled_needs(rig)
        await rig.run.send_message("a", "once more")
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert "once more" in texts(rig.model.requests[-1])

    run_async(body)


def test_a_message_to_a_node_at_work_waits_and_can_be_changed_or_taken_back(
    tmp_path: Path,
) -> None:
    (tmp_path / "f").write_text("text")

    async def body() -> None:
        held = Held(use(("read", {"path": "f"})))
        flow = workflow(nodes=["a"], agents={"a": ASKING})
        rig = RunRig(flow, {"a": [held, OK]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        first = await rig.run.send_message("a", "wrong")
        second = await rig.run.send_message("a", "unwanted")
        await rig.run.edit_message(first, "right")
        await rig.run.withdraw_message(second)
        held.release.set()
        assert isinstance(await rig.run.settled(), RunCompleted)
        last = texts(rig.model.requests[-1])
        assert "right" in last
        assert "wrong" not in last
        assert "unwanted" not in last
        assert "right" not in texts(rig.model.requests[0])

    run_async(body)


def test_what_cannot_be_done_is_refused_to_the_one_who_wants_it_and_changes_nothing(
    tmp_path: Path,
) -> None:
    async def body() -> None:
        held, silent = Held(OK), Held(OK)
        flow = workflow(nodes=["a", "b", "c"], agents={"a": ASKING, "b": ASKING})
        rig = RunRig(flow, {"a": [ask("?"), OK], "b": [held], "c": [silent]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        await silent.begun.wait()
        await until(lambda: rig.view.pending_inputs)
        seen = len(rig.records)

        async def refused(error: type[InteractionError], wish: object) -> None:
            with pytest.raises(error):
                await wish  # type: ignore[misc]

        run = rig.run
        await refused(WrongNode, run.answer("b", "x"))
        await refused(StalePause, run.answer("a", "x", "no-such-pause"))
        await refused(UnknownNode, run.answer("nobody", "x"))
        await refused(UnknownApproval, run.decide("nothing", True))
        await refused(NodeNotRetryable, run.retry_node("a"))
        await refused(NodeNotActive, run.interrupt_node("a"))
        await refused(LiveMessagesDisabled, run.send_message("c", "x"))
        await refused(UnknownMessage, run.edit_message("nothing", "x"))
        await refused(UnknownMessage, run.withdraw_message("nothing"))
        assert len(rig.records) == seen
        held.release.set()
        silent.release.set()
        await settled_needs(rig)
        await run.answer("a", "fine")
        assert isinstance(await run.settled(), RunCompleted)

    run_async(body)


def test_an_answer_that_nobody_waits_for_is_refused(tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(OK)
        rig = RunRig(workflow(nodes=["a"]), {"a": [held]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        with pytest.raises(NoNodeAwaiting):
            await rig.run.answer("a", "x")
        held.release.set()
        await rig.run.settled()

    run_async(body)


def test_the_first_decision_counts_and_later_ones_are_told_what_it_was(tmp_path: Path) -> None:
    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"]), {"a": [WRITE, OK]}, tmp_path)
        rig.run.start()
        approval_id = (await settled_needs(rig)).approvals[0].approval_id
        first = asyncio.ensure_future(rig.run.decide(approval_id, True))
        second = asyncio.ensure_future(rig.run.decide(approval_id, False))
        await first
        with pytest.raises(AlreadyDecided, match="already decided: allowed"):
            await second
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert (tmp_path / "x").exists()

    run_async(body)


def test_each_call_of_a_turn_is_decided_by_itself_and_they_run_in_order(tmp_path: Path) -> None:
    calls = [("write", {"path": name, "content": name}) for name in ("one", "two", "three")]

    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"]), {"a": [use(*calls), OK]}, tmp_path)
        rig.run.start()
        one, two, three = (await settled_needs(rig)).approvals
        await rig.run.decide(three.approval_id, True)
        await rig.run.decide(one.approval_id, True)
        await settled_needs(rig)
        assert (tmp_path / "one").exists()
        assert not (tmp_path / "three").exists()
        assert rig.view.status_by_node["a"] is NodeStatus.AWAITING_TOOL_APPROVAL
        await rig.run.decide(two.approval_id, False, "no")
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert (tmp_path / "three").exists()
        assert not (tmp_path / "two").exists()
        results = [item for item in rig.model.requests[-1].transcript if "Result" in repr(item)]
        assert len(results) == 3

    run_async(body)
