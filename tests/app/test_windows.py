"""Several windows over one backend, and what comes back at the next start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.kit.window_state import WindowState
from app.main_window import MainWindow
from tests.support.qt_loop import QtLoop, until
from tests.support.tab_hand import TabHand
from tests.support.window_driver import WindowDriver, begin


class Windows:
    """Both windows of a program, each with a hand."""

    def __init__(self, hand: TabHand) -> None:
        self.hand = hand
        self.driver = hand.driver
        self.program = hand.driver.program
        self.ends = 0
        self.program.on_end(self._end)

    def _end(self) -> None:
        self.ends += 1

    def second(self) -> MainWindow:
        return self.program.windows[1]

    def names(self) -> list[list[str]]:
        """What is open in each window."""
        return [[desk.name for desk in window.desks.all] for window in self.program.windows]

    async def trigger(self, window: MainWindow, action_id: str) -> None:
        window.actions_[action_id].trigger()
        await self.driver.settle()


@pytest.fixture
def kept(tmp_path: Path) -> WindowState:
    return WindowState(tmp_path / "state")


@pytest.fixture
def hand(
    qapp: QApplication, workflow_file: Path, tmp_path: Path, kept: WindowState
) -> Iterator[TabHand]:
    driver = WindowDriver(workflow_file, kept)
    yield TabHand(driver, tmp_path)
    driver.dispose()


def test_a_tab_moves_to_a_new_window_with_its_edits_its_undo_list_and_its_run(
    hand: TabHand, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        both = Windows(hand)
        run = await hand.driver.run("Uploads")
        begin(run)
        hand.rename_first("Mine")
        await hand.open("Other")
        await hand.trigger("previous_tab")
        await hand.trigger("move_tab")
        assert both.names() == [["Other"], ["Planning"]]
        second = both.second()
        assert second.theme is hand.window.theme
        item = second.scene.items_by_node["idea"]
        assert (item.card.label, item.info.status) == ("Mine", "started")
        assert second.actions_["stop"].isEnabled()
        assert not hand.window.actions_["stop"].isEnabled()

        hand.ask(run)
        await until(lambda: all(len(w.waiting_list.entries) == 1 for w in both.program.windows))
        hand.window.waiting_list.chosen.emit(hand.window.waiting_list.entries[0])
        await hand.driver.settle()
        assert second.scene.chosen_node() == "idea"
        assert both.names() == [["Other"], ["Planning"]]

        await both.trigger(second, "undo")
        assert second.document.graph.cards[0].label == "Clarify idea"
        assert hand.window.document.graph.cards[0].label == "Clarify idea"
        assert not hand.window.actions_["redo"].isEnabled()
        second.scene.choose(nodes=["plan"])
        await both.trigger(second, "copy")
        before = len(hand.window.document.graph.cards)
        await hand.trigger("paste")
        assert len(hand.window.document.graph.cards) == before + 1
        await hand.trigger("undo")
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_file_that_is_open_in_another_window_is_shown_there(
    hand: TabHand, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        both = Windows(hand)
        first = hand.window.document.path
        await hand.trigger("new_window")
        second = both.second()
        assert both.names() == [["Planning"], [""]]
        second.sidebar.chosen.emit(first)
        await hand.driver.settle()
        assert both.names() == [["Planning"], [""]]
        other = hand.folder / "other.workflow.json"
        other.write_bytes(first.read_bytes() if first is not None else b"")
        second.sidebar.chosen.emit(other)
        await hand.driver.settle()
        assert [window.document.path for window in both.program.windows] == [first, other]
        await hand.driver.close()

    qt_loop.run(scenario())


def test_closing_one_window_of_two_leaves_the_other_and_asks_about_its_edits_alone(
    hand: TabHand, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        both = Windows(hand)
        hand.rename_first("Mine")
        await hand.trigger("new_window")
        second = both.second()
        second.close()
        await hand.driver.settle()
        assert both.names() == [["Planning"]]

        await hand.trigger("new_window")
        hand.window.close()
        asked = await hand.answer("Cancel")
        assert "Save “Planning”?" in asked
        assert len(both.names()) == 2
        assert both.ends == 0

        both.second().close()
        await hand.driver.settle()
        hand.window.close()
        assert both.ends == 1  # the last one ends the program, which asks by itself
        hand.window.document.undo_stack.setClean()
        await hand.driver.close()

    qt_loop.run(scenario())


def test_quitting_asks_once_about_the_edits_of_all_windows(hand: TabHand, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        both = Windows(hand)
        hand.rename_first("One")
        await hand.open("Other")
        hand.rename_first("Two")
        await hand.trigger("move_tab")
        await both.trigger(both.second(), "quit")
        assert both.ends == 1
        asking = both.program.common.tasks.spawn(_ask(both), "ask")
        asked = await hand.answer("Don't Save")
        await asking
        assert "Save 2 workflows?" in asked
        assert both.program.common.swaps.keys() == ()
        await hand.driver.close()

    qt_loop.run(scenario())


async def _ask(both: Windows) -> None:
    assert await both.program.agrees_to_close()


def test_windows_and_their_tabs_come_back_with_what_was_in_view(
    hand: TabHand, qt_loop: QtLoop, kept: WindowState, tmp_path: Path
) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        both = Windows(hand)
        await hand.open("Other")
        hand.window.canvas.zoom_by(0.5)
        await hand.open("Third")
        await hand.open("Fourth")
        await hand.trigger("move_tab")
        await hand.trigger("previous_tab")
        both.second().resize(700, 640)
        hand.window.canvas.zoom_by(0.25)
        for window in both.program.windows:
            window.remember()
        await hand.driver.close()

    async def with_a_file_of_the_second_window() -> None:
        driver = WindowDriver(tmp_path / "fourth.workflow.json", WindowState(tmp_path / "state"))
        await driver.start()
        both = Windows(TabHand(driver, tmp_path))
        assert [len(names) for names in both.names()] == [4]
        assert driver.window.document.graph.name == "Fourth"
        await driver.close()
        driver.dispose()

    async def again() -> None:
        driver = WindowDriver(None, WindowState(tmp_path / "state"))
        # For the first frame, one file is read.
        assert [desk.name for desk in driver.window.desks.all] == ["Other"]
        await driver.start()
        both = Windows(TabHand(driver, tmp_path))
        look = driver.window.tab_strip.looks
        assert [each.name for each in look] == ["Planning", "Other", "Third"]
        unread = [desk.document.workflow is None for desk in driver.window.desks.all]
        assert unread == [True, False, True]
        assert both.names()[1] == ["Fourth"]
        assert (both.second().width(), both.second().height()) == (700, 640)
        assert driver.window.canvas.scale_now < 0.2
        await both.trigger(driver.window, "previous_tab")
        assert driver.window.document.workflow is not None
        await driver.close()
        driver.dispose()

    qt_loop.run(scenario())
    qt_loop.run(again())
    qt_loop.run(with_a_file_of_the_second_window())
