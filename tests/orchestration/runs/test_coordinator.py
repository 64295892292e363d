"""What a person does to a run: stop, continue, retry, interrupt, answer, decide, talk."""

import asyncio
import time
from pathlib import Path

import pytest

from engine.run.interactive_engine import InteractiveEngine
from engine.vocabulary import events as ev
from engine.vocabulary.effects import Step
from engine.vocabulary.errors import (
    AlreadyDecided,
    InteractionError,
    LiveMessagesDisabled,
    NodeNotActive,
    NodeNotRetryable,
    NoNodeAwaiting,
    PermanentFailure,
    RunIsOver,
    StalePause,
    TransientFailure,
    UnknownApproval,
    UnknownMessage,
    UnknownNode,
    WrongNode,
)
from engine.vocabulary.inputs import EngineInput, Entrypoint
from engine.vocabulary.report import NeedsInteraction, RunCancelled, RunCompleted
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import (
    JsonObject,
    ToolConcurrency,
    ToolDefinition,
    ToolTier,
)
from orchestration.errors import NoContinuableRun
from orchestration.runs.entropy import SeededEntropy
from orchestration.runs.view_values import NodeStatus, RunStatus, TraceStatus
from orchestration.tools.tool import Tool, ToolContext, ToolOutput
from tests.support.engine_driver import workflow
from tests.support.run_rig import RunRig, run_async, until
from tests.support.scripted_model import Held, Scripted, ask, submit, use

ASKING = {"requestUserInput": True}
TWO = workflow(nodes=["a", "b"], agents={"a": ASKING, "b": ASKING})
OK = submit({"summary": "ok"})
WRITE = use(("write", {"path": "x", "content": "y"}))


def texts(request: AgentRequest) -> str:
    return repr(list(request.transcript))


async def settled_needs(rig: RunRig) -> NeedsInteraction:
    outcome = await rig.run.settled()
    assert isinstance(outcome, NeedsInteraction), outcome
    return outcome


def test_stopping_cancels_the_call_and_says_so_within_a_second(tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(OK)
        rig = RunRig(workflow([("a", "b")]), {"a": [held]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        began = time.monotonic()
        await rig.run.stop()
        assert time.monotonic() - began < 1.0
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
        again = Held(ask("?"))
        rig = RunRig(TWO, {"a": [held, again, OK], "b": [OK]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        await rig.run.stop()
        rig.run.continue_()
        await again.begun.wait()
        await rig.run.send_message("a", "Make it blue")
        again.release.set()
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert "Make it blue" in texts(rig.model.requests_of("a")[-1])

    run_async(body)


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
            ToolDefinition(
                "read", "slow", {"type": "object"}, ToolTier.READ, ToolConcurrency.EXCLUSIVE
            ),
            slow,
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


def test_recorded_inputs_fed_again_give_the_same_effects_and_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("text")
    steps: list[Step] = []
    feed = InteractiveEngine.feed

    def recording(self: InteractiveEngine, given: EngineInput) -> Step:
        step = feed(self, given)
        steps.append(step)
        return step

    flow = workflow(
        [("a", "c"), ("b", "c")],
        agents={"a": ASKING},
        settings={"retryPolicy": {"max_attempts": 2, "backoff_ms": 0}},
    )
    script: dict[str, list[Scripted]] = {
        "a": [use(("read", {"path": "f"}), ("write", {"path": "g", "content": "h"})), ask("?"), OK],
        "b": [TransientFailure("busy"), OK],
        "c": [PermanentFailure("no"), OK],
    }

    async def body() -> None:
        rig = RunRig(flow, script, tmp_path, text="Go")
        monkeypatch.setattr(InteractiveEngine, "feed", recording)
        rig.run.start()
        await rig.run.decide((await settled_needs(rig)).approvals[0].approval_id, True)
        await settled_needs(rig)
        with pytest.raises(StalePause):
            await rig.run.answer("a", "x", "wrong")
        await rig.run.answer("a", "because")
        await settled_needs(rig)
        await rig.run.retry_node("c")
        assert isinstance(await rig.run.settled(), RunCompleted)
        monkeypatch.undo()
        again = InteractiveEngine(
            flow,
            run_id=rig.journal.run_id,
            entropy=SeededEntropy(rig.journal.seed),
            catalog=rig.catalog,
            entrypoint=Entrypoint("Go"),
        )
        replayed = []
        for given in rig.journal.inputs:
            try:
                replayed.append(again.feed(given))
            except InteractionError:
                continue
        assert replayed == steps
        assert again.is_over

    run_async(body)


def test_ids_and_randomness_depend_on_the_seed_and_the_serial_alone() -> None:
    one, same, other = SeededEntropy(b"a" * 16), SeededEntropy(b"a" * 16), SeededEntropy(b"b" * 16)
    serials = range(1, 2000)
    assert [one.identifier(n) for n in serials] == [same.identifier(n) for n in serials]
    assert len({one.identifier(n) for n in serials} | {other.identifier(n) for n in serials}) == (
        2 * len(serials)
    )
    assert all(c.isalnum() or c == "-" for n in serials for c in one.identifier(n))
    fractions = [one.fraction(n) for n in serials]
    assert fractions == [same.fraction(n) for n in reversed(serials)][::-1]
    assert all(0 <= fraction < 1 for fraction in fractions)
    assert 0.45 < sum(fractions) / len(fractions) < 0.55


def test_the_trace_of_a_stopped_run_says_stopped(tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(OK)
        rig = RunRig(workflow(nodes=["a"]), {"a": [held]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        await rig.run.stop()
        assert rig.view.trace[-1].status is TraceStatus.STOPPED

    run_async(body)
