"""One tool call that waits for a decision: the whole call, Allow, and Deny with a reason."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QFontMetricsF
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from app.chat.cards import Card
from app.chat.intents import ChatIntents
from app.chat.rows import Row
from app.chat.tool_words import call_text, tool_name
from app.theme.theme import Theme

_MOST_LINES = 16
_LINE_LENGTH = 96


class ApprovalCard(Card):
    """The row's payload is the pending approval."""

    def __init__(self, row: Row, intents: ChatIntents, theme: Theme, parent: QWidget) -> None:
        request = row.payload
        name = tool_name(request.tool_call.name)
        title = f"{row.label} wants to use {name}"
        super().__init__("waiting-card", "exclamation", "waiting", title, theme, parent)
        self._approval_id = request.approval_id
        self._intents = intents
        self.add_text(_what_it_can_do(request)).setProperty("kind", "second")
        self.call = self._call_view(call_text(request.tool_call.arguments))
        self.call.setAccessibleName(f"Arguments of {name}")
        self.body.addWidget(self.call)
        self.allow = self.button("Allow", primary=True)
        self.allow.setAccessibleName(f"Allow {name}")
        self.allow.clicked.connect(self._allow)
        self.deny = self.button("Deny")
        self.deny.setAccessibleName(f"Deny {name}")
        self.deny.clicked.connect(self._deny)
        self.reason = QLineEdit(self)
        self.reason.setPlaceholderText("Reason for a denial (optional, the model sees it)")
        self.reason.setAccessibleName("Reason for a denial")
        self.reason.setClearButtonEnabled(True)
        line = self.add_buttons(self.allow, self.deny)
        line.insertWidget(2, self.reason, 1)
        line.setStretch(3, 0)
        intents.refused.connect(self._unlock)

    def _call_view(self, text: str) -> QPlainTextEdit:
        view = QPlainTextEdit(self)
        view.setProperty("kind", "code")
        view.setReadOnly(True)
        view.setTabChangesFocus(True)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(12)
        view.setFont(font)
        view.setPlainText(text)
        lines = sum(1 + len(line) // _LINE_LENGTH for line in text.split("\n"))
        if lines <= _MOST_LINES:
            view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        height = QFontMetricsF(font).lineSpacing() * min(lines, _MOST_LINES)
        view.setFixedHeight(round(height) + 24)
        return view

    def _allow(self) -> None:
        self.setEnabled(False)
        self._intents.decided.emit(self._approval_id, True, "")

    def _deny(self) -> None:
        self.setEnabled(False)
        self._intents.decided.emit(self._approval_id, False, self.reason.text().strip())

    def _unlock(self) -> None:
        self.setEnabled(True)


def _what_it_can_do(request: object) -> str:
    tier = str(getattr(request, "tier", "write"))
    words = "This call only reads." if tier == "read" else "This call can change things."
    path = tuple(getattr(request, "path", ()))
    if len(path) > 1:
        words += " Asked by " + " → ".join(path) + "."
    reason = str(getattr(request, "reason", ""))
    return f"{words} {reason}".strip()
