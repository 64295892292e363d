"""Find and replace, comparing, and the tour, as a person uses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.canvas import commands
from app.canvas.document import WorkflowDocument
from app.find_panel import FindPanel
from app.lookups import Lookups
from app.tour import SEEN
from engine.graph import edits
from tests.support.qt_loop import QtLoop, until
from tests.support.window_driver import WindowDriver
from tests.support.workflow_files import write_workflow


class Looker:
    """A driver with the tools under test."""

    def __init__(self, driver: WindowDriver) -> None:
        self.driver = driver
        self.window = driver.window

    @property
    def document(self) -> WorkflowDocument:
        return self.window.document

    @property
    def lookups(self) -> Lookups:
        return self.driver.workbench.lookups

    @property
    def panel(self) -> FindPanel:
        return self.lookups.find

    def trigger(self, action_id: str) -> None:
        self.window.actions_[action_id].trigger()

    def find(self, text: str) -> None:
        self.panel.field.selectAll()
        QTest.keyClicks(self.panel.field, text)
        self.panel.look()

    def prompts(self) -> list[str]:
        workflow = self.document.workflow
        assert workflow is not None
        return [node.agent.task_prompt for node in workflow.nodes if node.agent is not None]

    async def close(self) -> None:
        await self.driver.settle()
        self.document.undo_stack.setClean()
        await self.driver.close()


@pytest.fixture
def looker(driver: WindowDriver) -> Looker:
    return Looker(driver)


def test_matches_are_listed_with_node_and_field_and_lead_there(
    looker: Looker, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await looker.driver.start()
        looker.window.canvas.setFocus()
        QTest.keyClick(looker.window.canvas, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
        assert looker.panel.isVisible()
        assert looker.driver.focused() is looker.panel.field
        looker.find("your part")
        items = [looker.panel.list.item(row).text() for row in range(looker.panel.list.count())]
        assert items[0] == "Clarify idea · task prompt\nDo your part."
        assert looker.panel.told.text() == "4 matches"
        QTest.keyClick(looker.panel.field, Qt.Key.Key_Return)
        assert looker.window.scene.chosen_node() == "plan"
        QTest.keyClick(looker.panel.field, Qt.Key.Key_Up)
        QTest.keyClick(looker.panel.field, Qt.Key.Key_Up)
        assert looker.window.scene.chosen_node() == "brief"
        QTest.keyClick(looker.panel.field, Qt.Key.Key_Escape)
        assert not looker.panel.isVisible()
        assert looker.driver.focused() is looker.window.canvas
        await looker.close()

    qt_loop.run(scenario())


def test_replacing_all_is_one_step(looker: Looker, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await looker.driver.start()
        looker.trigger("find")
        looker.find("part")
        looker.panel.replacement.setText("share")
        looker.panel.replace_all.click()
        assert looker.prompts() == ["Do your share."] * 4
        assert looker.document.undo_stack.count() == 1
        assert looker.window.actions_["undo"].text() == "Undo Replace in 4 places"
        assert looker.panel.told.text() == "Nothing found"
        looker.trigger("undo")
        assert looker.prompts() == ["Do your part."] * 4
        await until(lambda: len(looker.panel.matches) == 4)
        looker.panel.replace_one.click()
        assert looker.prompts().count("Do your share.") == 1
        assert len(looker.panel.matches) == 3
        await looker.close()

    qt_loop.run(scenario())


def test_case_and_patterns_are_choices_and_a_wrong_one_is_told(
    looker: Looker, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await looker.driver.start()
        looker.trigger("find")
        looker.find("DO")
        assert len(looker.panel.matches) == 4
        looker.panel.match_case.click()
        looker.panel.look()
        assert looker.panel.list.count() == 0
        looker.panel.match_case.click()
        looker.panel.is_pattern.click()
        looker.find("(your")
        assert "no regular expression" in looker.panel.told.text()
        assert not looker.panel.replace_all.isEnabled()
        looker.find("(your) (part)")
        looker.panel.replacement.setText(r"\2 of \1 \9")
        looker.panel.replace_all.click()
        assert "does not fit" in looker.panel.told.text()
        looker.panel.replacement.setText(r"\2 of \1s")
        looker.panel.replace_all.click()
        assert looker.prompts()[0] == "Do part of yours."
        await looker.close()

    qt_loop.run(scenario())


def test_edits_elsewhere_are_followed(looker: Looker, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await looker.driver.start()
        looker.trigger("find")
        looker.find("Clarify")
        assert len(looker.panel.matches) == 1
        commands.rename(looker.document, "risk", "Clarify risks")
        await until(lambda: len(looker.panel.matches) == 2)
        await looker.close()

    qt_loop.run(scenario())


def test_the_open_workflow_is_compared_with_its_saved_version(
    looker: Looker, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await looker.driver.start()
        commands.rename(looker.document, "plan", "Make the plan")
        looker.trigger("compare")
        targets = looker.lookups.targets
        assert targets.titles()[:2] == ["Its saved version", "A file…"]
        QTest.keyClick(targets.field, Qt.Key.Key_Return)
        await looker.driver.settle()
        (view,) = looker.lookups.diff_views()
        assert not view.isModal()
        assert view.heading.text() == "Planning, compared with its saved version: 1 difference"
        assert "“Create plan” → “Make the plan”" in view.told.toPlainText()

        prompt = "First.\nThen <b>that</b>."
        looker.document.edit("Change", lambda w: edits.change_config(w, "risk", task_prompt=prompt))
        await until(lambda: "2 differences" in view.heading.text())
        told = view.told.toPlainText()
        assert "-Do your part." in told
        assert "+Then <b>that</b>." in told
        looker.trigger("undo")
        looker.trigger("undo")
        await until(lambda: "0 differences" in view.heading.text())
        assert "Nothing is different" in view.told.toPlainText()
        view.close()
        assert looker.lookups.diff_views() == []
        await looker.close()

    qt_loop.run(scenario())


def test_the_open_workflow_is_compared_with_another_of_the_library(
    looker: Looker, qt_loop: QtLoop
) -> None:
    path = looker.driver.backend.library.create()
    looker.driver.backend.library.rename(path, "Other")

    async def scenario() -> None:
        await looker.driver.start()
        looker.trigger("compare")
        targets = looker.lookups.targets
        QTest.keyClicks(targets.field, "Other")
        QTest.keyClick(targets.field, Qt.Key.Key_Return)
        await looker.driver.settle()
        (view,) = looker.lookups.diff_views()
        assert "“Other” → “Planning”" in view.told.toPlainText()
        view.close()
        await looker.close()

    qt_loop.run(scenario())


def test_a_comparison_with_a_broken_file_is_told(
    looker: Looker, qt_loop: QtLoop, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")

    async def scenario() -> None:
        await looker.driver.start()
        looker.lookups.compare_with(broken)
        await looker.driver.settle()
        assert "is not a workflow" in looker.window.toasts.texts()[0]
        assert looker.lookups.diff_views() == []
        await looker.close()

    qt_loop.run(scenario())


def test_a_comparison_ends_with_its_tab(looker: Looker, qt_loop: QtLoop, tmp_path: Path) -> None:
    other = write_workflow(tmp_path / "other.workflow.json", name="Other")

    async def scenario() -> None:
        await looker.driver.start()
        looker.lookups.compare_with(other)
        await looker.driver.settle()
        assert len(looker.lookups.diff_views()) == 1
        looker.trigger("close_tab")
        await looker.driver.settle()
        assert looker.lookups.diff_views() == []
        await looker.close()

    qt_loop.run(scenario())


def test_the_tour_leads_through_the_window_by_keys_once(looker: Looker, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await looker.driver.start()
        looker.window.canvas.setFocus()
        tour = looker.lookups.tour
        tour.begin_once()
        assert tour.isVisible()
        assert looker.driver.focused() is tour
        titles = [tour.title.text()]
        while tour.next.text() != "Done":
            QTest.keyClick(tour, Qt.Key.Key_Right)
            titles.append(tour.title.text())
            assert tour.rect().contains(tour.card.geometry())
        assert titles[:2] == ["Your library", "The workflow"]
        assert len(set(titles)) == len(titles) >= 5
        QTest.keyClick(tour, Qt.Key.Key_Left)
        assert tour.title.text() == titles[-2]
        QTest.keyClick(tour, Qt.Key.Key_Escape)
        assert not tour.isVisible()
        assert looker.driver.focused() is looker.window.canvas
        assert looker.window.state.flag(SEEN, False)

        tour.begin_once()
        assert not tour.isVisible()
        looker.trigger("tour")
        assert tour.isVisible()
        tour.skip.click()
        assert not tour.isVisible()
        await looker.close()

    qt_loop.run(scenario())


def test_the_tour_leaves_out_what_is_not_on_screen(looker: Looker, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await looker.driver.start()
        looker.trigger("sidebar")
        assert not looker.window.sidebar.isVisible()
        looker.trigger("tour")
        tour = looker.lookups.tour
        assert tour.title.text() == "The workflow"
        tour.end()
        await looker.close()

    qt_loop.run(scenario())


def test_an_empty_window_offers_what_to_do_next(looker: Looker, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await looker.driver.start()
        looker.trigger("close_tab")
        await looker.driver.settle()
        empty = looker.lookups.empty
        assert empty.isVisible()
        assert looker.window.canvas.rect().contains(empty.geometry())
        QTest.mouseClick(empty.buttons[0], Qt.MouseButton.LeftButton)
        await looker.driver.settle()
        assert looker.window.document.graph.name == "Untitled"
        assert not empty.isVisible()
        await looker.close()

    qt_loop.run(scenario())
