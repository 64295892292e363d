"""Several workflows in tabs, as a person works with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.first_window import EXAMPLE
from engine.vocabulary import events as ev
from engine.vocabulary.report import RunReport
from orchestration.workflow_catalog import examples
from tests.support.qt_loop import QtLoop, turns, until
from tests.support.tab_hand import TabHand
from tests.support.window_driver import WindowDriver, begin


@pytest.fixture
def hand(driver: WindowDriver, tmp_path: Path) -> TabHand:
    return TabHand(driver, tmp_path)


def test_each_tab_has_its_own_edits_and_its_own_undo(hand: TabHand, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        assert not hand.window.tab_strip.isVisible()
        hand.rename_first("One")
        await hand.open("Other")
        assert hand.window.tab_strip.isVisible()
        assert hand.tabs() == ["Planning*", "Other"]
        assert hand.first_label() == "Clarify idea"
        hand.rename_first("Two")
        assert hand.tabs() == ["Planning*", "Other*"]

        await hand.trigger("undo")
        assert (hand.first_label(), hand.tabs()) == ("Clarify idea", ["Planning*", "Other"])
        assert not hand.driver.can("undo")
        await hand.trigger("next_tab")
        assert (hand.front(), hand.first_label()) == ("Planning", "One")
        assert hand.window.windowTitle().startswith("Planning")
        assert hand.window.inspector.title.text() == "Workflow"
        await hand.trigger("undo")
        assert hand.first_label() == "Clarify idea"
        await hand.trigger("previous_tab")
        await hand.trigger("redo")
        assert (hand.front(), hand.first_label()) == ("Other", "Two")
        hand.window.document.undo_stack.setClean()
        await hand.driver.close()

    qt_loop.run(scenario())


def test_what_is_copied_in_one_tab_is_pasted_in_another(hand: TabHand, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        hand.window.scene.choose(nodes=["plan", "brief"])
        hand.window.canvas.setFocus()
        await hand.trigger("copy")
        await hand.open("Other")
        before = len(hand.window.document.graph.cards)
        await hand.trigger("paste")
        graph = hand.window.document.graph
        new = {item.card.id for item in hand.window.scene.chosen_items()}
        assert (len(new), len(graph.cards)) == (2, before + 2)
        assert [w for w in graph.wires if w.source in new and w.target in new]
        assert not new & {"idea", "plan", "risk", "brief"}
        await hand.trigger("undo")
        assert len(hand.window.document.graph.cards) == before
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_file_that_is_open_comes_to_the_front(hand: TabHand, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        first = hand.window.document.path
        await hand.open("Other")
        assert first is not None
        hand.window.sidebar.chosen.emit(first)
        await hand.driver.settle()
        assert (hand.tabs(), hand.front()) == (["Planning", "Other"], "Planning")
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_tab_is_closed_by_its_cross_and_by_the_middle_button_and_comes_back(
    hand: TabHand, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        await hand.open("Other")
        await hand.open("Third")
        bar = hand.window.tab_strip.bar
        cross = bar.tabButton(1, bar.ButtonPosition.RightSide)
        hand.driver.click(cross)
        await hand.driver.settle()
        assert (hand.tabs(), hand.front()) == (["Planning", "Third"], "Third")
        middle = bar.tabRect(1).center()
        QTest.mouseClick(bar, Qt.MouseButton.MiddleButton, Qt.KeyboardModifier.NoModifier, middle)
        await hand.driver.settle()
        assert (hand.tabs(), hand.front()) == (["Planning"], "Planning")
        assert not hand.window.tab_strip.isVisible()
        await hand.trigger("reopen_tab")
        await hand.trigger("reopen_tab")
        assert hand.tabs() == ["Planning", "Third", "Other"]
        assert not hand.driver.can("reopen_tab")
        await hand.driver.close()

    qt_loop.run(scenario())


def test_closing_many_asks_once_for_all_that_is_unsaved(hand: TabHand, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        hand.rename_first("One")
        await hand.open("Other")
        hand.rename_first("Two")
        await hand.open("Third")
        hand.window.actions_["close_other_tabs"].trigger()
        asked = await hand.answer("Cancel")
        assert "Save 2 workflows?" in asked
        assert "• Planning\n• Other" in asked
        assert hand.tabs() == ["Planning*", "Other*", "Third"]
        hand.window.actions_["close_other_tabs"].trigger()
        await hand.answer("Save All")
        assert hand.tabs() == ["Third"]
        assert '"Two"' in (hand.folder / "other.workflow.json").read_text("utf-8")
        await hand.driver.close()

    qt_loop.run(scenario())


def test_an_example_that_nobody_touched_gives_its_tab_away(hand: TabHand, qt_loop: QtLoop) -> None:
    example = next(file for file in examples() if file.path.name == EXAMPLE).path

    async def scenario() -> None:
        await hand.driver.start()
        hand.window.sidebar.chosen.emit(example)
        await hand.driver.settle()
        assert len(hand.tabs()) == 2
        await hand.open("Other")
        assert hand.tabs() == ["Planning", "Other"]
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_run_goes_on_behind_and_its_tab_says_so(hand: TabHand, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        run = await hand.driver.run("Uploads")
        begin(run)
        await hand.driver.settle()
        await hand.open("Other")
        hand.driver.write("for the other one")
        look = hand.window.tab_strip.looks[0]
        assert (look.status, look.mark) == ("running", "disc")
        assert hand.driver.can("run")
        assert set(hand.driver.statuses().values()) == {"Idle"}

        hand.ask(run)
        await until(lambda: hand.window.tab_strip.looks[0].status == "waiting for you")
        (entry,) = hand.window.waiting_list.entries
        hand.window.waiting_list.chosen.emit(entry)
        await hand.driver.settle()
        assert hand.front() == "Planning"
        assert hand.driver.statuses()["idea"] == "Waiting for Input"
        assert hand.driver.chat.composer.text == ""
        await hand.trigger("next_tab")
        assert hand.driver.chat.composer.text == "for the other one"

        run.tell(ev.Finished(RunReport("planning", ())))
        await until(lambda: hand.window.tab_strip.looks[0].status == "done")
        await hand.trigger("previous_tab")
        assert hand.window.tab_strip.looks[0].status == ""
        await hand.driver.close()

    qt_loop.run(scenario())


@pytest.mark.parametrize(("answer", "goes_on"), [("Keep Running", True), ("Stop and Close", False)])
def test_a_tab_with_a_run_is_closed_after_asking(
    hand: TabHand, qt_loop: QtLoop, answer: str, goes_on: bool
) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        run = await hand.driver.run("Uploads")
        begin(run)
        await hand.driver.settle()
        await hand.open("Other")
        await hand.trigger("previous_tab")
        hand.window.actions_["close_tab"].trigger()
        asked = await hand.answer(answer)
        assert "1 run under way: Planning" in asked
        assert hand.tabs() == ["Other"]
        assert (("stop_run", run.run_id) in hand.driver.backend.calls) is not goes_on
        if goes_on:
            await hand.trigger("reopen_tab")
            assert hand.driver.statuses()["idea"] == "Thinking"
        await hand.driver.close()

    qt_loop.run(scenario())


def test_tabs_have_a_menu_and_a_list_of_all(hand: TabHand, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        for name in ("Abel", "Berta", "Caesar", "Dora", "Emil", "Fritz", "Gustav", "Heinrich"):
            await hand.open(name)
        hand.window.resize(900, 700)
        await turns(4)
        strip = hand.window.tab_strip
        assert strip.more.isVisible()
        assert strip.bar.width() < strip.width()
        hand.driver.click(strip.more)
        assert strip.menu is not None
        entries = strip.menu.actions()
        assert [entry.text() for entry in entries][:2] == ["Planning", "Abel"]
        entries[0].trigger()
        await hand.driver.settle()
        assert hand.front() == "Planning"
        strip.bar.menu_wanted.emit(2, QPoint(10, 10))
        await hand.driver.settle()
        assert hand.front() == "Berta"
        assert strip.menu is not None
        words = [action.text() for action in strip.menu.actions() if action.text()]
        assert words[:3] == ["Close Tab", "Close Other Tabs", "Copy Path"]
        strip.menu.close()
        strip.bar.moveTab(2, 0)
        assert hand.tabs()[:3] == ["Berta", "Planning", "Abel"]
        await hand.driver.close()

    qt_loop.run(scenario())
