"""Fields for one value: a line of text, a number, a choice, a yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.inspector.controls import ChoiceBox, FlagBox, LineField
from app.inspector.field import MIXED, MIXED_WORDS, UNSEEN, Field, same, small_label
from app.theme.theme import Theme

_NUMBER_WIDTH = 130


class TextField(Field):
    """One line of text.

    Args:
        needed: What to say where it is blank; without it a blank text is a value.
        blank: The value of a blank text.
    """

    typing = "text"

    def __init__(
        self,
        theme: Theme,
        caption: str,
        parent: QWidget | None = None,
        *,
        needed: str = "",
        blank: str | None = "",
    ) -> None:
        super().__init__(theme, caption, parent)
        self._needed = needed
        self._blank = blank
        self._placeholder = ""
        self.control = LineField(self)
        self.adopt(self.control)
        self.box.addWidget(self.control)
        self.control.textEdited.connect(self._read)
        self.finish()

    def set_placeholder(self, words: str) -> None:
        """Say what counts while nothing is entered."""
        self._placeholder = words
        self.control.setPlaceholderText(MIXED_WORDS if self._shown is MIXED else words)

    def show_value(self, value: Any) -> None:
        """Show the text from its beginning."""
        self.control.setText("" if value is MIXED or value is None else str(value))
        self.control.setCursorPosition(0)
        self.set_placeholder(self._placeholder)

    def _read(self, text: str) -> None:
        if text.strip():
            self.enter(text.strip())
        elif self._needed:
            self.say_wrong(self._needed)
        else:
            self.enter(self._blank)


class NumberField(Field):
    """A whole number from `least` to `most`; blank is `None`, if that is a value here."""

    typing = "text"

    def __init__(
        self,
        theme: Theme,
        caption: str,
        parent: QWidget | None = None,
        *,
        least: int = 0,
        most: int = 2**32 - 1,
        unit: str = "",
        may_be_blank: bool = False,
    ) -> None:
        super().__init__(theme, caption, parent)
        self._least, self._most = least, most
        self._may_be_blank = may_be_blank
        self._placeholder = ""
        self.control = LineField(self)
        self.control.setInputMethodHints(Qt.InputMethodHint.ImhDigitsOnly)
        self.control.setFixedWidth(_NUMBER_WIDTH)
        self.adopt(self.control, f"{caption}, {unit}" if unit else "")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.control)
        row.addWidget(small_label(self, unit))
        row.addStretch(1)
        self.box.addLayout(row)
        self.control.textEdited.connect(self._read)
        self.finish()

    def set_placeholder(self, words: str) -> None:
        """Say what counts while nothing is entered."""
        self._placeholder = words
        self.control.setPlaceholderText(MIXED_WORDS if self._shown is MIXED else words)

    def show_value(self, value: Any) -> None:
        """Show the number, or nothing."""
        self.control.setText("" if value is MIXED or value is None else str(value))
        self.set_placeholder(self._placeholder)

    def _read(self, text: str) -> None:
        text = text.strip().replace(",", "").replace(" ", "")
        if not text and self._may_be_blank:
            self.enter(None)
        elif not (text.isascii() and text.isdigit()):
            self.say_wrong("A whole number is needed, such as 3")
        elif not self._least <= int(text[:30]) <= self._most:
            self.say_wrong(f"From {self._least:,} to {self._most:,}")
        else:
            self.enter(int(text))


class ChoiceField(Field):
    """One of several values; a value that is not among them is kept and said to be strange."""

    def __init__(self, theme: Theme, caption: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, caption, parent)
        self._choices: list[tuple[Any, str]] = []
        self._listed: list[Any] = []
        self.control = ChoiceBox(theme, self)
        self.adopt(self.control)
        self.box.addWidget(self.control)
        self.control.activated.connect(self._read)
        self.finish()

    @property
    def choices(self) -> list[tuple[Any, str]]:
        """The values and what they are called."""
        return list(self._choices)

    def set_choices(self, choices: Sequence[tuple[Any, str]]) -> None:
        """Offer these values, as pairs of value and words."""
        if list(choices) != self._choices:
            self._choices = list(choices)
            self._fill()

    def show_value(self, value: Any) -> None:
        """Show one of the values."""
        self._fill()

    def _fill(self) -> None:
        """List the choices, and before them whatever else is shown."""
        value = self._shown
        entries = list(self._choices)
        known = [index for index, (each, _) in enumerate(entries) if same(each, value)]
        if value is MIXED:
            entries.insert(0, (MIXED, MIXED_WORDS))
        elif not known and value is not UNSEEN:
            entries.insert(0, (value, f"{value} (not offered here)"))
        self._listed = [each for each, _ in entries]
        self.control.show_entries([words for _, words in entries], known[0] if known else 0)

    def _read(self, index: int) -> None:
        value = self._listed[index]
        if value is not MIXED:
            self.enter(value)


class SuggestionField(Field):
    """One line of text that can also be picked from a list."""

    typing = "text"

    def __init__(
        self,
        theme: Theme,
        caption: str,
        parent: QWidget | None = None,
        *,
        blank: str | None = "",
    ) -> None:
        super().__init__(theme, caption, parent)
        self._blank = blank
        self._placeholder = ""
        self.control = ChoiceBox(theme, self)
        self.line = LineField(self.control)
        self.control.write_in(self.line)
        self.adopt(self.line)
        self.adopt(self.control, f"{caption}, list")
        self.box.addWidget(self.control)
        self.line.textEdited.connect(self._read)
        self.control.activated.connect(self._take)
        self.finish()

    def set_suggestions(self, texts: Sequence[str]) -> None:
        """Offer these texts."""
        if list(texts) != [self.control.itemText(row) for row in range(self.control.count())]:
            text, at = self.line.text(), self.line.cursorPosition()
            self.control.clear()
            self.control.addItems(list(texts))
            self.control.setCurrentIndex(-1)
            self.line.setText(text)
            self.line.setCursorPosition(at)

    def set_placeholder(self, words: str) -> None:
        """Say what counts while nothing is entered."""
        self._placeholder = words
        self.line.setPlaceholderText(MIXED_WORDS if self._shown is MIXED else words)

    def show_value(self, value: Any) -> None:
        """Show the text from its beginning."""
        self.line.setText("" if value is MIXED or value is None else str(value))
        self.line.setCursorPosition(0)
        self.set_placeholder(self._placeholder)

    def stops(self) -> list[QWidget]:
        """The list and the line in it are one stop."""
        return [self.control]

    def _read(self, text: str) -> None:
        self.enter(text.strip() or self._blank)

    def _take(self, index: int) -> None:
        self.left.emit()
        self.enter(self.control.itemText(index))
        self.left.emit()


class FlagField(Field):
    """Yes or no, with its caption beside the box."""

    def __init__(self, theme: Theme, caption: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, caption, parent)
        self.label.hide()
        self.control = FlagBox(theme, caption, self)
        self.adopt(self.control)
        self.box.addWidget(self.control)
        self.control.clicked.connect(self._read)
        self.finish()
        self._note.setContentsMargins(25, 0, 0, 0)

    def show_value(self, value: Any) -> None:
        """Tick the box, or leave it half ticked where there are different values."""
        states = Qt.CheckState
        if value is MIXED:
            self.control.setTristate(True)
            self.control.setCheckState(states.PartiallyChecked)
        else:
            self.control.setTristate(False)
            self.control.setCheckState(states.Checked if value else states.Unchecked)

    def _read(self) -> None:
        # A click on a half-ticked box ticks it; from then on there are two states only.
        is_on = self.control.checkState() != Qt.CheckState.Unchecked
        self.control.setTristate(False)
        self.control.setChecked(is_on)
        self.enter(is_on)
