"""Fields that list things: those of which any number can be picked, and those only shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.inspector.controls import FlagBox
from app.inspector.field import Field
from app.theme.theme import Theme


class PickField(Field):
    """Any number of values out of a list, in the order in which they were picked."""

    def __init__(self, theme: Theme, caption: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, caption, parent)
        self._choices: list[tuple[str, str, str]] = []
        self._boxes: dict[str, FlagBox] = {}
        self._list = QVBoxLayout()
        self._list.setSpacing(4)
        self.box.addLayout(self._list)
        self.finish()

    @property
    def boxes(self) -> dict[str, FlagBox]:
        """The box of each value."""
        return self._boxes

    def set_choices(self, choices: Sequence[tuple[str, str, str]]) -> None:
        """Offer these values: each with what it is called and what it is for."""
        if list(choices) != self._choices:
            self._choices = list(choices)
            self._fill()

    def show_value(self, value: Any) -> None:
        """Tick what is picked."""
        self._fill()

    def take_focus(self) -> None:
        """Let the person pick."""
        for box in self._boxes.values():
            box.setFocus(Qt.FocusReason.OtherFocusReason)
            return

    def _picked(self) -> tuple[str, ...]:
        return self._shown if isinstance(self._shown, tuple) else ()

    def _fill(self) -> None:
        picked = self._picked()
        known = {key for key, _, _ in self._choices}
        strange = [(key, f"{key} (not saved here)", "") for key in picked if key not in known]
        wanted = [*self._choices, *dict.fromkeys(strange)]
        if [key for key, _, _ in wanted] != list(self._boxes):
            for box in self._boxes.values():
                self._list.removeWidget(box)
                box.deleteLater()
            self._boxes = {}
            self._controls = []
            for key, words, purpose in wanted:
                box = FlagBox(self._theme, words, self)
                box.setToolTip(purpose)
                box.setProperty("pick", key)
                box.clicked.connect(self._read)
                self.adopt(box, words)
                box.setAccessibleDescription(purpose)
                self._list.addWidget(box)
                self._boxes[key] = box
            self.rebuilt.emit()
        for key, box in self._boxes.items():
            box.setChecked(key in picked)

    def _read(self) -> None:
        picked = self._picked()
        kept = [key for key in picked if key in self._boxes and self._boxes[key].isChecked()]
        added = [key for key, box in self._boxes.items() if box.isChecked() and key not in picked]
        self.enter((*kept, *added))


class ShownField(Field):
    """Something that is shown and cannot be changed here."""

    def __init__(self, theme: Theme, caption: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, caption, parent)
        self.text = QLabel(self)
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.adopt(self.text)
        self.box.addWidget(self.text)
        self.finish()

    def words_of(self, value: Any) -> str:
        """The value as a person reads it."""
        return str(value)

    def show_value(self, value: Any) -> None:
        """Show it in words."""
        words = self.words_of(value)
        self.text.setText(words)
        self.text.setAccessibleName(f"{self.caption}: {words}")
