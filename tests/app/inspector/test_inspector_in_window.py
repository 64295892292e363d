"""The inspector's place in the window: how it is opened and left, and what it is told there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.inspector.field_widgets import ChoiceField
from app.inspector.text_editor import ProseField
from app.kit.window_state import WindowState
from engine.graph.agents import CallableAgent
from engine.graph.problems import Problem
from orchestration.errors import UserError
from tests.support.canvas_hand import CanvasHand
from tests.support.inspector_bench import AGENTS, provider
from tests.support.qt_loop import QtLoop, until
from tests.support.window_driver import WindowDriver

CONTROL = Qt.KeyboardModifier.ControlModifier


def focus_is_inside(driver: WindowDriver) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and driver.window.inspector.isAncestorOf(focused)


def test_ctrl_i_opens_and_closes_it_and_gives_the_keys_back(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await driver.start()
        window = driver.window
        window.activateWindow()
        assert not window.inspector.isVisible()
        window.canvas.setFocus()
        QTest.keyClick(window, Qt.Key.Key_I, CONTROL)
        assert window.inspector.isVisible()
        assert window.inspector.title.text() == "Workflow"
        assert focus_is_inside(driver)
        QTest.keyClick(window, Qt.Key.Key_I, CONTROL)
        assert not window.inspector.isVisible()
        assert window.canvas.hasFocus()
        driver.click(window.top_bar.inspector_button)
        assert window.inspector.isVisible()
        driver.click(window.inspector.close_button)
        assert not window.inspector.isVisible()
        assert not window.actions_["inspector"].isChecked()
        await driver.close()

    qt_loop.run(scenario())


def test_enter_and_a_double_click_open_a_node(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        window = driver.window
        window.activateWindow()
        window.canvas.setFocus()
        window.scene.choose_node("plan")
        QTest.keyClick(window.canvas, Qt.Key.Key_Return)
        assert window.inspector.title.text() == "Create plan"
        assert focus_is_inside(driver)
        hand = CanvasHand(window)
        hand.double_click(hand.at("risk"))
        assert window.inspector.title.text() == "Find risks"
        assert focus_is_inside(driver)
        QTest.keyClick(window.inspector, Qt.Key.Key_Escape)
        assert window.canvas.hasFocus()
        await driver.close()

    qt_loop.run(scenario())


def test_it_offers_what_the_backend_has_and_says_what_is_wrong(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        backend = driver.backend
        backend.provider_states = (provider("alpha"),)
        backend.agents = AGENTS
        message = "node 'plan' names a model that nobody offers: try it with --provider embedded"
        problem = Problem("no_provider_for_model", message, "plan", field="model")
        backend.problems_by_provider[None] = (problem,)
        await driver.start()
        inspector = driver.window.inspector
        driver.window.open_inspector()
        driver.window.scene.choose_node("plan")
        await driver.settle()
        await until(lambda: inspector.problem_rows)
        (row,) = inspector.problem_rows
        assert row.accessibleName().startswith("Problem: Node “Create plan” names a model")
        chosen = inspector.nodes.fields["provider_id"]
        assert isinstance(chosen, ChoiceField)
        assert [words for _, words in chosen.choices] == ["Inherited: Alpha, by default", "Alpha"]
        assert set(inspector.nodes.agents.boxes) == {agent.id for agent in AGENTS}
        await driver.close()

    qt_loop.run(scenario())


def test_saved_agents_that_cannot_be_read_are_told_and_hide_nothing_else(
    driver: WindowDriver, qt_loop: QtLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> tuple[CallableAgent, ...]:
        raise UserError("the agents cannot be read")

    async def scenario() -> None:
        monkeypatch.setattr(driver.backend, "saved_agents", refuse)
        driver.backend.provider_states = (provider("alpha"),)
        await driver.start()
        await driver.settle()
        offers = driver.window.inspector.nodes.offers
        assert [each.id for each in offers.providers] == ["alpha"]
        assert offers.agents == ()
        assert driver.window.toasts.texts() == ["the agents cannot be read"]
        await driver.close()

    qt_loop.run(scenario())


def test_in_a_narrow_window_the_sidebar_makes_room_for_it(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await driver.start()
        window = driver.window
        window.resize(1024, 700)
        assert window.sidebar.isVisible()
        window.open_inspector()
        assert not window.sidebar.isVisible()
        window.actions_["sidebar"].trigger()
        assert window.sidebar.isVisible()
        window.actions_["inspector"].trigger()
        assert window.sidebar.isVisible()
        await driver.close()

    qt_loop.run(scenario())


@pytest.fixture
def again(qapp: QApplication, workflow_file: Path) -> Iterator[tuple[WindowDriver, WindowState]]:
    state = WindowState(None)
    driver = WindowDriver(workflow_file, state)
    yield driver, state
    driver.dispose()


def test_it_is_there_again_after_a_restart(
    again: tuple[WindowDriver, WindowState], workflow_file: Path, qt_loop: QtLoop
) -> None:
    driver, state = again

    async def scenario() -> None:
        await driver.start()
        driver.window.open_inspector()
        await driver.settle()
        sizes = driver.window._columns.sizes()
        driver.window._columns.setSizes([sizes[0], sizes[1] - 60, sizes[2] + 60])
        width = driver.window.inspector.width()
        driver.window.remember()
        await driver.close()
        second = WindowDriver(workflow_file, state)
        await second.start()
        assert second.window.inspector.isVisible()
        assert second.window.actions_["inspector"].isChecked()
        assert abs(second.window.inspector.width() - width) <= 2
        assert not focus_is_inside(second)
        await second.close()
        second.dispose()

    qt_loop.run(scenario())


def test_skills_of_this_computer_are_offered_in_prompts(
    driver: WindowDriver, qt_loop: QtLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    skill = driver.backend.data_dir / "skills" / "tdd" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\ndescription: Tests come first\n---\nWrite the test first.\n")

    async def scenario() -> None:
        await driver.start()
        window = driver.window
        window.activateWindow()
        window.scene.choose_node("plan")
        window.open_inspector()
        form = window.inspector.nodes
        await until(lambda: bool(form.offers.skills))
        assert [(each.id, each.about) for each in form.offers.skills] == [
            ("tdd", "Tests come first")
        ]
        field = form.fields["task_prompt"]
        assert isinstance(field, ProseField)
        field.take_focus()
        QTest.keyClicks(field.control, " /t")
        assert field.skills.offered == ["/tdd"]
        window.document.undo_stack.setClean()
        await driver.close()

    qt_loop.run(scenario())
