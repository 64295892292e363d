"""Asks where a report of a run goes, and as which kind of file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QDialog, QFileDialog, QWidget

from app.kit.dialogs import finished

_FILTERS = {"HTML page (*.html)": ".html", "Markdown (*.md)": ".md"}


async def choose_report(parent: QWidget, name: str) -> Path | None:
    """Ask; `None` if the person thought better of it. The ending says what kind it is."""
    words = "".join(sign if sign.isalnum() or sign in " -_" else " " for sign in name)
    dialog = QFileDialog(parent, "Save Report")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setNameFilters(list(_FILTERS))
    dialog.selectFile(f"{'-'.join(words.split())[:60] or 'run'}-report.html")
    if await finished(dialog) != QDialog.DialogCode.Accepted.value:
        return None
    chosen = dialog.selectedFiles()
    if not chosen:
        return None
    path = Path(chosen[0])
    if path.suffix.lower() in (".html", ".htm", ".md"):
        return path
    return path.with_name(path.name + _FILTERS.get(dialog.selectedNameFilter(), ".html"))
