"""What is asked before runs are exported, imported or tidied up."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.kit.dialogs import finished

SUFFIX = ".openflow-run.zip"
_DAY_S = 86_400
_MEGABYTE = 2**20


async def choose_export(parent: QWidget, name: str) -> Path | None:
    """Ask where to write a run; `None` if the person thought better of it."""
    words = "".join(sign if sign.isalnum() or sign in " -_" else " " for sign in name)
    dialog = QFileDialog(parent, "Export Run")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setNameFilters([f"Exported runs (*{SUFFIX})", "All files (*)"])
    dialog.selectFile(f"{'-'.join(words.split())[:60] or 'run'}{SUFFIX}")
    path = await _chosen(dialog)
    return path if path is None or path.suffix == ".zip" else path.with_name(path.name + SUFFIX)


async def choose_import(parent: QWidget) -> Path | None:
    """Ask for a run that was exported; `None` if the person thought better of it."""
    dialog = QFileDialog(parent, "Import Run")
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.setNameFilters([f"Exported runs (*{SUFFIX})", "All files (*)"])
    return await _chosen(dialog)


async def _chosen(dialog: QFileDialog) -> Path | None:
    if await finished(dialog) != QDialog.DialogCode.Accepted.value:
        return None
    chosen = dialog.selectedFiles()
    return Path(chosen[0]) if chosen else None


class Tidying(NamedTuple):
    """Which runs to delete: those older than this, then those that take too much room."""

    older_than_s: float | None
    most_bytes: int | None


class TidyDialog(QDialog):
    """Asks which runs are too old or too much."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Tidy Up")
        title = QLabel("Delete old runs", self)
        title.setProperty("kind", "title")
        words = QLabel(
            "Only runs that have ended are deleted, the oldest first, with everything that belongs "
            "to them. Runs that wait for you or were cut off stay.",
            self,
        )
        words.setWordWrap(True)
        words.setProperty("kind", "second")
        self.by_age = QCheckBox("that have not changed for", self)
        self.days = self._number(1, 3650, 30, " days", "Days")
        self.by_size = QCheckBox("until all runs together take at most", self)
        self.megabytes = self._number(1, 1_000_000, 500, " MB", "Megabytes")
        self.buttons = QDialogButtonBox(self)
        self.tidy = self.buttons.addButton("Delete Runs", QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        self.by_age.setChecked(True)
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 18, 20, 16)
        box.setSpacing(10)
        box.addWidget(title)
        box.addWidget(words)
        for check, number in ((self.by_age, self.days), (self.by_size, self.megabytes)):
            line = QHBoxLayout()
            line.addWidget(check, 1)
            line.addWidget(number)
            box.addLayout(line)
            check.toggled.connect(self._update)
        box.addSpacing(4)
        box.addWidget(self.buttons)
        self.setMinimumWidth(420)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self._update()

    @property
    def wanted(self) -> Tidying:
        """What the person has chosen."""
        return Tidying(
            self.days.value() * _DAY_S if self.by_age.isChecked() else None,
            self.megabytes.value() * _MEGABYTE if self.by_size.isChecked() else None,
        )

    def _number(self, least: int, most: int, value: int, unit: str, name: str) -> QSpinBox:
        number = QSpinBox(self)
        number.setRange(least, most)
        number.setValue(value)
        number.setSuffix(unit)
        number.setAccessibleName(name)
        return number

    def _update(self) -> None:
        self.days.setEnabled(self.by_age.isChecked())
        self.megabytes.setEnabled(self.by_size.isChecked())
        self.tidy.setEnabled(self.by_age.isChecked() or self.by_size.isChecked())


async def ask_for_tidying(parent: QWidget) -> Tidying | None:
    """Ask which runs to delete; `None` if the person thought better of it."""
    dialog = TidyDialog(parent)
    wanted = await finished(dialog) == QDialog.DialogCode.Accepted.value
    return dialog.wanted if wanted else None
