"""Fields for longer texts: prompts and templates, and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontDatabase, QKeyEvent, QResizeEvent, QTextCursor, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from app.inspector.controls import leaves_to_window
from app.inspector.field import MIXED, Field
from app.inspector.markdown_colors import MarkdownColors
from app.inspector.offers import Skill
from app.inspector.skill_completion import SkillCompletion
from app.theme.theme import Theme
from app.theme.tokens import TEXT_SMALL

_ROOM = 18
"""Border and padding above and below the text, in pixels."""


class TextEditor(QPlainTextEdit):
    """Wrapped lines, as high as the text asks for, within bounds. Tab goes to the next field."""

    def __init__(self, least: int, most: int, parent: QWidget | None = None) -> None:
        """`least` and `most` are in lines."""
        super().__init__(parent)
        self._least, self._most = least, most
        self.setProperty("kind", "field")
        self.setTabChangesFocus(True)
        self.setUndoRedoEnabled(False)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def sizeHint(self) -> QSize:
        """Room for the text."""
        return QSize(200, self._wanted_height())

    def event(self, event: QEvent) -> bool:
        """Leave undo and redo to the window."""
        if leaves_to_window(event):
            event.ignore()
            return False
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape is for whoever holds the form."""
        if event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lines wrap elsewhere now."""
        super().resizeEvent(event)
        self._fit()

    def text(self) -> str:
        """What is written; unlike Qt's own reading it keeps blanks that do not break."""
        return self.document().toRawText().replace("\u2029", "\n")

    def show_text(self, text: str) -> None:
        """Show another text and keep the cursor about where it is."""
        at = self.textCursor().position()
        self.setPlainText(text)
        cursor = self.textCursor()
        cursor.setPosition(min(at, len(self.text())))
        self.setTextCursor(cursor)

    def _wanted_height(self) -> int:
        # The layout of plain texts counts in lines, which need not be of one height.
        needed, block = 0.0, self.document().begin()
        line = self.fontMetrics().lineSpacing()
        while block.isValid() and needed < self._most * line:
            needed += self.blockBoundingRect(block).height()
            block = block.next()
        return round(max(self._least * line, min(self._most * line, needed))) + _ROOM

    def _fit(self, *_: object) -> None:
        height = self._wanted_height()
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)


class ProseField(Field):
    """A text in Markdown. What is stored is what is typed, blanks and all."""

    typing = "text"

    def __init__(
        self,
        theme: Theme,
        caption: str,
        parent: QWidget | None = None,
        *,
        least: int = 3,
        most: int = 16,
    ) -> None:
        super().__init__(theme, caption, parent)
        self.control = TextEditor(least, most, self)
        self.colors = MarkdownColors(self.control.document(), theme)
        self.skills = SkillCompletion(self.control)
        self._text = ""
        self.adopt(self.control)
        self.box.addWidget(self.control)
        self.control.textChanged.connect(self._read)
        self.finish()

    def set_skills(self, skills: Sequence[Skill]) -> None:
        """Offer and colour these skills."""
        self.skills.set_skills(skills)
        self.colors.set_skills([skill.id for skill in skills])

    def show_value(self, value: Any) -> None:
        """Show the text."""
        self._text = "" if value is MIXED or value is None else str(value)
        self.control.show_text(self._text)
        self._text = self._now()

    def _read(self) -> None:
        # Colours count as a change of the text as well.
        if self.control.hasFocus() and self._now() != self._text:
            self._text = self._now()
            self.enter(self._text)

    def _now(self) -> str:
        """What the editor has, with the line ends that the stored text has."""
        text = self.control.text()
        is_dos = isinstance(self._shown, str) and "\r\n" in self._shown
        return text.replace("\n", "\r\n") if is_dos else text


class JsonEditor(TextEditor):
    """JSON in a fixed-width font."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(6, 24, parent)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(TEXT_SMALL)
        self.setFont(font)
        self.setProperty("kind", "json")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)

    def cursor_at(self, line: int) -> QTextCursor:
        """A cursor at the beginning of a line, counted from 1."""
        return QTextCursor(self.document().findBlockByNumber(line - 1))
