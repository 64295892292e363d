"""What a call has changed in files: the diff, and a button that takes it back."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.approvals.call_views import CallText, DiffText
from app.chat.cards import Card
from app.chat.intents import ChatIntents
from app.chat.rows import Row, ToolLine
from app.kit.formats import duration_text, plural
from app.kit.visible import visible
from app.theme.theme import Theme


class EditCard(Card):
    """The row is that of the call.

    Attributes:
        diff: Every line that is different, file by file.
    """

    keeps_input = False

    def __init__(self, row: Row, intents: ChatIntents, theme: Theme, parent: QWidget) -> None:
        tool = row.tool
        assert tool is not None
        state = "bars" if row.is_reverted else "check"
        super().__init__("card", state, "idle" if row.is_reverted else "done", "", theme, parent)
        self._row = row
        self._shown = (tool.output, tool.status, row.is_reverted)
        self._intents = intents
        self.title.setText(_title(tool, row.is_reverted))
        self.title.setProperty("kind", "body")
        self.setAccessibleName(self.title.text())
        self.open = self.button("Open")
        self.open.setAccessibleName(f"Open {tool.path}")
        self.open.setVisible(bool(tool.path))
        self.open.clicked.connect(self._open)
        self.revert = self.button("Revert")
        self.revert.setAccessibleName(f"Revert the change of {tool.path or tool.verb}")
        self.revert.setEnabled(not row.is_reverted)
        self.revert.clicked.connect(self._revert)
        self.head.addWidget(self.open)
        self.head.addWidget(self.revert)
        self.diff = DiffText(_readable(tool.output), f"{self.title.text()}, as a diff", theme, self)
        self.body.addWidget(self.diff)
        if self.diff.is_long:
            self._say_length(self.diff)
        intents.refused.connect(self._unlock)

    @property
    def is_current(self) -> bool:
        """Whether it still shows what its row holds."""
        tool = self._row.tool
        assert tool is not None
        return self._shown == (tool.output, tool.status, self._row.is_reverted)

    def show_found(self, words: str, number: int) -> None:
        """In the diff."""
        self.diff.show_found(words, number, self.theme.tokens)

    def _say_length(self, view: CallText) -> None:
        lines = plural(view.blockCount(), "line")
        self.add_text(f"{lines} in all: scroll to see the rest").setProperty("kind", "small")

    def _open(self) -> None:
        assert self._row.tool is not None
        self._intents.file_opened.emit(self._row.tool.path, _first_line(self._row.tool.output))

    def _revert(self) -> None:
        """A card asks once: a second press finds it locked."""
        self.revert.setEnabled(False)
        self._intents.reverted.emit(self._row.batch_id)

    def _unlock(self) -> None:
        self.revert.setEnabled(not self._row.is_reverted)


def changed_lines(diff: str) -> tuple[int, int]:
    """How many lines a numbered diff adds and removes."""
    added = removed = 0
    for line in diff.split("\n"):
        number, bar, _ = line[1:].partition("|")
        if bar and number.isdigit():
            added += line[0] == "+"
            removed += line[0] == "-"
    return added, removed


def _readable(output: str) -> str:
    """The diffs without the tags that only the model needs; one file is named above already."""
    lines = [line for line in output.split("\n") if not line.startswith("\u00b6")]
    heads = [line for line in lines if line[:1] not in ("", " ", "+", "-", "\\", "[")]
    if len(heads) == 1 and lines[0] == heads[0] and len(lines) > 1:
        del lines[0]
    return "\n".join(lines)


def _title(tool: ToolLine, is_reverted: bool) -> str:
    added, removed = changed_lines(tool.output)
    parts = [f"{tool.verb} {visible(tool.target)}".strip(), f"+{added} \u2212{removed}"]
    if tool.seconds is not None:
        parts.append(duration_text(tool.seconds))
    if is_reverted:
        parts.append("reverted")
    return " · ".join(parts)


def _first_line(diff: str) -> int:
    """The number of the first line that is different; 0 where none is named."""
    for line in diff.split("\n"):
        number, bar, _ = line[1:].partition("|")
        if bar and line[:1] in ("+", "-") and number.isdigit():
            return int(number)
    return 0
