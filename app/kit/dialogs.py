"""Dialogs that are awaited. None of them runs a loop of its own: other tasks go on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QDialog, QFileDialog, QMessageBox, QWidget


async def finished(dialog: QDialog) -> int:
    """Open a dialog and wait for its result; it is closed if the waiting is cancelled."""
    done: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def settle(result: int) -> None:
        if not done.done():
            done.set_result(result)

    dialog.finished.connect(settle)
    dialog.open()
    try:
        return await done
    finally:
        dialog.finished.disconnect(settle)
        dialog.close()
        dialog.deleteLater()


WORKFLOWS = ("Workflows (*.workflow.json *.json)", "All files (*)")


async def choose_file(
    parent: QWidget, title: str, folder: Path | None, kinds: Sequence[str] = WORKFLOWS
) -> Path | None:
    """Ask for a file, of a workflow unless told; `None` if the person thought better of it."""
    dialog = QFileDialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.setNameFilters(list(kinds))
    if folder is not None:
        dialog.setDirectory(str(folder))
    if await finished(dialog) != QDialog.DialogCode.Accepted.value:
        return None
    chosen = dialog.selectedFiles()
    return Path(chosen[0]) if chosen else None


async def choose_folder(parent: QWidget, title: str, folder: Path | None) -> Path | None:
    """Ask for a folder that is there; `None` if the person thought better of it."""
    dialog = QFileDialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
    if folder is not None:
        dialog.setDirectory(str(folder))
    if await finished(dialog) != QDialog.DialogCode.Accepted.value:
        return None
    chosen = dialog.selectedFiles()
    return Path(chosen[0]) if chosen else None


NEW_WORKFLOWS = ("Workflows (*.workflow.json)", "All files (*)")


async def choose_new_file(
    parent: QWidget, title: str, suggested: Path, kinds: Sequence[str] = NEW_WORKFLOWS
) -> Path | None:
    """Ask where to save a file, of a workflow unless told; `None` for nowhere."""
    dialog = QFileDialog(parent, title, str(suggested.parent))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setNameFilters(list(kinds))
    dialog.selectFile(suggested.name)
    if await finished(dialog) != QDialog.DialogCode.Accepted.value:
        return None
    chosen = dialog.selectedFiles()
    if not chosen:
        return None
    path = Path(chosen[0])
    if kinds is not NEW_WORKFLOWS:
        return path
    return path if path.suffix == ".json" else path.with_name(f"{path.name}.workflow.json")


async def choose(parent: QWidget, title: str, text: str, answers: Sequence[str]) -> str:
    """Ask for one of several answers, the first being what Enter means; empty for none of them."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(title)
    box.setText(title)
    box.setInformativeText(text)
    buttons = {
        box.addButton(
            answer,
            QMessageBox.ButtonRole.DestructiveRole if index else QMessageBox.ButtonRole.AcceptRole,
        ): answer
        for index, answer in enumerate(answers)
    }
    box.setDefaultButton(next(iter(buttons)))
    box.setEscapeButton(box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole))
    await finished(box)
    clicked = box.clickedButton()
    return next((answer for button, answer in buttons.items() if button is clicked), "")


async def confirm(parent: QWidget, title: str, text: str, yes: str, no: str = "Cancel") -> bool:
    """Ask before something that cannot be taken back."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(title)
    box.setText(title)
    box.setInformativeText(text)
    accept = box.addButton(yes, QMessageBox.ButtonRole.AcceptRole)
    box.addButton(no, QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(accept)
    await finished(box)
    return box.clickedButton() is accept
