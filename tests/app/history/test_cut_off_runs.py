from __future__ import annotations

from pathlib import Path

import pytest

from engine.vocabulary import events as ev
from engine.vocabulary.recovery import UncertainChoice
from orchestration.runs.view_values import RunStatus
from tests.support.fake_backend import FakeRun
from tests.support.qt_loop import QtLoop, until
from tests.support.stored_runs import keep, stored_run, tell_two_nodes, uncertain_edit
from tests.support.window_driver import WindowDriver


def test_a_run_that_was_cut_off_is_offered_at_the_start_and_never_blocks(
    driver: WindowDriver, qt_loop: QtLoop, workflow_file: Path
) -> None:
    told = FakeRun("r1", driver.backend.load_workflow(workflow_file))
    tell_two_nodes(told)
    keep(driver.backend, stored_run("r1", "Half done", status=RunStatus.RUNNING), told)

    async def scenario() -> None:
        await driver.start()
        bar = driver.window.dock.interrupted_bar
        assert bar.isVisible()
        assert "Half done" in bar.words.text()
        assert driver.can("run")
        driver.click(bar.resume)
        await driver.settle()
        assert ("resume_run", "r1") in driver.backend.calls
        assert not bar.isVisible()
        await driver.close()

    qt_loop.run(scenario())


def test_several_runs_that_were_cut_off_are_shown_in_the_list(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    driver.backend.stored = [
        stored_run("r1", status=RunStatus.RUNNING),
        stored_run("r2", status=RunStatus.RUNNING, workflow_id="other"),
        stored_run("r3"),
    ]

    async def scenario() -> None:
        await driver.start()
        bar = driver.window.dock.interrupted_bar
        assert bar.words.text() == "The program ended in the middle of 2 runs"
        assert not bar.resume.isVisible()
        driver.click(bar.show_all)
        model = driver.window.dock.history.runs.model
        await until(lambda: model.rowCount() == 2)
        assert {model.index(row, 1).data() for row in range(2)} == {"Cut off"}
        await driver.close()

    qt_loop.run(scenario())


def test_nothing_is_offered_where_nothing_was_cut_off(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    driver.backend.stored = [stored_run("r1")]

    async def scenario() -> None:
        await driver.start()
        assert not driver.window.dock.interrupted_bar.isVisible()
        await driver.close()

    qt_loop.run(scenario())


@pytest.mark.parametrize(
    ("words", "choice", "verdict"),
    [
        ("It is done", "done", "Taken as done"),
        ("Run it again", "redo", "Run again"),
        ("Skip it", "skip", "Skipped"),
    ],
)
def test_a_call_of_unknown_end_is_a_card_with_its_evidence(
    driver: WindowDriver, qt_loop: QtLoop, words: str, choice: str, verdict: str
) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run("Go")
        call = uncertain_edit()
        run.tell(
            ev.NodeStarted("plan", "Create plan"),
            ev.ToolCallProposed("plan", "Create plan", call.tool_call),
            ev.ToolCallUncertain(call),
        )
        await driver.settle()
        assert driver.statuses()["plan"] == "Awaiting Approval"
        (card,) = driver.cards()
        assert card.title.text() == (
            "Create plan was using Edit File when the program ended. Did it finish?"
        )
        evidence = card.evidence.toPlainText()  # type: ignore[attr-defined]
        assert "then: sha256 3f3f3f" in evidence
        assert "now:  sha256 a1a1a1" in evidence
        assert driver.window.waiting_list.row_texts() == [
            "Planning / Create plan may have run or not"
        ]
        pressed = driver.card_button(words)
        driver.click(pressed)
        driver.click(pressed)
        await driver.settle()
        assert driver.backend.calls == [("settle_uncertain", "c9", choice)]
        run.tell(ev.ToolCallSettled("plan", "c9", "edit", UncertainChoice(choice)))
        await driver.settle()
        assert not driver.cards()
        assert any(row.verdict == verdict for row in driver.rows())
        await driver.close()

    qt_loop.run(scenario())
