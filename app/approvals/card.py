"""One tool call that waits for a decision: the whole call, and what a person can say to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from app.approvals.call_views import CallText, DiffText
from app.chat.cards import Card
from app.chat.intents import ChatIntents
from app.chat.rows import Row
from app.chat.tool_words import call_text, tool_name
from app.kit.formats import plural
from app.kit.visible import visible_name
from app.theme.theme import Theme
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import CallPreview, FileChangeOp, FilePreview, ToolTier

_VERBS = {
    FileChangeOp.CREATE: "Creates",
    FileChangeOp.UPDATE: "Changes",
    FileChangeOp.DELETE: "Deletes",
    FileChangeOp.RENAME: "Renames",
}
# What a complete diff shows better than the arguments do.
_IN_THE_DIFF = frozenset({"content", "edits", "input", "path", "_i"})


class ApprovalCard(Card):
    """The row's payload is the pending approval.

    Attributes:
        call: The arguments, where the preview does not show them.
        diffs: One view for each file that the call would change.
    """

    def __init__(self, row: Row, intents: ChatIntents, theme: Theme, parent: QWidget) -> None:
        request: PendingApproval = row.payload
        self._name = tool_name(request.tool_call.name)
        title = f"{row.label} wants to use {self._name}"
        super().__init__("waiting-card", "exclamation", "waiting", title, theme, parent)
        self.approval_id = request.approval_id
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._intents = intents
        self.diffs: list[DiffText] = []
        self.call: CallText | None = None
        self.add_text(_what_it_can_do(request)).setProperty("kind", "second")
        self._show_call(request.tool_call.arguments, request.preview or CallPreview())
        self._show_rule(request)
        self._by_key: dict[int, QPushButton] = {}
        self._add_choices(request, has_others=row.has_others)
        self._tell_keys()
        intents.refused.connect(self._unlock)

    def _show_call(self, arguments: Mapping[str, Any], preview: CallPreview) -> None:
        for file in preview.files:
            self._add_file(file)
        shown = _IN_THE_DIFF if preview.files else frozenset({"_i"})
        rest = {key: value for key, value in arguments.items() if key not in shown}
        if rest or not preview.files:
            self.call = CallText(call_text(rest), f"Arguments of {self._name}", self)
            self._add_code(self.call)
        if preview.cwd is not None:
            folder = (
                "the execution folder" if preview.cwd in ("", ".") else visible_name(preview.cwd)
            )
            self.add_text(
                f"Runs in {folder}. A command can do whatever you can do on this computer, unless "
                "commands are kept in a sandbox."
            ).setProperty("kind", "second")
        if preview.problem is not None:
            self.add_text(f"What it would do could not be found out: {preview.problem}")

    def _add_file(self, file: FilePreview) -> None:
        to = f" to {visible_name(file.rename_to)}" if file.rename_to is not None else ""
        title = f"{_VERBS[file.op]} {visible_name(file.path)}{to}"
        self.add_text(title)
        if file.diff:
            diff = DiffText(file.diff, f"{title}, as a diff", self.theme, self)
            self.diffs.append(diff)
            self._add_code(diff)

    def _add_code(self, view: CallText) -> None:
        self.body.addWidget(view)
        if view.is_long:
            lines = plural(view.blockCount(), "line")
            self.add_text(f"{lines} in all: scroll to see the rest").setProperty("kind", "small")

    def _show_rule(self, request: PendingApproval) -> None:
        rule = request.rule
        if rule is not None:
            self.add_text(
                f"Allowing it for this run would also allow: {rule.matches}\n"
                f"It would still ask about: {rule.near_miss}"
            ).setProperty("kind", "small")

    def _add_choices(self, request: PendingApproval, *, has_others: bool) -> None:
        self.allow = self.button("Allow", primary=True)
        self.allow.setAccessibleName(f"Allow {self._name}")
        self.allow.clicked.connect(self._allow)
        self._by_key[Qt.Key.Key_A] = self.allow
        buttons = [self.allow]
        if request.rule is not None:
            self.allow_for_run = self.button("Allow for this run")
            self.allow_for_run.setAccessibleName(f"Allow {self._name} for this run")
            self.allow_for_run.clicked.connect(self._allow_for_run)
            self._by_key[Qt.Key.Key_R] = self.allow_for_run
            buttons.append(self.allow_for_run)
        if has_others:
            self.allow_all = self.button("Allow all of this turn")
            self.allow_all.clicked.connect(self._allow_all)
            self._by_key[Qt.Key.Key_T] = self.allow_all
            buttons.append(self.allow_all)
        self.deny = self.button("Deny")
        self.deny.setAccessibleName(f"Deny {self._name}")
        self.deny.clicked.connect(self._deny)
        self._by_key[Qt.Key.Key_D] = self.deny
        buttons.append(self.deny)
        self.reason = QLineEdit(self)
        self.reason.setPlaceholderText("Reason for a denial (optional)")
        self.reason.setAccessibleName("Reason for a denial")
        self.reason.setClearButtonEnabled(True)
        self.reason.returnPressed.connect(self._deny)
        line = self.add_buttons(*buttons)
        line.insertWidget(len(buttons), self.reason, 1)
        line.setStretch(len(buttons) + 1, 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """One key for each choice, while the card or one of its buttons has the focus."""
        button = self._by_key.get(event.key())
        if button is None or event.modifiers() != Qt.KeyboardModifier.NoModifier:
            super().keyPressEvent(event)
        elif not event.isAutoRepeat():
            button.click()

    def _tell_keys(self) -> None:
        keys = {chr(key): button.text().lower() for key, button in self._by_key.items()}
        words = " · ".join(f"{key}  {what}" for key, what in keys.items())
        self.add_text(f"Keys, while this card is chosen:  {words}").setProperty("kind", "small")
        self.setAccessibleDescription(f"Keys: {words}")

    def _allow(self) -> None:
        self._decide(True, "")

    def _allow_for_run(self) -> None:
        self._decide(True, "", for_run=True)

    def _allow_all(self) -> None:
        self.setEnabled(False)
        self._intents.turn_allowed.emit(self.approval_id)

    def _deny(self) -> None:
        self._decide(False, self.reason.text().strip())

    def _decide(self, allow: bool, reason: str, *, for_run: bool = False) -> None:
        """A card takes one decision: a second press finds it locked."""
        self.setEnabled(False)
        self._intents.decided.emit(self.approval_id, allow, reason, for_run)

    def _unlock(self) -> None:
        self.setEnabled(True)


def _what_it_can_do(request: PendingApproval) -> str:
    reason = f"it {request.reason}." if request.reason else ""
    if request.tier is ToolTier.READ:
        return reason[:1].upper() + reason[1:] or "This call only reads."
    return f"This call can change things: {reason}" if reason else "This call can change things."
