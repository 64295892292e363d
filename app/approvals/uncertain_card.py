"""A call whose end nobody knows: what it was about to do, what can be found out, and a choice."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from app.approvals.call_views import CallText
from app.chat.cards import Card
from app.chat.intents import ChatIntents
from app.chat.rows import Row
from app.chat.tool_words import call_text, tool_name
from app.kit.visible import visible_name
from app.theme.theme import Theme
from engine.vocabulary.recovery import (
    ABSENT,
    UNREADABLE,
    CallEvidence,
    FileEvidence,
    Sign,
    UncertainCall,
    UncertainChoice,
)

_SIGNS = {
    Sign.UNTOUCHED: "Everything it was about to touch is as it was: it has probably not run.",
    Sign.CHANGED: "Something is no longer as it was: it has probably run, in part or whole.",
    Sign.UNKNOWN: "There is nothing that could be compared to find out.",
}
_CHOICES = (
    (UncertainChoice.DONE, "It is done", "The model is told that the call was carried out"),
    (UncertainChoice.REDO, "Run it again", "The call is made once more"),
    (UncertainChoice.SKIP, "Skip it", "The model is told that the call was not carried out"),
)
_DIGEST_LENGTH = 12


class UncertainCard(Card):
    """The row's payload is the uncertain call.

    Attributes:
        choices: The buttons, by what they choose.
        evidence: What the files were then and are now, where any were noted.
    """

    def __init__(self, row: Row, intents: ChatIntents, theme: Theme, parent: QWidget) -> None:
        call: UncertainCall = row.payload
        name = tool_name(call.tool_call.name)
        title = f"{row.label} was using {name} when the program ended. Did it finish?"
        super().__init__("waiting-card", "question", "waiting", title, theme, parent)
        self.call_id = call.call_id
        self._intents = intents
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.add_text(_SIGNS[call.evidence.sign]).setProperty("kind", "second")
        shown = {key: each for key, each in call.tool_call.arguments.items() if key != "_i"}
        self.body.addWidget(CallText(call_text(shown), f"Arguments of {name}", self))
        self.evidence: CallText | None = None
        self._show_evidence(call.evidence)
        self.choices: dict[UncertainChoice, QPushButton] = {}
        likely = UncertainChoice.REDO if call.evidence.sign is Sign.UNTOUCHED else None
        likely = UncertainChoice.DONE if call.evidence.sign is Sign.CHANGED else likely
        for choice, words, what_it_does in _CHOICES:
            button = self.button(words, primary=choice is likely)
            button.setToolTip(what_it_does)
            button.setAccessibleName(f"{words}: {name}")
            button.setAccessibleDescription(what_it_does)
            button.clicked.connect(partial(self._settle, choice))
            self.choices[choice] = button
        self.add_buttons(*self.choices.values())
        intents.refused.connect(self._unlock)

    def _show_evidence(self, evidence: CallEvidence) -> None:
        lines = [_file_line(file) for file in evidence.files]
        lines += [f"ran in {visible_name(folder)}" for folder in evidence.folders]
        if lines:
            self.add_text("What it was about to touch, then and now").setProperty("kind", "small")
            self.evidence = CallText("\n".join(lines), "Evidence", self)
            self.body.addWidget(self.evidence)

    def _settle(self, choice: UncertainChoice) -> None:
        """A card takes one choice: a second press finds it locked."""
        self.setEnabled(False)
        self._intents.settled.emit(self.call_id, choice.value)

    def _unlock(self) -> None:
        self.setEnabled(True)


def _file_line(file: FileEvidence) -> str:
    path = visible_name(file.path)
    if file.is_same:
        return f"{path}\n  then and now: {_version(file.now)}"
    return f"{path}\n  then: {_version(file.before)}\n  now:  {_version(file.now)}"


def _version(digest: str) -> str:
    if digest == ABSENT:
        return "not there"
    return "cannot be read" if digest == UNREADABLE else f"sha256 {digest[:_DIGEST_LENGTH]}…"
