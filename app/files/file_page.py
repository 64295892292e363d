"""One file on show: its name, its text or picture, what is not shown of it, and a find bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QImage, QKeyEvent, QPixmap, QResizeEvent, QTextCursor
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.files.code_view import CodeView
from app.files.file_content import FileContent, size_text
from app.files.highlighting import Part
from app.kit.elided_label import ElidedLabel
from app.kit.formats import plural
from app.kit.visible import visible
from app.theme.theme import Theme

_NOTHING, _TEXT, _IMAGE = range(3)
MOST_MATCHES = 1000


class FilePage(QWidget):
    """Shows what was read of one file."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.content: FileContent | None = None
        self._found: list[QTextCursor] = []
        self._at = -1
        self.name = ElidedLabel("", self)
        self.facts = QLabel(self)
        self.facts.setProperty("kind", "small")
        self._find = _tool(self, "Find in this file (Ctrl+F)")
        self._find.clicked.connect(self.ask_for_words)
        self.notices = QLabel(self)
        self.notices.setProperty("kind", "small")
        self.notices.setWordWrap(True)
        self.notices.hide()
        self.code = CodeView(theme, self)
        self.words = QLabel("Choose a file to read it.", self)
        self.words.setProperty("kind", "second")
        self.words.setWordWrap(True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.image = _Picture(self)
        self._stack = QStackedWidget(self)
        for page in (self.words, self.code, self.image):
            self._stack.addWidget(page)
        self.bar = _FindBar(self)
        self.bar.hide()
        self.bar.field.textChanged.connect(self._search)
        self.bar.field.returnPressed.connect(self.next_match)
        self.bar.before.clicked.connect(self.last_match)
        self.bar.after.clicked.connect(self.next_match)
        self.bar.left.clicked.connect(self._leave)
        for widget in (self.code, self.bar.field):
            widget.installEventFilter(self)
        head = QHBoxLayout()
        head.setContentsMargins(14, 2, 10, 4)
        head.setSpacing(10)
        head.addWidget(self.name, 1)
        head.addWidget(self.facts)
        head.addWidget(self._find)
        inner = QHBoxLayout()
        inner.setContentsMargins(14, 0, 10, 4)
        inner.addWidget(self.notices)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(head)
        box.addLayout(inner)
        box.addWidget(self.bar)
        box.addWidget(self._stack, 1)
        theme.changed.connect(self._dress)
        self._dress()
        self._find.hide()

    def show_content(self, content: FileContent, line: int = 0) -> None:
        """Show a file, at a line from 1 if one is meant; the same file stays where it is."""
        is_same = self.content is not None and self.content.path == content.path
        place = self.code.verticalScrollBar().value() if is_same else 0
        self.content = content
        self.name.setText(visible(content.label))
        self.name.full_tip = visible(str(content.path))
        self.notices.setText("\n".join(content.notices))
        self.notices.setVisible(bool(content.notices) and content.kind == "text")
        is_text = content.kind == "text"
        self._find.setVisible(is_text)
        facts = size_text(content.size) if content.size or content.kind != "nothing" else ""
        if is_text:
            self._stack.setCurrentIndex(_TEXT)
            self.code.show_text(content.text)
            facts = f"{plural(self.code.blockCount(), 'line')} · {facts}"
            if line:
                self.go_to(line)
            else:
                self.code.verticalScrollBar().setValue(place)
        elif content.kind == "image":
            self._stack.setCurrentIndex(_IMAGE)
            self.image.show_image(QImage.fromData(content.data))
            facts = f"{self.image.size_words()} · {facts}"
        else:
            self._stack.setCurrentIndex(_NOTHING)
            self.words.setText(visible("\n".join(content.notices)))
        self.facts.setText(facts)
        if not is_text:
            self._leave()
        elif not self.bar.isHidden():
            self._search()

    def show_parts(self, parts: Sequence[Sequence[Part]]) -> None:
        """Give the text its colours."""
        self.code.show_parts(parts)

    def show_words(self, words: str) -> None:
        """Show a sentence and no file."""
        self.content = None
        self.name.setText("")
        self.facts.setText("")
        self.notices.hide()
        self._find.hide()
        self.bar.hide()
        self.words.setText(words)
        self._stack.setCurrentIndex(_NOTHING)

    def go_to(self, line: int) -> None:
        """Go to a line, and say so where it is not there."""
        reached = self.code.go_to(line)
        if reached != line and self.content is not None:
            words = f"There is no line {line} in it any more: it ends at line {reached}."
            if self.content.notices:
                words = f"Line {line} is not among those shown."
            self.notices.setText("\n".join((*self.content.notices, words)))
            self.notices.show()

    def ask_for_words(self) -> None:
        """Open the bar to find something, or to go to a line with `:` before its number."""
        if self._stack.currentIndex() == _TEXT:
            self.bar.show()
            selected = self.code.textCursor().selectedText()
            if selected and "\u2029" not in selected:
                self.bar.field.setText(selected)
            self.bar.field.setFocus()
            self.bar.field.selectAll()

    def next_match(self) -> None:
        """Go to the next place, after the last one to the first; or to the line that is named."""
        line = _line_in(self.bar.field.text())
        if line is not None:
            self.go_to(line)
        else:
            self._go(1)

    def last_match(self) -> None:
        """Go to the place before."""
        self._go(-1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of a reader: Ctrl+F finds, Ctrl+G goes to a line, F3 goes on, Escape leaves."""
        kind = event.type()
        if kind not in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress) or not isinstance(
            event, QKeyEvent
        ):
            return False
        act = self._act_for(event)
        if act is None:
            return False
        if kind == QEvent.Type.KeyPress:
            act()
        event.accept()
        return True

    def _act_for(self, event: QKeyEvent) -> Callable[[], None] | None:
        key, modifiers = event.key(), event.modifiers()
        control = modifiers == Qt.KeyboardModifier.ControlModifier
        if control and key == Qt.Key.Key_F:
            return self.ask_for_words
        if control and key == Qt.Key.Key_G:
            return self._ask_for_line
        if key == Qt.Key.Key_F3:
            is_back = modifiers & Qt.KeyboardModifier.ShiftModifier
            return self.last_match if is_back else self.next_match
        if key == Qt.Key.Key_Escape and not self.bar.isHidden():
            return self._leave
        return None

    def _ask_for_line(self) -> None:
        self.ask_for_words()
        self.bar.field.setText(":")

    def _leave(self) -> None:
        if not self.bar.isHidden():
            had_focus = self.bar.isAncestorOf(self.focusWidget())
            self.bar.hide()
            self.code.show_matches([])
            if had_focus:
                self.code.setFocus()

    def _search(self) -> None:
        words = self.bar.field.text()
        is_line = words.startswith(":")
        self._found = [] if is_line else self.code.find_all(words, MOST_MATCHES)
        self._at = -1
        self.code.show_matches(self._found)
        if is_line:
            self.bar.told.setText("Enter goes to the line")
        elif not words:
            self.bar.told.setText("")
        elif not self._found:
            self.bar.told.setText("Nothing found")
        else:
            self._go(1)

    def _go(self, step: int) -> None:
        if not self._found:
            return
        self._at = (self._at + step) % len(self._found)
        self.code.setTextCursor(QTextCursor(self._found[self._at]))
        self.code.centerCursor()
        more = "+" if len(self._found) == MOST_MATCHES else ""
        self.bar.told.setText(f"{self._at + 1} of {len(self._found)}{more}")

    def _dress(self) -> None:
        icons = self._theme.icons
        self._find.setIcon(icons.icon("search"))
        for button, name in (
            (self.bar.before, "chevron-up"),
            (self.bar.after, "chevron-down"),
            (self.bar.left, "close"),
        ):
            button.setIcon(icons.icon(name))


class _FindBar(QWidget):
    """What to look for, how often it is there, and ways on."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.field = QLineEdit(self)
        self.field.setPlaceholderText("Find, or :line")
        self.field.setAccessibleName("Find in this file")
        self.field.setMaximumWidth(320)
        self.told = QLabel(self)
        self.told.setProperty("kind", "small")
        self.before = _tool(self, "The one before (Shift+F3)")
        self.after = _tool(self, "The next one (F3)")
        self.left = _tool(self, "Close (Esc)")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 2, 10, 6)
        row.setSpacing(6)
        row.addWidget(self.field, 2)
        row.addWidget(self.before)
        row.addWidget(self.after)
        row.addWidget(self.told)
        row.addStretch(1)
        row.addWidget(self.left)


class _Picture(QLabel):
    """An image, made smaller where there is no room for it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._image = QImage()
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setMinimumSize(40, 40)
        self.setAccessibleName("Image")

    def show_image(self, image: QImage) -> None:
        """Show it; one that cannot be read says so."""
        self._image = image
        self._fit()

    def size_words(self) -> str:
        """How large it is, in dots."""
        if self._image.isNull():
            return "damaged"
        return f"{self._image.width()} × {self._image.height()}"  # noqa: RUF001

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit it in anew."""
        super().resizeEvent(event)
        self._fit()

    def sizeHint(self) -> QSize:
        """It takes what room there is."""
        return QSize(200, 120)

    def _fit(self) -> None:
        if self._image.isNull():
            self.setText("This image cannot be read.")
            return
        ratio = self.devicePixelRatioF()
        room = (self.size() - QSize(24, 24)) * ratio
        shown = self._image
        if shown.width() > room.width() or shown.height() > room.height():
            shown = shown.scaled(
                room,
                Qt.AspectRatioMode.KeepAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
        pixmap = QPixmap.fromImage(shown)
        pixmap.setDevicePixelRatio(ratio)
        self.setPixmap(pixmap)


def _line_in(text: str) -> int | None:
    number = text[1:].strip()
    return int(number[:9]) if text.startswith(":") and number.isdecimal() else None


def _tool(parent: QWidget, tip: str) -> QToolButton:
    button = QToolButton(parent)
    button.setToolTip(tip)
    button.setAccessibleName(tip.partition(" (")[0])
    return button
