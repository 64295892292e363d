"""Whole runs with limits: what is counted, asked, answered, and shown of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.vocabulary.errors import RunIsOver, UnclearAnswer
from engine.vocabulary.events import UsageReported
from engine.vocabulary.inputs import Started
from engine.vocabulary.messages import Usage
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.spending import Allowance, SpendingLimits
from orchestration.headless import run_headless
from orchestration.runs.answers import BudgetAnswer, PreparedAnswer, QuestionAnswer, read_answers
from orchestration.runs.view_values import NodeStatus, RunStatus
from orchestration.settings.model import Limits, ModelSettings, Settings, Spending
from tests.support.engine_driver import workflow
from tests.support.run_rig import RunRig, request_of, run_async, scripted_backend, settled_needs
from tests.support.scripted_model import summary, use

ONE = workflow(nodes=["a"])
READ = use(("read", {"path": "."}))
USAGE = Usage(900, 100, 1000)
PRICED = Settings(models={"scripted": ModelSettings(input_price=1, output_price=1)})


def reads(count: int) -> dict[str, object]:
    """A node that reads some times, then submits; only the last turn has a usage."""
    return {"a": [*[READ] * count, summary("ok", usage=USAGE)]}


def rig_of(folder: Path, limits: SpendingLimits, turns: int = 4) -> RunRig:
    """A run with limits whose calls cost a cent each."""
    return RunRig(
        ONE,
        reads(turns),
        folder / "work",
        limits=limits,
        price=lambda provider, model, usage: 0.01,
    )


def test_a_limit_pauses_the_run_and_an_answer_lets_it_go_on(tmp_path: Path) -> None:
    async def body() -> None:
        rig = rig_of(tmp_path, SpendingLimits(run=Allowance(turns=2), warn_run=Allowance(turns=1)))
        rig.run.start()
        needs = await settled_needs(rig)
        (asked,) = needs.inputs
        assert asked.budget is not None
        assert rig.status() is RunStatus.PAUSED
        assert rig.view.status_by_node["a"] is NodeStatus.AWAITING_INPUT
        assert rig.view.pending_inputs["a"] == asked
        with pytest.raises(UnclearAnswer):
            await rig.run.answer("a", "hello?", asked.pause_id)
        await rig.run.answer("a", "continue 10", asked.pause_id)
        assert isinstance(await rig.run.settled(), RunCompleted)
        with pytest.raises(RunIsOver):
            await rig.run.answer("a", "stop", asked.pause_id)
        rows = [row.message for row in rig.view.trace]
        assert "Run: 1 turns used, warned of at 1 turns" in rows
        assert asked.question in rows
        assert "Limit of the run raised to 12 turns" in rows
        started = rig.journal.inputs[0]
        assert isinstance(started, Started)
        assert started.limits is not None

    run_async(body)


def test_a_run_that_was_stopped_at_its_limit_can_be_continued(tmp_path: Path) -> None:
    async def body() -> None:
        rig = rig_of(tmp_path, SpendingLimits(run=Allowance(turns=2)))
        rig.run.start()
        await settled_needs(rig)
        await rig.run.answer("a", "Stop")
        await rig.run.settled()
        assert rig.status() is RunStatus.STOPPED
        rig.run.continue_()
        (asked,) = (await settled_needs(rig)).inputs
        await rig.run.answer("a", "Continue 10", asked.pause_id)
        assert isinstance(await rig.run.settled(), RunCompleted)

    run_async(body)


def test_a_node_that_was_stopped_at_its_limit_can_be_retried(tmp_path: Path) -> None:
    async def body() -> None:
        rig = rig_of(tmp_path, SpendingLimits(node=Allowance(turns=2)))
        rig.run.start()
        await settled_needs(rig)
        await rig.run.answer("a", "Stop")
        outcome = await rig.run.settled()
        assert isinstance(outcome, NeedsInteraction)
        assert "limit of 2 turns" in outcome.retryables[0].error
        assert rig.view.pending_inputs == {}
        await rig.run.retry_node("a")
        await settled_needs(rig)
        await rig.run.answer("a", "Continue 10")
        assert isinstance(await rig.run.settled(), RunCompleted)

    run_async(body)


def test_costs_are_in_events_view_and_report(tmp_path: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(reads(2), tmp_path, PRICED)
        try:
            seen: list[UsageReported] = []

            def hear(record: object) -> None:
                event = getattr(record, "event", None)
                if isinstance(event, UsageReported):
                    seen.append(event)

            result = await run_headless(backend, request_of(ONE, on_event=hear))
        finally:
            await backend.aclose()
        assert result.exit_status == 0
        usage = result.report["usage"]
        assert (usage["cost"], usage["unpriced_calls"]) == (0.001, 0)
        assert usage["by_node"]["a"]["cost"] == 0.001
        assert [event.usage.cost for event in seen] == [0.001]

    run_async(body)


def test_an_unknown_price_is_null_and_counted(tmp_path: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(reads(0), tmp_path)
        try:
            result = await run_headless(backend, request_of(ONE, allowance=Allowance(cost=1.0)))
            (view,) = [backend.view(result.report["run_id"])]
        finally:
            await backend.aclose()
        usage = result.report["usage"]
        assert (usage["cost"], usage["unpriced_calls"]) == (None, 1)
        said = [entry.content for entry in view.chat["a"] if entry.role == "system"]
        assert any("what calls of scripted cost is not known" in text for text in said)

    run_async(body)


@pytest.mark.parametrize(
    ("answers", "status", "kind"),
    [
        ([BudgetAnswer(budget="continue 10")], 0, None),
        ([BudgetAnswer(budget="stop", node_id="a")], 130, None),
        ([QuestionAnswer("a", "blue")], 3, "budget"),
        ([BudgetAnswer(budget="continue", node_id="b")], 3, "budget"),
    ],
)
def test_a_limit_is_answered_from_a_file_and_never_by_an_answer_to_the_node(
    tmp_path: Path, answers: list[PreparedAnswer], status: int, kind: str | None
) -> None:
    async def body() -> None:
        settings = Settings(limits=Limits(run=Spending(turns=2)))
        backend = scripted_backend(reads(4), tmp_path, settings)
        try:
            result = await run_headless(backend, request_of(ONE), answers=answers)
        finally:
            await backend.aclose()
        assert result.exit_status == status
        assert [item["kind"] for item in result.report["waiting"]] == ([kind] if kind else [])
        if kind:
            assert result.report["waiting"][0]["limit"]["limit"] == 2

    run_async(body)


def test_answers_about_limits_are_read_from_a_file() -> None:
    assert read_answers(b'[{"budget": "continue 500"}]', "f") == (
        BudgetAnswer(budget="continue 500"),
    )
