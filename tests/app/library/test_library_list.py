"""The library as a person uses it in the sidebar."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from engine.vocabulary import events as ev
from orchestration.workflow_catalog import examples, open_workflow, save_workflow
from tests.support.graphs import diamond
from tests.support.library_hand import LibraryHand
from tests.support.qt_loop import QtLoop, until
from tests.support.window_driver import WindowDriver

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def hand(driver: WindowDriver) -> LibraryHand:
    return LibraryHand(driver)


def own(hand: LibraryHand, name: str) -> Path:
    """A workflow of the data folder."""
    path = hand.library.create()
    hand.library.rename(path, name)
    return path


def test_an_empty_library_says_what_to_do(hand: LibraryHand, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        assert hand.names("section") == [
            "Workflows",
            "Projects",
            "Chats",
            "Agents",
            "Examples",
            "Templates",
        ]
        assert hand.names("outside") == ["Planning"]
        assert len(hand.names("example")) == len(examples())
        assert "Simple Agent" in hand.names("template")
        projects, chats, agents = hand.names("hint")
        assert "Drop a folder here" in projects
        assert "Ctrl+Alt+N" in chats
        assert "Save as Agent" in agents
        await hand.driver.close()

    qt_loop.run(scenario())


def test_one_click_opens_a_workflow_and_enter_does_too(hand: LibraryHand, qt_loop: QtLoop) -> None:
    first, second = own(hand, "First"), own(hand, "Second")

    async def scenario() -> None:
        await hand.driver.start()
        await hand.click("First")
        assert hand.window.document.path == first
        await hand.press("Second", Qt.Key.Key_Return)
        assert hand.window.document.path == second
        assert hand.driver.focused() is not None
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_rename_is_typed_in_place_and_written_at_once(hand: LibraryHand, qt_loop: QtLoop) -> None:
    path = own(hand, "Draft")

    async def scenario() -> None:
        await hand.driver.start()
        await hand.press("Draft", Qt.Key.Key_F2)
        await hand.type_name("Checkout")
        assert open_workflow(path).name == "Checkout"
        assert "Checkout" in hand.names("workflow")

        await hand.press("Checkout", Qt.Key.Key_F2)
        await hand.type_name("Thought better of it", Qt.Key.Key_Escape)
        await hand.press("Checkout", Qt.Key.Key_F2)
        await hand.type_name("   ")
        assert open_workflow(path).name == "Checkout"
        await hand.driver.close()

    qt_loop.run(scenario())


def test_renaming_the_open_workflow_can_be_undone(hand: LibraryHand, qt_loop: QtLoop) -> None:
    path = own(hand, "Draft")

    async def scenario() -> None:
        await hand.driver.start()
        await hand.click("Draft")
        await hand.press("Draft", Qt.Key.Key_F2)
        await hand.type_name("Checkout")
        assert open_workflow(path).name == "Checkout"
        assert hand.window.top_bar.title.text() == "Checkout"
        assert hand.window.top_bar.save_state.text() == "Saved"
        assert "Checkout" in hand.names("workflow")
        hand.window.actions_["undo"].trigger()
        assert hand.window.document.graph.name == "Draft"
        await hand.settle()
        hand.window.document.undo_stack.setClean()
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_renamed_file_that_has_unsaved_edits_keeps_them(
    hand: LibraryHand, qt_loop: QtLoop
) -> None:
    path = own(hand, "Draft")

    async def scenario() -> None:
        from app.canvas import commands

        await hand.driver.start()
        await hand.click("Draft")
        document = hand.window.document
        commands.rename(document, document.graph.cards[0].id, "Other")
        await hand.press("Draft", Qt.Key.Key_F2)
        await hand.type_name("Checkout")
        assert open_workflow(path).name == "Draft"
        assert hand.window.top_bar.save_state.text() == "Edited"
        hand.window.actions_["save"].trigger()
        await hand.settle()
        saved = open_workflow(path)
        assert (saved.name, saved.nodes[0].label) == ("Checkout", "Other")
        await hand.driver.close()

    qt_loop.run(scenario())


def test_what_happens_meanwhile_does_not_disturb_the_typing(
    hand: LibraryHand, qt_loop: QtLoop
) -> None:
    path = own(hand, "Draft")

    async def scenario() -> None:
        await hand.driver.start()
        await hand.press("Draft", Qt.Key.Key_F2)
        save_workflow(diamond(), path.parent / "theirs.workflow.json")
        await until(lambda: diamond().name in hand.names("workflow"))
        assert hand.window.sidebar.library.index_of(hand.row(diamond().name).key) is None
        await hand.type_name("Checkout")
        assert open_workflow(path).name == "Checkout"
        assert hand.window.sidebar.library.index_of(hand.row(diamond().name).key) is not None
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_copy_is_made_and_named(hand: LibraryHand, qt_loop: QtLoop) -> None:
    path = own(hand, "Draft")

    async def scenario() -> None:
        await hand.driver.start()
        await hand.press("Draft", Qt.Key.Key_D, CTRL)
        assert "Draft copy" in hand.names("workflow")
        await hand.type_name("Second draft")
        copy = hand.row("Second draft").path
        assert copy is not None
        assert open_workflow(copy).id != open_workflow(path).id
        await hand.driver.close()

    qt_loop.run(scenario())


def test_what_is_deleted_comes_back_with_one_press(hand: LibraryHand, qt_loop: QtLoop) -> None:
    path = own(hand, "Draft")
    data = path.read_bytes()

    async def scenario() -> None:
        await hand.driver.start()
        await hand.press("Draft", Qt.Key.Key_Delete)
        assert not path.exists()
        assert "Draft" not in hand.names("workflow")
        assert hand.window.toasts.texts() == ["“Draft” was deleted"]
        await hand.press_toast("Undo")
        assert path.read_bytes() == data
        assert "Draft" in hand.names("workflow")
        assert hand.window.toasts.texts() == []
        await hand.driver.close()

    qt_loop.run(scenario())


def test_the_open_workflow_can_be_deleted_and_is_opened_again_by_undo(
    hand: LibraryHand, qt_loop: QtLoop
) -> None:
    path = own(hand, "Draft")

    async def scenario() -> None:
        await hand.driver.start()
        await hand.click("Draft")
        await hand.press("Draft", Qt.Key.Key_Delete)
        assert hand.window.windowTitle().startswith("Planning")
        assert path not in [desk.document.path for desk in hand.window.desks.all]
        assert str(path) not in [str(file) for file, _ in hand.window.state.recent()]
        await hand.press_toast("Undo")
        assert hand.window.document.path == path
        assert hand.driver.can("run")
        await hand.driver.close()

    qt_loop.run(scenario())


def test_a_workflow_that_runs_is_not_deleted(hand: LibraryHand, qt_loop: QtLoop) -> None:
    path = own(hand, "Draft")

    async def scenario() -> None:
        await hand.driver.start()
        await hand.click("Draft")
        run = await hand.driver.run("go")
        node = run.workflow.nodes[0]
        run.tell(ev.NodeQueued(node.id, node.label), ev.NodeStarted(node.id, node.label))
        await until(lambda: hand.row("Draft").status == "running")
        await hand.press("Draft", Qt.Key.Key_Delete)
        assert path.exists()
        assert "stop it before" in hand.window.toasts.texts()[0]
        await hand.driver.close()

    qt_loop.run(scenario())


def test_examples_are_duplicated_and_never_changed(hand: LibraryHand, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await hand.driver.start()
        name = hand.names("example")[0]
        await hand.press(name, Qt.Key.Key_Delete)
        await hand.press(name, Qt.Key.Key_F2)
        assert hand.names("example")[0] == name
        assert "Delete" not in hand.offers(name)
        await hand.choose(name, "Duplicate")
        await hand.type_name("Mine")
        assert hand.names("workflow") == ["Mine"]
        await hand.driver.close()

    qt_loop.run(scenario())
