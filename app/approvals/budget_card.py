"""A limit is used up: go on with more, or stop."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from app.chat.cards import Card
from app.chat.intents import ChatIntents
from app.chat.rows import Row
from app.theme.theme import Theme
from engine.vocabulary.spending import RUN, SpentLimit, amount_text

_UNITS = {"tokens": "tokens", "cost": "dollars", "seconds": "seconds", "turns": "turns"}


_HINT = "What is under way goes on until its next model call; nothing that was paid for is lost."


class BudgetCard(Card):
    """The row's payload is the pending input, which has a budget.

    Attributes:
        more: By how much the limit is raised, as the person writes it.
    """

    def __init__(self, row: Row, intents: ChatIntents, theme: Theme, parent: QWidget) -> None:
        pending: Any = row.payload
        limit: SpentLimit = pending.budget
        what = "This run" if limit.scope == RUN else row.label
        title = f"{what} has reached its limit"
        super().__init__("waiting-card", "exclamation", "waiting", title, theme, parent)
        self.pause_id = pending.pause_id
        self._node_id = row.node_id
        self._intents = intents
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._limit = limit
        self.add_text(row.text)
        self.go_on = self.button("Go on with more", primary=True)
        self.go_on.setAccessibleName(f"{title}: go on with more")
        self.go_on.clicked.connect(self._go_on)
        self.stop = self.button("Stop the run" if limit.scope == RUN else "Stop this node")
        self.stop.clicked.connect(self._stop)
        self.more = QLineEdit(self)
        unit = _UNITS[limit.measure]
        self.more.setPlaceholderText(f"As much again ({amount_text(limit.measure, limit.limit)})")
        self.more.setAccessibleName(f"How many {unit} more")
        self.more.setToolTip(f"How many {unit} more; as much again where this is empty")
        self.more.setMaximumWidth(260)
        self.more.textEdited.connect(self._check)
        self.more.returnPressed.connect(self._go_on)
        line = self.add_buttons(self.go_on, self.more, self.stop)
        line.setStretch(1, 1)
        self.hint = self.add_text(_HINT)
        self.hint.setProperty("kind", "small")
        intents.refused.connect(self._unlock)

    def _check(self) -> None:
        is_wrong = _amount(self.more.text()) is None
        self.go_on.setEnabled(not is_wrong)
        self.more.setProperty("wrong", is_wrong)
        self.more.style().unpolish(self.more)
        self.more.style().polish(self.more)
        wrong = f"Write a number of {_UNITS[self._limit.measure]} above 0, or nothing."
        self.hint.setText(wrong if is_wrong else _HINT)

    def _go_on(self) -> None:
        amount = _amount(self.more.text())
        if amount is None or not self.isEnabled():
            return
        self._answer(f"continue {amount}".strip())

    def _stop(self) -> None:
        self._answer("stop")

    def _answer(self, text: str) -> None:
        """A card takes one answer: a second press finds it locked."""
        self.setEnabled(False)
        self._intents.answered.emit(self._node_id, self.pause_id, text)

    def _unlock(self) -> None:
        self.setEnabled(True)


def _amount(text: str) -> str | None:
    """The number that was written, plain; empty for none, `None` for what is no number."""
    plain = text.strip().lstrip("$").replace(",", "").replace("_", "").strip()
    if not plain:
        return ""
    whole, _, rest = plain.partition(".")
    if not (whole + rest).isdigit() or not (whole + rest).isascii() or float(plain) <= 0:
        return None
    return plain
