"""What comes into the library and goes out of it: files, projects, agents, templates."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QDragEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from app.library.agent_editor import AgentEditor
from app.library.row_painter import ROW
from orchestration.workflow_catalog import open_workflow, save_workflow
from tests.support.graphs import diamond
from tests.support.inspector_bench import provider
from tests.support.library_hand import LibraryHand
from tests.support.qt_loop import QtLoop, until
from tests.support.window_driver import WindowDriver
from tests.support.workflow_files import write_workflow

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def hand(driver: WindowDriver) -> LibraryHand:
    return LibraryHand(driver)


def own(hand: LibraryHand, name: str) -> Path:
    """A workflow of the data folder."""
    path = hand.library.create()
    hand.library.rename(path, name)
    return path


def test_dropped_files_and_folders_are_taken_in(
    hand: LibraryHand, qt_loop: QtLoop, tmp_path: Path
) -> None:
    file = write_workflow(tmp_path / "other.workflow.json", name="Other")
    folder = tmp_path / "Shop"
    folder.mkdir()

    async def scenario() -> None:
        await hand.driver.start()
        await hand.drop([file], "Workflows")
        first = hand.window.document.path
        assert first is not None
        assert first.parent == hand.backend.data_dir / "workflows"
        assert open_workflow(first).id == open_workflow(file).id
        await hand.drop([file], "Workflows")
        second = hand.window.document.path
        assert second is not None
        assert open_workflow(second).id != open_workflow(file).id

        await hand.drop([folder], "Projects")
        assert hand.names("project") == ["Shop"]
        await hand.drop([first], "Shop")
        assert "Other copy" in hand.names("workflow")
        assert list((folder / ".flow" / "workflows").glob("*.workflow.json"))
        assert first.exists()
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_dropped_file_that_is_none_is_told(
    hand: LibraryHand, qt_loop: QtLoop, tmp_path: Path
) -> None:
    file = tmp_path / "notes.json"
    file.write_text("{}")

    async def scenario() -> None:
        await hand.driver.start()
        await hand.drop([file], "Workflows")
        assert "is not a workflow" in hand.window.toasts.texts()[0]
        assert hand.names("workflow") == []
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_row_is_dragged_out_as_its_file(hand: LibraryHand, qt_loop: QtLoop) -> None:
    path = own(hand, "Draft")

    async def scenario() -> None:
        await hand.driver.start()
        tree = hand.window.sidebar.library
        index = tree.index_of(hand.row("Draft").key)
        assert index is not None
        assert index.flags() & Qt.ItemFlag.ItemIsDragEnabled
        data = tree.model().mimeData([index])
        assert [url.toLocalFile() for url in data.urls()] == [str(path)]
        template = tree.index_of(hand.row("Simple Agent").key)
        assert template is not None
        assert not template.flags() & Qt.ItemFlag.ItemIsDragEnabled
        text = QMimeData()
        text.setText("no file")
        buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        enter = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, text, buttons, keys)
        QApplication.sendEvent(tree.viewport(), enter)
        assert not enter.isAccepted()
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_project_has_workflows_that_run_in_its_folder(
    hand: LibraryHand, qt_loop: QtLoop, tmp_path: Path
) -> None:
    folder = tmp_path / "Shop"
    folder.mkdir()
    hand.library.add_project(folder)

    async def scenario() -> None:
        await hand.driver.start()
        await hand.choose("Shop", "New Workflow")
        path = hand.window.document.path
        assert path is not None
        assert path.parent == folder / ".flow" / "workflows"
        await hand.driver.run("go")
        assert hand.backend.requests[-1].cwd == folder.resolve()

        example = hand.names("example")[0]
        await hand.choose(example, "Copy to Project", "Shop")
        copy = hand.row(f"{example} copy")
        assert copy.project_id
        await hand.choose(copy.name, "Take out of the Project")
        assert not hand.row(copy.name).project_id

        await hand.press("Shop", Qt.Key.Key_F2)
        await hand.type_name("The shop")
        await hand.press("The shop", Qt.Key.Key_Delete)
        assert hand.names("project") == []
        assert path.exists()
        await hand.press_toast("Undo")
        assert hand.names("project") == ["The shop"]
        await hand.driver.close()

    qt_loop.run(scenario())


def test_runs_of_other_workflows_have_a_folder_of_their_own(
    hand: LibraryHand, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        await hand.driver.run("go")
        assert hand.backend.requests[-1].cwd is None
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_damaged_file_is_shown_as_one_and_told_when_opened(
    hand: LibraryHand, qt_loop: QtLoop
) -> None:
    path = own(hand, "Draft")
    (path.parent / "broken.workflow.json").write_text("{")

    async def scenario() -> None:
        await hand.driver.start()
        assert hand.names("workflow") == ["Draft"]
        row = hand.row("broken")
        assert (row.kind, row.spoken) == ("damaged", "broken, damaged")
        assert "cannot be read" in row.note
        await hand.click("broken")
        assert "is not a workflow" in hand.window.toasts.texts()[0]
        await hand.driver.close()

    qt_loop.run(scenario())


def test_files_that_others_add_and_take_away_are_seen(hand: LibraryHand, qt_loop: QtLoop) -> None:
    path = own(hand, "Draft")

    async def scenario() -> None:
        await hand.driver.start()
        save_workflow(diamond(), path.parent / "theirs.workflow.json")
        await until(lambda: diamond().name in hand.names("workflow"))
        path.unlink()
        await until(lambda: "Draft" not in hand.names("workflow"))
        await hand.driver.close()

    qt_loop.run(scenario())


def test_the_filter_finds_names_and_what_is_inside(hand: LibraryHand, qt_loop: QtLoop) -> None:
    own(hand, "Alpha")
    path = own(hand, "Beta")
    text = path.read_text("utf-8").replace("You are an agent", "Weigh parcels. You are an agent")
    path.write_text(text, "utf-8")

    async def scenario() -> None:
        await hand.driver.start()
        await hand.filter("alp")
        assert [row.name for row in hand.rows()] == ["Workflows", "Alpha"]
        await hand.filter("parcels")
        await until(lambda: [row.name for row in hand.rows()] == ["Workflows", "Beta"])
        field = hand.window.sidebar.filter
        QTest.keyClick(field, Qt.Key.Key_Return)
        await hand.settle()
        assert hand.window.document.path == path
        await hand.filter("zebra")
        (nothing,) = hand.rows()
        assert "zebra" in nothing.name
        QTest.keyClick(field, Qt.Key.Key_Escape)
        assert {"Alpha", "Beta"} <= set(hand.names("workflow"))
        QTest.keyClick(field, Qt.Key.Key_Down)
        assert hand.driver.focused() is hand.window.sidebar.library
        assert {"Alpha", "Beta", "Planning"} <= set(hand.window.sidebar.names())
        await hand.driver.close()

    qt_loop.run(scenario())


def test_sections_stay_folded_as_they_were_left(hand: LibraryHand, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        tree = hand.window.sidebar.library
        await hand.click("Agents")
        index = tree.index_of("section:agents")
        assert index is not None
        assert not tree.isExpanded(index)
        assert hand.window.state.text("library_folded") == "section:agents"
        hand.driver.workbench.librarian.refresh()
        await hand.settle()
        index = tree.index_of("section:agents")
        assert index is not None
        assert not tree.isExpanded(index)
        await hand.press("Agents", Qt.Key.Key_Right)
        assert hand.window.state.text("library_folded") == ""
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_node_is_saved_as_an_agent_and_added_again_by_the_picker(
    hand: LibraryHand, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        hand.window.scene.choose_node("plan")
        hand.window.actions_["save_agent"].trigger()
        await hand.settle()
        assert hand.names("agent") == ["Create plan"]
        (agent,) = hand.library.agents.load().agents
        assert agent.task_prompt == "Do your part."

        hand.window.actions_["add_node"].trigger()
        picker = hand.driver.workbench.editing.picker
        assert "Create plan" in picker.titles()
        QTest.keyClicks(picker.field, "create plan")
        QTest.keyClick(picker.field, Qt.Key.Key_Return)
        labels = [card.label for card in hand.window.document.graph.cards]
        assert labels[-1] == "Create plan 2"
        await hand.settle()

        await hand.press("Create plan", Qt.Key.Key_Delete)
        assert hand.names("agent") == []
        await hand.press_toast("Undo")
        assert hand.names("agent") == ["Create plan"]
        hand.window.document.undo_stack.setClean()
        await hand.driver.close()

    qt_loop.run(scenario())


def test_agents_are_made_renamed_and_opened(hand: LibraryHand, qt_loop: QtLoop) -> None:
    hand.backend.provider_states = (provider("acme"),)

    async def scenario() -> None:
        await hand.driver.start()
        hand.window.actions_["new_agent"].trigger()
        await hand.settle()
        assert hand.names("agent") == ["Agent 1"]
        await hand.type_name("Reviewer")
        (agent,) = hand.library.agents.load().agents
        assert agent.name == "Reviewer"
        await hand.click("Reviewer")
        (editor,) = hand.window.findChildren(AgentEditor)
        assert not editor.isModal()
        assert editor.windowTitle() == "Agent: Reviewer"
        assert "Agents" in hand.names("section")
        box = editor.form.model.control
        assert [box.itemText(row) for row in range(box.count())] == ["acme-1", "acme-2"]
        name = editor.form.label.findChild(QLineEdit)
        assert isinstance(name, QLineEdit)
        name.selectAll()
        QTest.keyClicks(name, "Strict reviewer")
        editor.close()
        await hand.settle()
        (kept,) = hand.library.agents.load().agents
        assert kept.document() == agent.document() | {"name": "Strict reviewer"}
        assert hand.names("agent") == ["Strict reviewer"]
        await hand.press("Strict reviewer", Qt.Key.Key_F2)
        await hand.type_name("Reviewer")
        await hand.press("Reviewer", Qt.Key.Key_D, CTRL)
        assert hand.names("agent") == ["Reviewer", "Reviewer copy"]
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_template_adds_a_node(hand: LibraryHand, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        await hand.click("Classifier")
        assert hand.window.document.graph.cards[-1].label == "Classifier"
        await hand.settle()
        hand.window.document.undo_stack.setClean()
        await hand.driver.close()

    qt_loop.run(scenario())


def test_every_row_has_a_name_for_screen_readers(hand: LibraryHand, qt_loop: QtLoop) -> None:
    own(hand, "Draft")

    async def scenario() -> None:
        await hand.driver.start()
        tree = hand.window.sidebar.library
        for row in hand.rows():
            index = tree.index_of(row.key)
            assert index is not None
            assert index.data(ROW) == row
            assert index.data(Qt.ItemDataRole.AccessibleTextRole) == row.spoken
        assert hand.window.sidebar.filter.accessibleName()
        await hand.driver.close()

    qt_loop.run(scenario())
