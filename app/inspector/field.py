"""What all fields of a form have in common: caption, control, meaning, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.inspector.controls import mark_wrong
from app.theme.status_mark import StatusMark
from app.theme.theme import Theme


class _Mixed:
    """Stands for a value that is not the same in all that is selected."""


MIXED: Final = _Mixed()
UNSEEN: Final = _Mixed()
MIXED_WORDS = "Different values"


class WrongLine(QWidget):
    """A mark and what is wrong; there while anything is."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._text = small_label(self)
        self._text.setProperty("kind", "wrong")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        mark = StatusMark(theme, "exclamation", "failed", 12, self)
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)
        self.hide()

    @property
    def words(self) -> str:
        """What is wrong; empty if nothing is."""
        return self._text.text()

    def say(self, words: str) -> None:
        """Say it, or with an empty text that nothing is wrong."""
        self._text.setText(words)
        self._text.setVisible(bool(words))
        self.setVisible(bool(words))


class Field(QWidget):
    """Base of all fields.

    What is shown is what the document has, except while something is typed that does not fit:
    that stays, with the reason below it, until it is put right or the document has another value.

    Signals:
        entered: This field and the value that a person has entered.
        left: The focus has gone elsewhere.
        rebuilt: There are other controls now.
    """

    entered = Signal(object, object)
    left = Signal()
    rebuilt = Signal()

    typing = ""
    """Names what is typed letter by letter, so that it is one step; empty for a step each."""

    def __init__(self, theme: Theme, caption: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.caption = caption
        self._theme = theme
        self._shown: Any = UNSEEN
        self._controls: list[QWidget] = []
        self.problem = ""
        self.label = QLabel(caption, self)
        self.label.setProperty("kind", "caption")
        self._note = small_label(self)
        self._wrong = WrongLine(theme, self)
        self.box = QVBoxLayout(self)
        self.box.setContentsMargins(0, 0, 0, 0)
        self.box.setSpacing(4)
        self.box.addWidget(self.label)

    @property
    def note(self) -> str:
        """What stands below the control."""
        return self._note.text()

    @property
    def wrong(self) -> str:
        """What is wrong with what is entered; empty if nothing is."""
        return self._wrong.words

    def set_note(self, words: str) -> None:
        """Say below the control what it means."""
        self._note.setText(words)
        self._note.setVisible(bool(words))
        self._describe()

    def say_wrong(self, words: str) -> None:
        """Say what is wrong with what is entered, or with an empty text that nothing is."""
        if words != self.wrong:
            self._wrong.say(words)
            self.mark()

    def show_problem(self, words: str) -> None:
        """Mark that what the document has here keeps it from running; empty if nothing does.

        The sentence itself stands at the top of the form.
        """
        if words != self.problem:
            self.problem = words
            self.mark()

    def mark(self) -> None:
        """Give the controls the look of what is wrong with them, if anything is."""
        for control in self._controls:
            mark_wrong(control, bool(self.wrong or self.problem))
        self._describe()

    def show_values(self, values: Sequence[Any]) -> None:
        """Show the value of all that is selected, unless it is shown already."""
        value = values[0] if values else None
        if any(not self.alike(value, other) for other in values[1:]):
            value = MIXED
        if self._shown is UNSEEN or not self.alike(value, self._shown):
            self._shown = value
            self.say_wrong("")
            self.show_value(value)

    def alike(self, a: Any, b: Any) -> bool:
        """Whether two values are the same."""
        return same(a, b)

    def forget(self) -> None:
        """Something else is edited from now on: nothing of what is shown counts."""
        self._shown = UNSEEN

    def show_value(self, value: Any) -> None:
        """Show a value of the document, or `MIXED`."""
        raise NotImplementedError

    def enter(self, value: Any) -> None:
        """A person has entered a value that this field can read."""
        before, self._shown = self._shown, value
        self.say_wrong("")
        if not self.alike(value, before):
            self.entered.emit(self, value)

    def refuse(self, words: str, value: Any) -> None:
        """What was entered last does not fit; the document has `value` as before."""
        self._shown = value
        self.say_wrong(words)

    def stops(self) -> list[QWidget]:
        """Where Tab stops, in order."""
        return list(self._controls)

    def take_focus(self) -> None:
        """Let the person write here."""
        if self._controls:
            self._controls[0].setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice when a control is left."""
        if event.type() == QEvent.Type.FocusOut:
            self.left.emit()
        return super().eventFilter(watched, event)

    def adopt(self, control: QWidget, name: str = "") -> None:
        """Make a control known to those who see, hear or press keys."""
        control.setAccessibleName(name or self.caption)
        control.installEventFilter(self)
        self._controls.append(control)

    def finish(self) -> None:
        """Put what is said of the control below it; to be called last when a field is made."""
        if self._controls:
            self.label.setBuddy(self._controls[0])
            self.setFocusProxy(self._controls[0])
        self.box.addWidget(self._note)
        self.box.addWidget(self._wrong)

    def _describe(self) -> None:
        words = ". ".join(part for part in (self.wrong, self.problem, self.note) if part)
        for control in self._controls:
            control.setAccessibleDescription(words)


def same(a: Any, b: Any) -> bool:
    """Whether two values are the same and of the same type."""
    return a is b or (type(a) is type(b) and bool(a == b))


def small_label(parent: QWidget, words: str = "") -> QLabel:
    """A label for a sentence below a control; an empty one takes no room."""
    label = QLabel(words, parent)
    label.setProperty("kind", "small")
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setVisible(bool(words))
    return label
