"""Where a person writes: it starts a run, answers a node, or goes along with a retry."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QEvent, QMimeData, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFocusEvent, QKeyEvent, QTextCursor, QTextOption
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.chat.completion import Completion, reference
from app.theme.status_mark import StatusMark
from app.theme.theme import Theme

_MOST_LINES = 10
_MOST_SENT = 100
_NO_PICTURES = (
    "A picture cannot be sent by itself: messages carry text. Save it as a file where the run "
    "works and name it with @, for tools that can read pictures."
)


class Address(NamedTuple):
    """What will become of the text.

    `kind` is `start` (a run), `answer`, `message`, `retry` (with the text) or `none`; `line` says
    it in words; `others` are further nodes that wait, as pairs of id and label. `verb` is what the
    button is called where that is not what `kind` says.
    """

    kind: str
    node_id: str = ""
    line: str = ""
    placeholder: str = ""
    others: tuple[tuple[str, str], ...] = ()
    allows_empty: bool = False
    verb: str = ""


NOWHERE = Address("none")


class Composer(QFrame):
    """A field that grows with its text.

    Signals:
        sent: The address and the text; the field keeps the text until `clear` is called.
        refused: What was pasted cannot be sent; says why and what can be done.
        other_chosen: The person wants to answer this node instead.
    """

    sent = Signal(object, str)
    refused = Signal(str)
    other_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.address = NOWHERE
        self.setProperty("kind", "composer")
        self.mark = StatusMark(theme, "question", "waiting", 13, self)
        self.line = QLabel(self)
        self.line.setProperty("kind", "small")
        self.line.setTextFormat(Qt.TextFormat.PlainText)
        self.other = QPushButton("Answer another", self)
        self.other.setProperty("kind", "chip")
        self.other.clicked.connect(self._choose_other)
        self._menu = QMenu(self)
        self.field = _Field(self)
        self.field.setAccessibleName("Message")
        self.field.entered.connect(self.send)
        self.field.textChanged.connect(self._update)
        self.field.focused.connect(self._show_focus)
        self.field.refused.connect(self.refused)
        self.completion = Completion(self.field)
        self.button = QPushButton(self)
        self.button.setProperty("kind", "send")
        self.button.setIconSize(QSize(16, 16))
        self.button.clicked.connect(self.send)
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(self.mark)
        head.addWidget(self.line, 1)
        head.addWidget(self.other)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.field, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignBottom)
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 8, 8, 8)
        box.setSpacing(2)
        box.addLayout(head)
        box.addLayout(row)
        theme.changed.connect(self._dress)
        self._dress()
        self.show_address(NOWHERE)

    @property
    def text(self) -> str:
        """What is written, without blanks around it."""
        return self.field.toPlainText().strip()

    def clear(self) -> None:
        """Empty the field."""
        self.field.clear()

    def show_address(self, address: Address) -> None:
        """Say what will become of the text; what is written and the focus stay as they are."""
        self.address = address
        waits = address.kind == "answer"
        self.mark.setVisible(bool(address.line) and address.kind in ("answer", "retry"))
        self.mark.show_mark("question" if waits else "cross", "waiting" if waits else "failed")
        self.line.setText(address.line)
        self.line.setVisible(bool(address.line))
        self.other.setVisible(bool(address.others))
        self.field.setPlaceholderText(address.placeholder)
        # Qt paints the text anew only when it appears or goes.
        self.field.viewport().update()
        self.field.setAccessibleDescription(address.line or address.placeholder)
        by_kind = {"start": "Run", "retry": "Retry", "answer": "Answer"}
        words = address.verb or by_kind.get(address.kind, "Send")
        self.button.setAccessibleName(words)
        self.button.setToolTip(f"{words} (Enter)")
        self._update()

    def send(self) -> None:
        """Hand the text on, if it can go anywhere."""
        if self.button.isEnabled():
            self.field.remember(self.text)
            self.sent.emit(self.address, self.text)

    def show_folder(self, folder: Path | None) -> None:
        """Files in this folder are named from there on."""
        self.field.folder = folder

    def _update(self) -> None:
        can_send = self.address.kind != "none" and (self.address.allows_empty or bool(self.text))
        self.button.setEnabled(can_send)

    def _choose_other(self) -> None:
        self._menu.clear()
        for node_id, label in self.address.others:
            action = QAction(label, self._menu)
            action.setData(node_id)
            action.triggered.connect(self._other_triggered)
            self._menu.addAction(action)
        self._menu.popup(self.other.mapToGlobal(QPoint(0, self.other.height() + 2)))

    def _other_triggered(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.other_chosen.emit(str(action.data()))

    def _show_focus(self, has_focus: bool) -> None:
        self.setProperty("focused", "true" if has_focus else "false")
        self.style().unpolish(self)
        self.style().polish(self)

    def _dress(self) -> None:
        self.button.setIcon(self._theme.icons.icon("send", "on_accent"))


class _Field(QPlainTextEdit):
    """Enter sends, Shift+Enter breaks the line; as high as its text, up to ten lines.

    Up in an empty field brings back what was sent before. Files that are pasted or dropped become
    references.
    """

    entered = Signal()
    refused = Signal(str)
    focused = Signal(bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.folder: Path | None = None
        self._sent: list[str] = []
        self._recalled = 0
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(2)
        self.document().documentLayout().documentSizeChanged.connect(self._grow)
        self._grow()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._grow()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                event.ignore()
            else:
                self.entered.emit()
            return
        by = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()), 0)
        if by and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier and self._recall(by):
            return
        super().keyPressEvent(event)

    def remember(self, text: str) -> None:
        """Keep what is sent, to be brought back."""
        self._recalled = 0
        if text and text not in self._sent[-1:]:
            self._sent = [*self._sent[1 - _MOST_SENT :], text]

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Texts and files; of a picture is told why not."""
        known = bool(_files_in(source)) or source.hasImage()
        return known or bool(super().canInsertFromMimeData(source))

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Files become references; anything else is text."""
        files = _files_in(source)
        if not files and source.hasImage() and not source.hasText():
            self.refused.emit(_NO_PICTURES)
            return
        if not files:
            super().insertFromMimeData(source)
            return
        names = [reference(f"@{self._named(file)}") for file in files]
        before = self.toPlainText()[: self.textCursor().position()]
        blank = " " if before and not before[-1].isspace() else ""
        self.textCursor().insertText(f"{blank}{' '.join(names)} ")

    def _named(self, file: Path) -> str:
        if self.folder is not None and file.is_relative_to(self.folder):
            return file.relative_to(self.folder).as_posix()
        return file.as_posix()

    def _recall(self, by: int) -> bool:
        """Show what was sent before or after; only from an empty field or such a text."""
        shown = self._sent[-self._recalled] if self._recalled else ""
        wanted = self._recalled + by
        if self.toPlainText() != shown or not 0 <= wanted <= len(self._sent):
            return False
        self._recalled = wanted
        self.setPlainText(self._sent[-wanted] if wanted else "")
        self.moveCursor(QTextCursor.MoveOperation.End)
        return True

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focused.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focused.emit(False)

    def _grow(self) -> None:
        lines = max(1, round(self.document().size().height()))
        many = lines > _MOST_LINES
        policy = (
            Qt.ScrollBarPolicy.ScrollBarAsNeeded if many else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self.setVerticalScrollBarPolicy(policy)
        height = self.fontMetrics().lineSpacing() * min(lines, _MOST_LINES) + 10
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)


def _files_in(source: QMimeData) -> list[Path]:
    return [Path(url.toLocalFile()) for url in source.urls() if url.isLocalFile()]
