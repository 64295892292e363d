"""The rows of one run's conversation, and which of them are shown."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from app.chat.rows import NOTICE, USER, Row


class Changes(NamedTuple):
    """What happened to the shown rows since the last time.

    `reset`: everything may be different. Otherwise rows were added at the end and the rows with
    the ids in `changed` show something else.
    """

    reset: bool
    changed: frozenset[int]


class ShownRow(NamedTuple):
    """A row in the view; `has_header`: the name of its node stands above it."""

    row: Row
    has_header: bool


class TranscriptModel(QObject):
    """Collects edits and tells of them in one go.

    Signals:
        changed: A `Changes`; emitted by `flush` alone.
        filter_changed: Other rows are shown now (the node id, or an empty text for all).
    """

    changed = Signal(object)
    filter_changed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []
        self.shown: list[ShownRow] = []
        self.filter = ""
        self._next_id = 1
        self._touched: set[int] = set()
        self._has_new = False
        self._is_reset = False

    def add(
        self,
        kind: str,
        node_id: str,
        label: str,
        time: float,
        text: str = "",
        *,
        actor_id: str | None = None,
    ) -> Row:
        """A new row at the end; of the node itself, or of the subagent `actor_id` of it."""
        row = Row(self._next_id, kind, node_id, label, time, text)
        if actor_id is not None:
            row.actor_id = actor_id
        self._next_id += 1
        self.rows.append(row)
        self._has_new = True
        self._show(row)
        return row

    def extend(self, row: Row, piece: str) -> None:
        """Let the row's text grow."""
        row.text += piece
        row.pieces.append(piece)
        self._touched.add(row.id)

    def touch(self, row: Row) -> None:
        """The row shows something else now."""
        self._touched.add(row.id)

    def remove(self, row: Row) -> None:
        """Take out a row that turned out to hold nothing."""
        self.rows.remove(row)
        self._rebuild()

    def clear(self) -> None:
        """Start anew."""
        self.rows = []
        self._rebuild()

    def set_filter(self, node_id: str) -> None:
        """Show the rows of one node only, or with an empty text all."""
        if node_id == self.filter:
            return
        self.filter = node_id
        self._rebuild()
        self.flush()
        self.filter_changed.emit(node_id)

    def nodes(self) -> list[tuple[str, str]]:
        """Id and label of every node that has rows, in order of appearance."""
        found: dict[str, str] = {}
        for row in self.rows:
            if row.node_id and (row.actor_id == row.node_id or row.node_id not in found):
                found[row.node_id] = row.label
        return list(found.items())

    def flush(self) -> None:
        """Tell of everything since the last time, if there was anything."""
        if not (self._is_reset or self._has_new or self._touched):
            return
        changes = Changes(self._is_reset, frozenset(self._touched))
        self._touched = set()
        self._has_new = self._is_reset = False
        self.changed.emit(changes)

    def _show(self, row: Row) -> None:
        if self.filter and row.node_id not in (self.filter, ""):
            return
        before = self.shown[-1].row if self.shown else None
        self.shown.append(ShownRow(row, _has_header(row, before)))

    def _rebuild(self) -> None:
        self.shown = []
        self._is_reset = True
        for row in self.rows:
            self._show(row)


def _has_header(row: Row, before: Row | None) -> bool:
    """The name stands above the first of a node's rows, and again after another's or an answer."""
    if not row.node_id or row.kind in (USER, NOTICE):
        return False
    return before is None or before.actor_id != row.actor_id or before.kind in (USER, NOTICE)
