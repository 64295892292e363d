"""Runs without a window: what is answered, what is reported, with which exit status."""

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from engine.graph.workflow import Workflow
from engine.vocabulary import events as ev
from engine.vocabulary.errors import PermanentFailure, TransientFailure
from engine.vocabulary.messages import Usage
from engine.vocabulary.report import PendingApproval, PendingInput
from orchestration.errors import RunRefused
from orchestration.headless import ApprovalRule, Asker, HeadlessResult, Pending, run_headless
from orchestration.runs.answers import ApprovalAnswer, PreparedAnswer, QuestionAnswer
from orchestration.runs.event_hub import EventRecord
from tests.support.engine_driver import ASKING, workflow
from tests.support.run_rig import request_of, run_async, scripted_backend
from tests.support.scripted_model import OK, WRITE, Held, Script, ScriptedModel, ask, submit, use

ALL_ASKING = dict.fromkeys("ab", ASKING)
READ = use(("read", {"path": "missing"}))


class Outcome:
    """What a finished headless run left behind."""

    def __init__(self, result: HeadlessResult, model: ScriptedModel) -> None:
        self.result, self.model = result, model
        self.report = result.report


def run(
    flow: Workflow,
    script: Script,
    data_dir: Path,
    *,
    answers: Iterable[PreparedAnswer] = (),
    approve: ApprovalRule = "ask",
    ask_person: Asker | None = None,
    text: str = "",
) -> Outcome:
    model = ScriptedModel(script)
    results: list[HeadlessResult] = []

    async def body() -> None:
        backend = scripted_backend(model, data_dir)
        results.append(
            await run_headless(
                backend,
                request_of(flow, text),
                answers=answers,
                approve=approve,
                ask=ask_person,
            )
        )
        await backend.aclose()

    run_async(body)
    json.dumps(results[0].report)
    return Outcome(results[0], model)


def test_a_chain_completes_with_its_outputs_and_status_0(data_dir: Path) -> None:
    usage = Usage(prompt_tokens=7, completion_tokens=2)
    script = {
        "a": [submit({"summary": "1"}, usage=usage)],
        "b": [submit({"summary": "2"}, usage=usage)],
        "c": [submit({"summary": "3"})],
    }
    outcome = run(workflow([("a", "b"), ("b", "c")]), script, data_dir, text="Go")
    report = outcome.report
    assert outcome.result.exit_status == 0
    assert report["status"] == "completed"
    assert report["outputs"] == {
        "a": {"summary": "1"},
        "b": {"summary": "2"},
        "c": {"summary": "3"},
    }
    assert report["usage"] == {
        "tokens_in": 14,
        "tokens_out": 4,
        "tokens_cached": None,
        "cost": None,
        "unpriced_calls": 2,
        "by_node": {
            node: {
                "tokens_in": 7,
                "tokens_out": 2,
                "tokens_cached": None,
                "cost": None,
                "unpriced_calls": 1,
            }
            for node in ("a", "b")
        },
    }
    assert (report["failed"], report["waiting"], report["changed_files"]) == ({}, [], [])
    assert set(report) == {
        "run_id",
        "status",
        "outputs",
        "failed",
        "waiting",
        "usage",
        "changed_files",
    }


def test_a_permanent_failure_is_a_failed_run_with_status_1(data_dir: Path) -> None:
    script = {"a": [PermanentFailure("no such model")], "b": [OK]}
    outcome = run(workflow(nodes=["a", "b"]), script, data_dir)
    assert outcome.result.exit_status == 1
    assert outcome.report["status"] == "failed"
    assert outcome.report["failed"] == {"a": "permanent: no such model"}
    assert outcome.report["outputs"] == {"b": {"summary": "ok"}}
    assert outcome.report["waiting"] == []
    assert outcome.result.error is None


def test_transient_failures_are_retried_as_the_workflow_says_and_no_more(data_dir: Path) -> None:
    flow = workflow(nodes=["a"], settings={"retryPolicy": {"max_attempts": 1, "backoff_ms": 0}})
    outcome = run(flow, {"a": [TransientFailure("busy")] * 5}, data_dir)
    assert outcome.result.exit_status == 1
    assert len(outcome.model.requests) == 2


def test_a_script_that_ends_early_fails_the_run_cleanly(data_dir: Path) -> None:
    outcome = run(workflow([("a", "b")]), {"a": [OK]}, data_dir)
    assert outcome.result.exit_status == 1
    assert list(outcome.report["failed"]) == ["b"]


def test_a_question_without_an_answer_pauses_with_status_3(data_dir: Path) -> None:
    script = {"a": [ask("Which colour?")], "b": [PermanentFailure("x")]}
    outcome = run(workflow(nodes=["a", "b"], agents=ALL_ASKING), script, data_dir)
    assert outcome.result.exit_status == 3
    assert outcome.report["status"] == "paused"
    (waiting,) = outcome.report["waiting"]
    assert (waiting["kind"], waiting["node_id"], waiting["question"]) == (
        "question",
        "a",
        "Which colour?",
    )
    assert waiting["pause_id"]
    assert list(outcome.report["failed"]) == ["b"]


def test_prepared_answers_go_to_their_nodes_in_order(data_dir: Path) -> None:
    script = {"a": [ask("One?"), ask("Two?"), OK], "b": [ask("Three?"), OK]}
    answers = [QuestionAnswer("b", "3"), QuestionAnswer("a", "1"), QuestionAnswer("a", "2")]
    outcome = run(workflow([("a", "b")], agents=ALL_ASKING), script, data_dir, answers=answers)
    assert outcome.result.exit_status == 0
    last = repr(list(outcome.model.requests_of("a")[-1].transcript))
    assert last.index("'1'") < last.index("Two?") < last.index("'2'")


def test_an_answer_is_given_while_other_nodes_still_work(data_dir: Path) -> None:
    async def body() -> None:
        held = Held(OK)
        model = ScriptedModel({"a": [ask("?"), OK], "b": [held]})
        backend = scripted_backend(model, data_dir)

        def hear(record: EventRecord) -> None:
            if isinstance(record.event, ev.NodeCompleted) and record.event.node_id == "a":
                held.release.set()

        flow = workflow(nodes=["a", "b"], agents=ALL_ASKING)
        result = await run_headless(
            backend, request_of(flow, on_event=hear), answers=[QuestionAnswer("a", "x")]
        )
        assert result.exit_status == 0
        await backend.aclose()

    run_async(body)


def test_a_call_that_needs_approval_and_gets_none_pauses_with_status_3(data_dir: Path) -> None:
    outcome = run(workflow(nodes=["a"]), {"a": [WRITE, OK]}, data_dir)
    assert outcome.result.exit_status == 3
    (waiting,) = outcome.report["waiting"]
    assert (waiting["kind"], waiting["tool_name"]) == ("approval", "write")
    assert waiting["arguments"] == {"path": "x", "content": "y"}
    assert (waiting["path"], waiting["tier"]) == (["a"], "write")
    assert not (data_dir / "written" / "x").exists()


@pytest.mark.parametrize(
    ("approve", "answers", "written"),
    [
        ("allow", (), True),
        ("deny", (), False),
        ("ask", (ApprovalAnswer(allow=True),), True),
        ("ask", (ApprovalAnswer(allow=False, tool_name="write", reason="no"),), False),
        ("deny", (ApprovalAnswer(allow=True, node_id="a"),), True),
        ("allow", (ApprovalAnswer(allow=False),), False),
    ],
)
def test_prepared_decisions_come_before_the_rule(
    data_dir: Path, approve: ApprovalRule, answers: Iterable[PreparedAnswer], written: bool
) -> None:
    outcome = run(
        workflow(nodes=["a"]), {"a": [WRITE, OK]}, data_dir, answers=answers, approve=approve
    )
    assert outcome.result.exit_status == 0
    assert (data_dir / "written" / "x").exists() == written


def test_a_person_who_is_there_is_asked_what_nobody_prepared(data_dir: Path) -> None:
    asked: list[str] = []

    async def person(
        pending: Pending,
    ) -> str | ApprovalAnswer | None:
        if isinstance(pending, PendingInput):
            asked.append(pending.question)
            return "blue"
        assert isinstance(pending, PendingApproval)
        asked.append(pending.tool_call.name)
        return ApprovalAnswer(allow=True)

    script = {"a": [ask("Which?"), WRITE, OK]}
    outcome = run(workflow(nodes=["a"], agents=ALL_ASKING), script, data_dir, ask_person=person)
    assert outcome.result.exit_status == 0
    assert asked == ["Which?", "write"]


def test_a_person_who_does_not_answer_leaves_the_run_paused(data_dir: Path) -> None:
    async def person(
        pending: Pending,
    ) -> None:
        return None

    script = {"a": [ask("Which?")], "b": [WRITE]}
    outcome = run(
        workflow(nodes=["a", "b"], agents=ALL_ASKING), script, data_dir, ask_person=person
    )
    assert outcome.result.exit_status == 3
    assert [waiting["kind"] for waiting in outcome.report["waiting"]] == ["question", "approval"]


def test_a_read_asks_nobody_and_its_failure_does_not_end_the_run(data_dir: Path) -> None:
    outcome = run(
        workflow(nodes=["a"]), {"a": [READ, OK]}, data_dir, answers=[ApprovalAnswer(allow=False)]
    )
    assert outcome.result.exit_status == 0


def test_being_cancelled_stops_the_run_and_reports_it_with_status_130(data_dir: Path) -> None:
    async def body() -> None:
        held = Held(OK)
        backend = scripted_backend({"a": [OK], "b": [held]}, data_dir)
        flow = workflow([("a", "b")])
        task = asyncio.ensure_future(run_headless(backend, request_of(flow)))
        await held.begun.wait()
        task.cancel()
        result = await task
        assert held.cancelled
        assert (result.exit_status, result.report["status"]) == (130, "stopped")
        assert result.report["outputs"] == {"a": {"summary": "ok"}}
        await backend.aclose()

    run_async(body)


def test_a_workflow_that_cannot_be_run_is_refused_before_anything_is_made(data_dir: Path) -> None:
    async def body() -> None:
        backend = scripted_backend({}, data_dir)
        cycle = workflow([("a", "b"), ("b", "a")])
        with pytest.raises(RunRefused) as caught:
            await run_headless(backend, request_of(cycle))
        assert "cycle" in {problem.code for problem in caught.value.problems}
        assert not (data_dir / "runs").exists()
        await backend.aclose()

    run_async(body)


def test_every_event_is_heard_from_the_first_to_the_last(data_dir: Path) -> None:
    async def body() -> None:
        heard: list[EventRecord] = []
        backend = scripted_backend({"a": [OK]}, data_dir)
        await run_headless(backend, request_of(workflow(nodes=["a"]), on_event=heard.append))
        await backend.aclose()
        assert [record.seq for record in heard] == list(range(1, len(heard) + 1))
        assert isinstance(heard[-1].event, ev.Finished)

    run_async(body)


def test_what_waits_stays_paused_when_the_program_ends(data_dir: Path) -> None:
    async def body() -> None:
        heard: list[EventRecord] = []
        backend = scripted_backend({"a": [ask("?")]}, data_dir)
        flow = workflow(nodes=["a"], agents=ALL_ASKING)
        await run_headless(backend, request_of(flow, on_event=heard.append))
        await backend.aclose()
        assert isinstance(heard[-1].event, ev.NodeAwaitingInput)

    run_async(body)
