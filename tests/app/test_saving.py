"""Saving as a person sees it: nothing is lost, nothing of others is overwritten unasked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMessageBox, QPushButton

from app.canvas import commands
from app.canvas.document import WorkflowDocument
from engine.graph.serialization import load_workflow
from orchestration.workflow_catalog import examples
from orchestration.workflow_swaps import Swap, SwapStore, swap_key
from tests.support.qt_loop import QtLoop, turns, until
from tests.support.window_driver import WindowDriver


class Desk:
    """A driver with what these tests look at."""

    def __init__(self, driver: WindowDriver) -> None:
        self.driver = driver
        self.window = driver.window

    @property
    def document(self) -> WorkflowDocument:
        return self.window.document

    async def start(self) -> None:
        await self.driver.start()
        self.swaps = SwapStore(self.driver.backend.data_dir / "swaps")

    @property
    def path(self) -> Path:
        assert self.document.path is not None
        return self.document.path

    def state(self) -> str:
        return self.window.top_bar.save_state.text()

    def labels(self) -> list[str]:
        return [card.label for card in self.document.graph.cards]

    def saved_labels(self) -> list[str]:
        return [node.label for node in load_workflow(self.path.read_bytes()).nodes]

    def rename(self, label: str) -> None:
        commands.rename(self.document, self.document.graph.cards[0].id, label)

    def swap(self) -> Swap | None:
        return self.swaps.find(swap_key(self.path))

    def trigger(self, action_id: str) -> None:
        self.window.actions_[action_id].trigger()

    async def box(self) -> QMessageBox:
        """The question that is asked now."""
        await until(lambda: self.window.findChildren(QMessageBox), "nothing was asked")
        return self.window.findChildren(QMessageBox)[-1]

    async def press(self, text: str) -> str:
        """Answer the question; gives what it said."""
        box = await self.box()
        told = f"{box.text()}\n{box.informativeText()}"
        button = next(b for b in box.findChildren(QPushButton) if b.text() == text)
        button.click()
        await until(lambda: not box.isVisible())
        await self.driver.settle()
        await turns(4)
        return told


@pytest.fixture
def desk(driver: WindowDriver) -> Desk:
    return Desk(driver)


def test_an_edit_is_kept_beside_the_file_until_it_is_saved(desk: Desk, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await desk.start()
        assert desk.state() == "Saved"
        before = desk.path.read_text("utf-8")

        desk.rename("First")
        assert desk.state() == "Edited"
        await desk.driver.settle()
        swap = desk.swap()
        assert swap is not None
        assert load_workflow(swap.text).nodes[0].label == "First"
        assert desk.path.read_text("utf-8") == before

        desk.trigger("save")
        await desk.driver.settle()
        assert (desk.state(), desk.swap()) == ("Saved", None)
        assert desk.saved_labels()[0] == "First"
        lines = zip(before.splitlines(), desk.path.read_text("utf-8").splitlines(), strict=True)
        assert sum(old != new for old, new in lines) == 1

        desk.trigger("undo")
        assert desk.state() == "Edited"
        desk.trigger("redo")
        await desk.driver.settle()
        assert (desk.state(), desk.swap()) == ("Saved", None)
        await desk.driver.close()

    qt_loop.run(scenario())


def test_edits_of_a_killed_program_are_offered_and_can_be_undone(
    desk: Desk, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        file = desk.path
        text = file.read_text("utf-8").replace("Clarify idea", "Recovered idea")
        store = SwapStore(desk.driver.backend.data_dir / "swaps")
        store.keep(swap_key(file), Swap(str(file), "another", text, 1_700_000_000.0))
        desk.swaps = store
        desk.window.furnish()
        await _begin(desk)
        told = await desk.press("Recover")
        assert "“Clarify idea” → “Recovered idea”" in told
        assert "The file was changed since then." in told
        assert desk.labels()[0] == "Recovered idea"
        assert desk.state() == "Edited"
        desk.trigger("undo")
        assert desk.labels()[0] == "Clarify idea"
        await desk.driver.settle()
        assert desk.swap() is None
        await desk.driver.close()

    qt_loop.run(scenario())


async def _begin(desk: Desk) -> None:
    desk.driver.take_up()


def test_edits_that_are_not_wanted_are_forgotten(desk: Desk, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        text = desk.path.read_text("utf-8").replace("Clarify idea", "Other")
        store = SwapStore(desk.driver.backend.data_dir / "swaps")
        store.keep(swap_key(desk.path), Swap(str(desk.path), "", text, 1.0))
        desk.window.furnish()
        await _begin(desk)
        await desk.press("Discard")
        assert desk.labels()[0] == "Clarify idea"
        assert store.keys() == ()
        await desk.driver.close()

    qt_loop.run(scenario())


def test_a_file_that_others_change_is_read_again(desk: Desk, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await desk.start()
        text = desk.path.read_text("utf-8").replace("Clarify idea", "Theirs")
        desk.path.write_text(text, "utf-8")
        await until(lambda: desk.labels()[0] == "Theirs")
        await desk.driver.settle()
        assert "read again" in desk.window.toasts.texts()[0]
        assert desk.state() == "Saved"
        await desk.driver.close()

    qt_loop.run(scenario())


@pytest.mark.parametrize(
    ("answer", "in_file", "on_screen"),
    [
        ("Overwrite", "Mine", "Mine"),
        ("Read from Disk", "Theirs", "Theirs"),
        ("Cancel", "Theirs", "Mine"),
    ],
)
def test_what_others_have_changed_is_not_overwritten_unasked(
    desk: Desk, qt_loop: QtLoop, answer: str, in_file: str, on_screen: str
) -> None:
    async def scenario() -> None:
        await desk.start()
        desk.rename("Mine")
        await desk.driver.settle()
        text = desk.path.read_text("utf-8").replace("Clarify idea", "Theirs")
        desk.path.write_text(text, "utf-8")
        await until(lambda: desk.state() == "Changed on disk")
        assert "Your edits are kept" in desk.window.toasts.texts()[0]

        desk.trigger("save")
        told = await desk.press(answer)
        assert "“Theirs” → “Mine”" in told
        assert desk.saved_labels()[0] == in_file
        assert desk.labels()[0] == on_screen
        desk.document.undo_stack.setClean()
        await desk.driver.close()

    qt_loop.run(scenario())


def test_an_example_is_saved_as_a_copy_with_an_id_of_its_own(
    qapp: QApplication, qt_loop: QtLoop, tmp_path: Path
) -> None:
    example = examples()[0].path
    before = example.read_bytes()
    desk = Desk(WindowDriver(example))

    async def scenario() -> None:
        await desk.start()
        assert desk.state() == "Example"
        desk.rename("Mine")
        desk.trigger("save")
        await until(lambda: desk.window.findChildren(QFileDialog))
        dialog = desk.window.findChildren(QFileDialog)[0]
        target = tmp_path / "copy.workflow.json"
        dialog.findChildren(QLineEdit)[0].setText(str(target))
        dialog.accept()
        await until(lambda: desk.path == target)
        await desk.driver.settle()
        assert desk.state() == "Saved"
        assert json.loads(target.read_bytes())["id"] != json.loads(before)["id"]
        assert desk.saved_labels()[0] == "Mine"
        assert example.read_bytes() == before
        assert "copy.workflow.json" in desk.window.windowTitle()
        assert desk.driver.can("run")
        await desk.driver.close()

    qt_loop.run(scenario())
    desk.driver.dispose()


@pytest.mark.parametrize(
    ("answer", "leaves", "in_file"),
    [
        ("Save", True, "Mine"),
        ("Don't Save", True, "Clarify idea"),
        ("Cancel", False, "Clarify idea"),
    ],
)
def test_a_tab_is_closed_only_when_edits_are_settled(
    desk: Desk, qt_loop: QtLoop, answer: str, leaves: bool, in_file: str
) -> None:
    file = desk.path

    async def scenario() -> None:
        await desk.start()
        desk.rename("Mine")
        desk.trigger("close_tab")
        told = await desk.press(answer)
        assert told.startswith("Save “")
        assert (desk.document.path is None) is leaves
        assert load_workflow(file.read_bytes()).nodes[0].label == in_file
        desk.document.undo_stack.setClean()
        await desk.driver.close()

    qt_loop.run(scenario())


def test_reverting_asks_and_reads_the_file_again(desk: Desk, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await desk.start()
        desk.rename("Mine")
        desk.trigger("revert")
        told = await desk.press("Revert")
        assert "This can't be undone" in told
        assert (desk.labels()[0], desk.state()) == ("Clarify idea", "Saved")
        assert not desk.document.undo_stack.canUndo()
        assert desk.swap() is None
        await desk.driver.close()

    qt_loop.run(scenario())


def test_a_new_workflow_is_a_file_at_once(desk: Desk, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await desk.start()
        desk.trigger("new")
        await until(lambda: desk.labels() == ["Idea"])
        await desk.driver.settle()
        assert desk.path.is_file()
        assert desk.state() == "Saved"
        desk.trigger("new")
        await until(lambda: desk.document.graph.name == "Untitled 2")
        await desk.driver.close()

    qt_loop.run(scenario())


def test_a_file_that_cannot_be_written_is_told_and_the_edits_stay(
    desk: Desk, qt_loop: QtLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    async def scenario() -> None:
        await desk.start()
        desk.rename("Mine")
        await desk.driver.settle()
        monkeypatch.setattr("orchestration.workflow_catalog.write_atomically", fail)
        desk.trigger("save")
        await desk.driver.settle()
        assert "No space left on device" in desk.window.toasts.texts()[0]
        assert (desk.labels()[0], desk.state()) == ("Mine", "Edited")
        assert desk.swap() is not None
        desk.document.undo_stack.setClean()
        await desk.driver.close()

    qt_loop.run(scenario())


def test_edits_are_judged_as_they_are_made(desk: Desk, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await desk.start()
        for wire in list(desk.document.graph.wires):
            commands.delete(desk.document, edges=[wire.id])
        assert desk.driver.can("run")
        desk.driver.backend.ready[None] = desk.driver.backend.ready[None].__class__(
            False, "no provider is ready", None
        )
        desk.rename("Mine")
        await until(lambda: not desk.driver.can("run"))
        assert "No provider is ready" in desk.window.top_bar.chip.text
        desk.document.undo_stack.setClean()
        await desk.driver.close()

    qt_loop.run(scenario())
