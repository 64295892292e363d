"""The log for finding out what went wrong, and the versions of everything."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QWidget

from app.kit.dialogs import choose_new_file
from app.settings.access import Access
from app.settings.fields import ChoiceRow, LineRow, as_count
from app.settings.page import ListedPage
from app.settings.rows import Row
from orchestration.errors import UserError

LEVELS = (
    ("off", "Off"),
    ("warnings", "Warnings and errors"),
    ("info", "What happens"),
    ("debug", "Everything, requests too"),
)


class DiagnosticsPage(ListedPage):
    """Nothing is written unless it is wanted."""

    id = "diagnostics"

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        group = self.group(
            "Debug log",
            "A file on this computer that nobody else can read. Keys and passwords are masked "
            "before anything is written. With everything on, it holds what is sent to models.",
        )
        self.level = ChoiceRow(
            access, ("diagnostics", "log"), "What is written", "Counts at once.", choices=LEVELS
        )
        self.put(group, "log", self.level)
        self.put(
            group,
            "log_megabytes",
            LineRow(
                access,
                ("diagnostics", "log_megabytes"),
                "Size limit",
                "The oldest half goes when it is reached.",
                parse=as_count,
                unit="MB",
            ),
        )
        self._build_file()
        self.put(group, "log_file", self.file_row)
        told = self.group("Versions")
        row = Row(access.theme, "", wide=True)
        self._table = QWidget(row)
        self._grid = QGridLayout(self._table)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(5)
        self._grid.setColumnStretch(1, 1)
        copy = QPushButton("Copy", row)
        copy.clicked.connect(self._copy_versions)
        self._versions: tuple[tuple[str, str], ...] = ()
        row.control_box.addWidget(self._table, 1)
        row.adopt(copy, name="Copy the versions")
        row.control_box.setAlignment(copy, Qt.AlignmentFlag.AlignTop)
        self.put(told, "versions", row)
        self.box.addStretch(1)

    def opened(self) -> None:
        """Look up versions and the size of the log."""
        self.access.work(self._look(), "look up versions", self.file_row.say_wrong)

    def _build_file(self) -> None:
        self.file_row = Row(self.access.theme, "The log", "")
        for words, name, press in (
            ("Open", "Open the folder of the log", self._open),
            ("Copy", "Copy the end of the log", self._copy),
            ("Export…", "Export the log", self._export),
            ("Clear", "Delete the log", self._clear),
        ):
            button = QPushButton(words, self.file_row)
            button.setToolTip(name)
            button.clicked.connect(press)
            self.file_row.adopt(button, name=name)
        self.file_row.right.setMaximumWidth(400)

    async def _look(self) -> None:
        from app.settings.data_page import size_text

        use = await self.access.backend.data_use()
        self._file = use.log_file
        self.file_row.set_note(
            f"{size_text(use.log_bytes)} in {use.log_file.parent}" if use.log_bytes else "Empty."
        )
        versions = await self.access.backend.versions()
        if versions != self._versions:
            self._versions = versions
            for row, (name, version) in enumerate(versions):
                label, value = QLabel(name, self._table), QLabel(version, self._table)
                label.setProperty("kind", "second")
                value.setWordWrap(True)
                self._grid.addWidget(label, row, 0)
                self._grid.addWidget(value, row, 1)

    def _open(self) -> None:
        folder = self.access.backend.data_dir / "logs"
        if not folder.is_dir():
            self.file_row.say_wrong("There is no log yet: choose above what is written")
        elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self.file_row.say_wrong(f"Nothing here can open folders: it is {folder}")

    def _copy(self) -> None:
        self.access.work(self._copied(), "copy the log", self.file_row.say_wrong)

    async def _copied(self) -> None:
        QGuiApplication.clipboard().setText(await self._text())
        self.file_row.set_note("Copied.")

    def _export(self) -> None:
        self.access.work(self._exported(), "export the log", self.file_row.say_wrong)

    async def _exported(self) -> None:
        text = await self._text()
        suggested = Path.home() / "openflow-log.jsonl"
        file = await choose_new_file(
            self.access.window, "Export Log", suggested, ["Logs (*.jsonl)", "All files (*)"]
        )
        if file is not None:
            await asyncio.to_thread(_write, file, text)
            self.file_row.set_note(f"Written to {file}.")

    def _clear(self) -> None:
        self.access.work(self._cleared(), "delete the log", self.file_row.say_wrong)

    async def _cleared(self) -> None:
        await self.access.backend.clear_log()
        await self._look()

    async def _text(self) -> str:
        text = await self.access.backend.log_text()
        if not text:
            raise UserError("the log is empty: choose above what is written")
        return text

    def _copy_versions(self) -> None:
        lines = [f"{name} {version}" for name, version in self._versions]
        QGuiApplication.clipboard().setText("\n".join(lines))


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file} cannot be written ({error.strerror or error})") from error
