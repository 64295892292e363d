"""Rows for one setting each; what is entered there counts at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel, QLineEdit, QSizePolicy, QWidget

from app.inspector.controls import ChoiceBox, mark_wrong
from app.inspector.field import small_label
from app.settings.access import Access, Place
from app.settings.rows import Row, Switch

PAUSE_MS = 900
CHOICE_WIDTH = 224
_NUMBER_WIDTH = 120
_UNIT_WIDTH = 56

Parse = Callable[[str], Any]


def as_text(text: str) -> str | None:
    """A text; a blank one is none."""
    return text.strip() or None


def as_count(text: str) -> int | None:
    """A whole number; `4,096` is one."""
    plain = text.strip().replace(",", "").replace(" ", "").replace("_", "")
    if not plain:
        return None
    if not (plain.isascii() and plain.isdigit()):
        raise ValueError("A whole number is needed, such as 8")
    if len(plain) > 15:
        raise ValueError("This number is too large")
    return int(plain)


def as_number(text: str) -> float | None:
    """A number, such as `0.5`."""
    plain = text.strip().removeprefix("$").replace(",", "").replace(" ", "")
    if not plain:
        return None
    try:
        number = float(plain) if plain.isascii() and "_" not in plain else float("nan")
    except ValueError:
        number = float("nan")
    if not abs(number) < 1e15:
        raise ValueError("A number is needed, such as 2.5")
    return int(number) if number == int(number) else number


def shown(value: Any) -> str:
    """A value as it stands in a field."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


class SettingLine(QLineEdit):
    """A line for one setting.

    It is kept when Enter is pressed, the line is left, or nothing was typed for a moment.

    Args:
        access: what the pages work with.
        place: the setting.
        parse: what a text means; it raises `ValueError` with what is wrong with it.
        say: told what is wrong with what is entered, or with nothing that nothing is.
    """

    def __init__(
        self, access: Access, place: Place, parse: Parse, say: Callable[[str], None]
    ) -> None:
        super().__init__()
        self.place = place
        self._access = access
        self._parse = parse
        self._say = say
        self._is_wrong = False
        self._is_typed = False
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.commit)
        self.textEdited.connect(self._typed)
        self.editingFinished.connect(self.commit)
        access.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show what counts, unless something else is being entered."""
        if not self._is_typed:
            text = shown(self._access.value(self.place))
            if text != self.text():
                self.setText(text)
                self.setCursorPosition(0)

    def enter(self, text: str) -> None:
        """Take over a text as if it had been typed, and keep it."""
        self.setText(text)
        self._is_typed = True
        self.commit()

    def commit(self) -> None:
        """Keep what was entered, or say what is wrong with it."""
        self._pause.stop()
        if not self._is_typed:
            return
        try:
            value = self._parse(self.text())
        except ValueError as error:
            self._tell(str(error))
            return
        if value == self._access.value(self.place):
            self._settle("")
        else:
            self._access.put(self.place, value, self._settle)

    def _typed(self) -> None:
        self._is_typed = True
        self._pause.start()

    def _settle(self, wrong: str) -> None:
        self._tell(wrong)
        if not wrong and not self._pause.isActive():
            self._is_typed = False
            self.refresh()

    def _tell(self, wrong: str) -> None:
        self._is_wrong = bool(wrong)
        self._say(wrong)
        mark_wrong(self, self._is_wrong)


class LineRow(Row):
    """A line of text or a number."""

    def __init__(
        self,
        access: Access,
        place: Place,
        caption: str,
        note: str = "",
        *,
        parse: Parse = as_text,
        unit: str = "",
        placeholder: str = "",
        wide: bool = False,
    ) -> None:
        super().__init__(access.theme, caption, note, wide=wide)
        self.line = SettingLine(access, place, parse, self.say_wrong)
        self.line.setPlaceholderText(placeholder)
        if parse is as_text:
            self.line.setMinimumWidth(160)
            self.adopt(self.line, stretch=1)
            if not wide:
                self.right.setMinimumWidth(240)
        else:
            self.line.setFixedWidth(_NUMBER_WIDTH)
            self.line.setAlignment(Qt.AlignmentFlag.AlignRight)
            self.adopt(self.line, name=f"{caption}, {unit}" if unit else caption)
            if unit:
                self.control_box.addWidget(unit_label(self, unit))


class BudgetRow(Row):
    """When something is warned of, and when it pauses and asks."""

    def __init__(
        self, access: Access, who: str, name: str, caption: str, note: str, parse: Parse
    ) -> None:
        super().__init__(access.theme, caption, note)
        self.lines: dict[str, SettingLine] = {}
        for section, words, hint in ((f"warn_{who}", "warn at", "4/5"), (who, "limit", "none")):
            line = SettingLine(access, ("limits", section, name), parse, self.say_wrong)
            line.setPlaceholderText(hint)
            line.setAlignment(Qt.AlignmentFlag.AlignRight)
            line.setFixedWidth(104)
            label = small_label(self, words)
            label.setWordWrap(False)
            self.control_box.addWidget(label)
            self.adopt(line, name=f"{caption}: {words}, each {who}")
            self.lines[section] = line


def unit_label(parent: QWidget, unit: str) -> QLabel:
    """What a number counts, in a column of its own."""
    label = small_label(parent, unit)
    label.setWordWrap(False)
    label.setFixedWidth(_UNIT_WIDTH)
    label.setVisible(True)
    return label


class SwitchRow(Row):
    """Yes or no."""

    def __init__(self, access: Access, place: Place, caption: str, note: str = "") -> None:
        super().__init__(access.theme, caption, note)
        self._access = access
        self._place = place
        self.switch = Switch(access.theme, self)
        self.adopt(self.switch)
        self.switch.clicked.connect(self._entered)
        access.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show what counts."""
        self.switch.setChecked(bool(self._access.value(self._place)))

    def _entered(self, is_on: bool) -> None:
        self._access.put(self._place, is_on, self._settle)

    def _settle(self, wrong: str) -> None:
        self.say_wrong(wrong)
        self.refresh()


class ChoiceRow(Row):
    """One of several values."""

    def __init__(
        self,
        access: Access,
        place: Place,
        caption: str,
        note: str = "",
        *,
        choices: Sequence[tuple[Any, str]] = (),
    ) -> None:
        super().__init__(access.theme, caption, note)
        self._access = access
        self._place = place
        self._choices: list[tuple[Any, str]] = list(choices)
        self.box = made_choice(access, self)
        self.adopt(self.box, stretch=1)
        self.box.activated.connect(self._entered)
        access.changed.connect(self.refresh)
        self.refresh()

    def set_choices(self, choices: Sequence[tuple[Any, str]]) -> None:
        """Offer these values, as pairs of value and words."""
        self._choices = list(choices)
        self.refresh()

    def refresh(self) -> None:
        """Show what counts; a value that is not offered is kept and shown as it is."""
        value = self._access.value(self._place)
        entries = list(self._choices)
        if all(each != value for each, _ in entries):
            entries.append((value, str(value)))
        self._shown = [each for each, _ in entries]
        self.box.show_entries([words for _, words in entries], self._shown.index(value))

    def _entered(self, index: int) -> None:
        value = self._shown[index]
        if value != self._access.value(self._place):
            self._access.put(self._place, value, self._settle)

    def _settle(self, wrong: str) -> None:
        self.say_wrong(wrong)
        self.refresh()


def made_choice(access: Access, parent: QWidget) -> ChoiceBox:
    """A drop-down list of the width that all of them have here."""
    box = ChoiceBox(access.theme, parent)
    box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    box.setFixedWidth(CHOICE_WIDTH)
    return box
