"""A window beside the main one that tells what is different between two workflows."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QTextBrowser, QVBoxLayout

from app.kit.formats import plural
from app.main_window import MainWindow
from app.theme.tokens import Tokens

if TYPE_CHECKING:
    from engine.graph.difference import Difference
    from engine.graph.workflow import Workflow

_WAIT_MS = 200
_WORDS = {"added": "Added", "removed": "Removed", "changed": "Changed"}
_COLORS = {"added": "done", "removed": "failed", "changed": "running"}


class DiffView(QDialog):
    """Compares the open workflow with another one; it follows what is edited meanwhile."""

    def __init__(self, window: MainWindow, other: Workflow, name: str) -> None:
        """Show what the open workflow has that `other`, called `name`, has not."""
        super().__init__(window)
        self._window = window
        self._document = window.document
        self._other = other
        self._name = name
        self.setModal(False)
        self.setWindowTitle(f"Compare with {name}")
        self.resize(640, 520)
        self.heading = QLabel(self)
        self.heading.setProperty("kind", "title")
        self.heading.setWordWrap(True)
        self.heading.setTextFormat(Qt.TextFormat.PlainText)
        self.told = QTextBrowser(self)
        self.told.setAccessibleName("Differences")
        self.told.setOpenLinks(False)
        close = QPushButton("Close", self)
        close.clicked.connect(self.close)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(close)
        box = QVBoxLayout(self)
        box.setContentsMargins(18, 16, 18, 14)
        box.setSpacing(10)
        box.addWidget(self.heading)
        box.addWidget(self.told, 1)
        box.addLayout(row)
        self._due = QTimer(self)
        self._due.setSingleShot(True)
        self._due.setInterval(_WAIT_MS)
        self._due.timeout.connect(self.compare)
        self._document.edited.connect(self._compare_soon)
        self._document.replaced.connect(self.close)
        window.theme.changed.connect(self.compare)
        self.finished.connect(self._end)
        self.compare()

    def compare(self) -> None:
        """Say what is different now."""
        from engine.graph.difference import differences

        workflow = self._document.workflow
        if workflow is None:
            return
        found = differences(self._other, workflow)
        mine = self._document.graph.name or "The open workflow"
        count = plural(len(found), "difference")
        self.heading.setText(f"{mine}, compared with {self._name}: {count}")
        tokens = self._window.theme.tokens
        if found:
            self.told.setHtml("".join(_as_html(each, tokens) for each in found))
        else:
            words = "Nothing is different. Where things are on the canvas does not count."
            self.told.setHtml(f'<p style="color:{tokens.text_second}">{words}</p>')

    def _compare_soon(self) -> None:
        self._due.start()

    def _end(self) -> None:
        self._due.stop()
        self.deleteLater()


def _as_html(difference: Difference, tokens: Tokens) -> str:
    shade = _mixed(tokens, _COLORS[difference.kind], 0.16)
    kind = _WORDS[difference.kind]
    parts = [
        '<p style="margin:10px 0 3px 0">'
        f'<span style="background-color:{shade};font-size:11px">&nbsp;{kind}&nbsp;</span>'
        f"&nbsp; {escape(difference.sentence)}</p>"
    ]
    lines = difference.lines()
    if lines:
        rows = "".join(_line(line, tokens) for line in lines)
        parts.append(
            f'<table width="100%" cellspacing="0" cellpadding="1" '
            f'style="font-family:monospace;font-size:12px">{rows}</table>'
        )
    return "".join(parts)


def _line(line: str, tokens: Tokens) -> str:
    color = {"+": _mixed(tokens, "done", 0.16), "-": _mixed(tokens, "failed", 0.16)}.get(line[:1])
    ground = f' style="background-color:{color}"' if color else ""
    return f'<tr><td{ground} style="white-space:pre-wrap">{escape(line) or "&nbsp;"}</td></tr>'


def _mixed(tokens: Tokens, name: str, share: float) -> str:
    """A colour on the ground of dialogs; rich text knows no transparency."""
    over, under = tokens.color(name), tokens.color("raised")
    mixed = QColor(
        *(
            round(a * share + b * (1 - share))
            for a, b in zip(over.getRgb()[:3], under.getRgb()[:3], strict=True)  # type: ignore[index]
        )
    )
    return mixed.name()
