"""Asks where a run is to be forked, and what is to be other than it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.history.fork_points import ForkNode
from app.inspector.controls import ChoiceBox
from app.kit.dialogs import finished
from app.theme.theme import Theme
from orchestration.runs.stored import ForkChanges

_AS_IT_WAS = "as it was"
_TEXT_HEIGHT = 58


class ForkWish(NamedTuple):
    """A fork that is wanted; see `Backend.fork_run`."""

    node_id: str | None
    turn: int | None
    seq: int | None
    changes: ForkChanges


class ForkDialog(QDialog):
    """One form: the place, and what is changed for its node."""

    def __init__(
        self, name: str, nodes: Sequence[ForkNode], seq: int | None, theme: Theme, parent: QWidget
    ) -> None:
        """Offer these nodes; with `seq` also the moment after the event of this number."""
        super().__init__(parent)
        self.setWindowTitle("Fork Run")
        self._nodes = list(nodes)
        self._seq = seq
        title = QLabel(f"Fork {name}", self)
        title.setProperty("kind", "title")
        title.setWordWrap(True)
        words = QLabel(
            "A new run begins at this point. What happened before it is taken over as it was, "
            "and nothing of it is paid again.",
            self,
        )
        words.setWordWrap(True)
        words.setProperty("kind", "second")
        self.at_moment = QRadioButton(f"After event {seq}", self)
        self.at_turn = QRadioButton("Before a turn of the node", self)
        self.node = ChoiceBox(theme, self)
        self.node.addItems([node.label for node in self._nodes])
        self.turn = QSpinBox(self)
        self.turn.setAccessibleName("Turn")
        self.model = QLineEdit(self)
        self.provider = QLineEdit(self)
        self.provider.setPlaceholderText(_AS_IT_WAS)
        self.system_prompt = self._text("System prompt")
        self.task_prompt = self._text("Task prompt")
        self.answer = self._text("Answer")
        self.call = ChoiceBox(theme, self)
        self.new_result = self._text("Result of the call")
        self._rows = QGridLayout()
        self._build_rows()
        self.buttons = QDialogButtonBox(self)
        self.begin = self.buttons.addButton("Fork", QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 18, 20, 16)
        box.setSpacing(10)
        box.addWidget(title)
        box.addWidget(words)
        box.addLayout(self._rows)
        box.addWidget(self.buttons)
        self.setMinimumWidth(520)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.node.currentIndexChanged.connect(self._show_node)
        self.call.currentIndexChanged.connect(self._show_call)
        self.at_turn.toggled.connect(self._show_place)
        self.at_moment.setVisible(seq is not None)
        (self.at_moment if seq is not None else self.at_turn).setChecked(True)
        self.begin.setEnabled(bool(self._nodes))
        self._show_node()
        self._show_place()

    @property
    def wish(self) -> ForkWish:
        """What the person wants."""
        node = self._chosen()
        node_id = node.node_id if node is not None else None
        changes = ForkChanges(
            system_prompt=_changed(self.system_prompt.toPlainText()),
            task_prompt=_changed(self.task_prompt.toPlainText()),
            model=_changed(self.model.text()),
            provider=_changed(self.provider.text()),
            answer=_changed(self.answer.toPlainText()),
            tool_results=self._results(),
        )
        if self.at_moment.isChecked():
            wants = changes != ForkChanges()
            return ForkWish(node_id if wants else None, None, self._seq, changes)
        return ForkWish(node_id, self.turn.value(), None, changes)

    def _chosen(self) -> ForkNode | None:
        at = self.node.currentIndex()
        return self._nodes[at] if 0 <= at < len(self._nodes) else None

    def _results(self) -> dict[str, str]:
        node, at = self._chosen(), self.call.currentIndex() - 1
        if node is None or not 0 <= at < len(node.calls):
            return {}
        text = self.new_result.toPlainText()
        return {node.calls[at].call_id: text} if text != node.calls[at].output else {}

    def _text(self, name: str) -> QPlainTextEdit:
        field = QPlainTextEdit(self)
        field.setProperty("kind", "field")
        field.setPlaceholderText(_AS_IT_WAS)
        field.setAccessibleName(name)
        field.setTabChangesFocus(True)
        field.setFixedHeight(_TEXT_HEIGHT)
        return field

    def _build_rows(self) -> None:
        self._rows.setHorizontalSpacing(12)
        self._rows.setVerticalSpacing(8)
        self._rows.setColumnStretch(1, 1)
        fields: tuple[tuple[str, QWidget], ...] = (
            ("Node", self.node),
            ("", self.at_moment),
            ("", self.at_turn),
            ("Turn", self.turn),
            ("Model", self.model),
            ("Provider", self.provider),
            ("System prompt", self.system_prompt),
            ("Task prompt", self.task_prompt),
            ("Answer", self.answer),
            ("Tool result", self.call),
            ("", self.new_result),
        )
        self._labels: dict[QWidget, QLabel] = {}
        for row, (words, field) in enumerate(fields):
            label = QLabel(words, self)
            label.setProperty("kind", "second")
            label.setBuddy(field)
            self._labels[field] = label
            self._rows.addWidget(label, row, 0)
            self._rows.addWidget(field, row, 1)
            if words and not field.accessibleName():
                field.setAccessibleName(words)

    def _show_node(self) -> None:
        node = self._chosen()
        self.call.clear()
        if node is None:
            return
        self.turn.setRange(1, node.turns)
        self.turn.setSuffix(f" of {node.turns}")
        self.model.setPlaceholderText(node.model or _AS_IT_WAS)
        self.answer.setPlaceholderText(node.answer or _AS_IT_WAS)
        self._show_row(self.answer, bool(node.answer))
        calls = [f"{number}. {call.words}" for number, call in enumerate(node.calls, start=1)]
        self.call.addItems(["All as they were", *calls])
        self._show_row(self.call, bool(calls))
        self._show_call()

    def _show_call(self) -> None:
        node, at = self._chosen(), self.call.currentIndex() - 1
        is_one = node is not None and 0 <= at < len(node.calls)
        self._show_row(self.new_result, is_one)
        if is_one and node is not None:
            self.new_result.setPlainText(node.calls[at].output)

    def _show_place(self) -> None:
        self._show_row(self.turn, self.at_turn.isChecked())

    def _show_row(self, field: QWidget, is_shown: bool) -> None:
        field.setVisible(is_shown)
        self._labels[field].setVisible(is_shown)


def _changed(text: str) -> str | None:
    return text if text.strip() else None


async def ask_for_fork(
    name: str, nodes: Sequence[ForkNode], seq: int | None, theme: Theme, parent: QWidget
) -> ForkWish | None:
    """Ask for the place and the changes; `None` if the person thought better of it."""
    dialog = ForkDialog(name, nodes, seq, theme, parent)
    wanted = await finished(dialog) == QDialog.DialogCode.Accepted.value
    return dialog.wish if wanted else None
