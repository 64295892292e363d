"""Runs from start to end with a scripted model and real tools."""

from pathlib import Path

from engine.vocabulary import events as ev
from engine.vocabulary.errors import TransientFailure
from engine.vocabulary.messages import Usage
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.requests import AgentRequest
from orchestration.runs.limits import Budget
from orchestration.runs.view_values import NodeStatus, RunStatus, TraceStatus
from tests.support.engine_driver import ASKING, workflow
from tests.support.run_rig import RunRig, run_async
from tests.support.scripted_model import (
    Held,
    Scripted,
    answer_with_own_name,
    ask,
    ask_choice,
    summary,
    use,
)

DIAMOND = [("root", "left"), ("root", "right"), ("left", "join"), ("right", "join")]


def test_branches_join_with_their_outputs_in_node_order(tmp_path: Path) -> None:
    async def body() -> None:
        rig = RunRig(workflow(DIAMOND), answer_with_own_name, tmp_path, text="Build it")
        outcome = await rig.start()
        assert isinstance(outcome, RunCompleted)
        first, join = rig.model.requests_of("root")[0], rig.model.requests_of("join")[0]
        assert first.input["entrypoint"] == {"text": "Build it"}
        assert [item["node_id"] for item in join.input["upstream"]] == ["left", "right"]
        assert set(rig.view.outputs) == {"root", "left", "right", "join"}
        assert all(rig.view.chat.get(node_id) for node_id in rig.view.outputs)
        assert (rig.view.chat["root"][0].role, rig.view.chat["root"][0].content) == (
            "user",
            "Build it",
        )
        completed = [row for row in rig.view.trace if row.status is TraceStatus.COMPLETED]
        assert len(completed) >= 4
        assert rig.status() is RunStatus.COMPLETED
        assert [record.seq for record in rig.records] == list(range(1, len(rig.records) + 1))
        assert isinstance(rig.records[-1].event, ev.Finished)
        assert rig.view.last_report == outcome.report

    run_async(body)


def test_both_branches_are_answered_at_the_same_time(tmp_path: Path) -> None:
    async def body() -> None:
        left, right = Held(summary("l")), Held(summary("r"))
        script = {
            "root": [summary("x")],
            "left": [left],
            "right": [right],
            "join": [summary("j")],
        }
        rig = RunRig(workflow(DIAMOND), script, tmp_path)
        rig.run.start()
        await left.begun.wait()
        await right.begun.wait()
        assert rig.view.status_by_node["left"] is NodeStatus.STARTED
        left.release.set()
        right.release.set()
        await rig.run.settled()
        assert rig.status() is RunStatus.COMPLETED

    run_async(body)


def test_a_question_pauses_the_run_once_and_its_answer_lets_it_go_on(tmp_path: Path) -> None:
    flow = workflow([("a", "b")], agents={"a": {**ASKING, "auto_start": False}}, settings={})
    script = {"a": [ask("Which colour?"), summary("red")], "b": [summary("done")]}

    async def body() -> None:
        rig = RunRig(flow, script, tmp_path)
        outcome = await rig.start()
        assert isinstance(outcome, NeedsInteraction)
        (pending,) = outcome.inputs
        assert (pending.node_id, pending.question) == ("a", "Which colour?")
        assert rig.status() is RunStatus.PAUSED
        assert rig.view.status_by_node["a"] is NodeStatus.AWAITING_INPUT
        await rig.run.answer("a", "Red", pending.pause_id)
        assert isinstance(await rig.run.settled(), RunCompleted)
        paused = [row for row in rig.view.trace if row.status is TraceStatus.PAUSED]
        assert len(paused) == 1
        said = [(entry.role, entry.content) for entry in rig.view.chat["a"]]
        assert said[:2] == [("assistant", "Which colour?"), ("user", "Red")]
        assert rig.model.requests_of("b")[0].input["upstream"][0]["output"] == {"summary": "red"}

    run_async(body)


def test_two_questions_in_a_row_pause_twice(tmp_path: Path) -> None:
    script = {
        "a": [
            ask("One?"),
            ask_choice("second", "Two?", {"x": "the first", "y": "the second"}),
            summary("ok"),
        ]
    }

    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"], agents={"a": ASKING}), script, tmp_path)
        await rig.start()
        await rig.run.answer("a", "1")
        outcome = await rig.run.settled()
        assert isinstance(outcome, NeedsInteraction)
        structured = outcome.inputs[0].structured_input
        assert structured is not None
        assert rig.view.pending_inputs["a"].structured_input == structured
        await rig.run.answer("a", "2", outcome.inputs[0].pause_id)
        assert isinstance(await rig.run.settled(), RunCompleted)
        paused = [row for row in rig.view.trace if row.status is TraceStatus.PAUSED]
        assert len(paused) == 2

    run_async(body)


def test_a_write_waits_for_its_approval_and_happens_only_then(tmp_path: Path) -> None:
    call = ("write", {"path": "new.txt", "content": "hello"})
    script = {"a": [use(call), summary("written")]}

    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"]), script, tmp_path)
        outcome = await rig.start()
        assert isinstance(outcome, NeedsInteraction)
        (pending,) = outcome.approvals
        assert not (tmp_path / "new.txt").exists()
        assert rig.view.status_by_node["a"] is NodeStatus.AWAITING_TOOL_APPROVAL
        await rig.run.decide(pending.approval_id, True)
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert (tmp_path / "new.txt").read_text() == "hello"
        kinds = [type(fact).__name__ for fact in rig.journal.tool_facts]
        assert kinds == ["CallIntent", "CallResult"]

    run_async(body)


def test_a_denied_call_does_not_run_and_the_model_is_told_why(tmp_path: Path) -> None:
    script = {"a": [use(("write", {"path": "x", "content": "y"})), summary("without")]}

    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"]), script, tmp_path)
        outcome = await rig.start()
        assert isinstance(outcome, NeedsInteraction)
        await rig.run.decide(outcome.approvals[0].approval_id, False, "not in this folder")
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert not (tmp_path / "x").exists()
        assert "not in this folder" in repr(list(rig.model.requests[-1].transcript))

    run_async(body)


def test_always_ask_asks_for_a_read_too_and_by_default_nobody_is_asked(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("remember")
    script = {"a": [use(("read", {"path": "notes.txt"})), summary("ok")]}

    async def body() -> None:
        asking = workflow(nodes=["a"], agents={"a": {"tools": {"approvalMode": "always_ask"}}})
        rig = RunRig(asking, script, tmp_path)
        outcome = await rig.start()
        assert isinstance(outcome, NeedsInteraction)
        await rig.run.decide(outcome.approvals[0].approval_id, True)
        assert isinstance(await rig.run.settled(), RunCompleted)
        again = RunRig(workflow(nodes=["a"]), script, tmp_path)
        assert isinstance(await again.start(), RunCompleted)
        assert again.events(ev.ToolApprovalRequested) == []
        for each in (rig, again):
            (completed,) = each.events(ev.ToolCompleted)
            assert "remember" in completed.content

    run_async(body)


def test_a_tool_that_fails_is_an_answer_to_the_model_and_no_end(tmp_path: Path) -> None:
    script = {"a": [use(("read", {"path": "missing.txt"})), summary("went on")]}

    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"]), script, tmp_path)
        assert isinstance(await rig.start(), RunCompleted)
        (completed,) = rig.events(ev.ToolCompleted)
        assert completed.is_error
        assert "[not_found]" in repr(list(rig.model.requests[-1].transcript))

    run_async(body)


def test_usage_is_counted_and_known_windows_are_told(tmp_path: Path) -> None:
    usage = Usage(prompt_tokens=100, completion_tokens=20, total_tokens=120, cached_input_tokens=60)

    async def body() -> None:
        rig = RunRig(
            workflow([("a", "b")]),
            {"a": [summary("x", usage=usage)], "b": [summary("y", usage=usage)]},
            tmp_path,
        )
        outcome = await rig.start()
        assert isinstance(outcome, RunCompleted)
        assert outcome.report.tokens_in == 200
        assert (rig.view.usage.tokens_in, rig.view.usage.tokens_cached) == (200, 120)
        assert rig.view.context_windows["b"].usage.total_tokens == 120

    run_async(body)


def test_transient_failures_are_retried_with_growing_attempt_numbers(tmp_path: Path) -> None:
    flow = workflow(nodes=["a"], settings={"retryPolicy": {"max_attempts": 3, "backoff_ms": 0}})
    script = {"a": [TransientFailure("busy"), TransientFailure("busy"), summary("ok")]}

    async def body() -> None:
        rig = RunRig(flow, script, tmp_path)
        assert isinstance(await rig.start(), RunCompleted)
        assert [request.model_attempt for request in rig.model.requests] == [1, 2, 3]
        assert len(rig.events(ev.NodeStarted)) == 3
        assert len(rig.events(ev.AiInvokeFailed)) == 2

    run_async(body)


def test_no_more_calls_are_in_flight_than_the_program_allows_over_all_runs(tmp_path: Path) -> None:
    async def body() -> None:
        budget = Budget(provider_calls=3)
        held = [Held(summary("x")) for _ in range(20)]
        turns = iter(held)

        def script(request: AgentRequest) -> Scripted:
            return next(turns)

        names = [f"n{number}" for number in range(10)]
        one = RunRig(workflow(nodes=names), script, tmp_path / "1", budget=budget)
        two = RunRig(workflow(nodes=names), script, tmp_path / "2", budget=budget)
        one.run.start()
        two.run.start()
        for gate in held:
            await gate.begun.wait()
            assert one.model.in_flight + two.model.in_flight <= 3
            gate.release.set()
        await one.run.settled()
        await two.run.settled()
        assert one.view.status is two.view.status is RunStatus.COMPLETED
        assert budget.provider_calls.in_use == 0

    run_async(body)


def test_notices_are_told_before_anything_else(tmp_path: Path) -> None:
    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"]), answer_with_own_name, tmp_path, notices=("demo model",))
        await rig.start()
        assert rig.records[0].event == ev.ChatMessage("a", "system", "demo model")

    run_async(body)
