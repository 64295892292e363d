"""The rows of one run's conversation, and which of them are shown."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from app.chat.message_parts import Part, next_cut, parts_of, seam
from app.chat.rows import ASSISTANT, NOTICE, SPLIT, USER, Row


class Changes(NamedTuple):
    """What happened to the shown rows since the last time.

    `reset`: rows were put in or taken out, none of them before the place `start`. Otherwise rows
    were added at the end. The rows with the ids in `changed` show something else.
    """

    reset: bool
    changed: frozenset[int]
    start: int = 0


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
        self._labels: dict[str, str] = {}
        self._next_id = 1
        self._touched: set[int] = set()
        self._has_new = False
        self._stale_from: int | None = None
        self._taken_out: set[int] = set()
        self._reset_from: int | None = None

    def add(
        self,
        kind: str,
        node_id: str,
        label: str,
        time: float,
        text: str = "",
        *,
        actor_id: str | None = None,
        head: Row | None = None,
    ) -> Row:
        """A new row at the end; of the node itself, or of the subagent `actor_id` of it.

        With `head` it is a call that goes into the stack which begins with that row. A long
        message gets further rows; the first of them is given.
        """
        is_split = kind in SPLIT
        parts = parts_of(text, is_markdown=kind == ASSISTANT) if is_split else [Part(text)]
        row = self._new(kind, node_id, label, time, parts[0].text, actor_id)
        row.opening, row.closing = parts[0].opening, parts[0].closing
        if head is not None:
            head.stack = head.stack or [head]
            head.stack.append(row)
            row.head = head.head = head
            self._touched.add(head.id)
        self._append(row)
        last = row
        for part in parts[1:]:
            last = self._go_on(last, part.text)
            last.opening, last.closing = part.opening, part.closing
        return row

    def extend(self, row: Row, piece: str) -> Row:
        """Let the text grow; gives the row that grows from now on, which may be a further one."""
        row.text += piece
        self._touched.add(row.id)
        while row.kind in SPLIT and (at := next_cut(row.text, row.opening)):
            rest, row.text = row.text[at:], row.text[:at]
            opening = ""
            if row.kind == ASSISTANT:
                opening, row.closing = seam(row.text, row.opening)
            row.is_open = False
            row = self._go_on(row, rest)
            row.opening, row.is_open = opening, True
        return row

    def settle(self, row: Row, text: str) -> None:
        """The message that `row` is a part of is complete, and reads `text`."""
        first = row
        while first.before is not None:
            first = first.before
        is_split = first.kind in SPLIT
        parts = parts_of(text, is_markdown=first.kind == ASSISTANT) if is_split else [Part(text)]
        last = first
        for index, part in enumerate(parts):
            if index:
                last = last.after or self._go_on(last, "")
            if last.is_open or (last.text, last.opening, last.closing) != part:
                last.text, last.opening, last.closing = part
                last.is_open = False
                self._touched.add(last.id)
        surplus, last.after = last.after, None
        while surplus is not None:
            self.remove(surplus)
            surplus = surplus.after

    def touch(self, row: Row) -> None:
        """The row shows something else now."""
        self._touched.add((row.head or row).id)
        self._touched.add(row.id)

    def remove(self, row: Row) -> None:
        """Take out a row that turned out to hold nothing."""
        # From the end: it is among the last ones.
        for index in range(len(self.rows) - 1, -1, -1):
            if self.rows[index] is row:
                del self.rows[index]
                self._taken_out.add(row.id)
                self._spoil(index)
                break

    def clear(self) -> None:
        """Start anew."""
        self.rows = []
        self._labels = {}
        self._spoil(0)

    def set_filter(self, node_id: str) -> None:
        """Show the rows of one node only, or with an empty text all."""
        if node_id == self.filter:
            return
        self.filter = node_id
        self._spoil(0)
        self.flush()
        self.filter_changed.emit(node_id)

    def fold_stack(self, head: Row, is_folded: bool) -> None:
        """Show of a stack of calls one line, or every call."""
        if head.is_stack_folded is not is_folded:
            head.is_stack_folded = is_folded
            self._touched.add(head.id)
            self._spoil(0)
            self.flush()

    def nodes(self) -> list[tuple[str, str]]:
        """Id and label of every node that has rows, in order of appearance."""
        return list(self._labels.items())

    def flush(self) -> None:
        """Tell of everything since the last time, if there was anything."""
        if self._stale_from is not None:
            self._rebuild(self._stale_from)
        start = self._reset_from
        if not (start is not None or self._has_new or self._touched):
            return
        changes = Changes(start is not None, frozenset(self._touched), start or 0)
        self._touched = set()
        self._has_new = False
        self._reset_from = None
        self.changed.emit(changes)

    def _new(
        self, kind: str, node_id: str, label: str, time: float, text: str, actor_id: str | None
    ) -> Row:
        row = Row(self._next_id, kind, node_id, label, time, text)
        if actor_id is not None:
            row.actor_id = actor_id
        self._next_id += 1
        if node_id and (row.actor_id == node_id or node_id not in self._labels):
            self._labels[node_id] = label
        return row

    def _append(self, row: Row) -> None:
        self.rows.append(row)
        self._has_new = True
        self._show(row)

    def _go_on(self, row: Row, text: str) -> Row:
        """A further row for the same message, right behind."""
        following = self._new(row.kind, row.node_id, row.label, row.time, text, row.actor_id)
        following.before, row.after = row, following
        if self.rows[-1] is row:
            self._append(following)
            return following
        for index in range(len(self.rows) - 1, -1, -1):
            if self.rows[index] is row:
                self.rows.insert(index + 1, following)
                self._spoil(index + 1)
                break
        return following

    def _show(self, row: Row) -> None:
        if self.filter and row.node_id not in (self.filter, ""):
            return
        if row.head is not None and row.head is not row and row.head.is_stack_folded:
            return
        before = self.shown[-1].row if self.shown else None
        self.shown.append(ShownRow(row, _has_header(row, before)))

    def _spoil(self, index: int) -> None:
        """What is shown from this one of all rows on is not true any more."""
        self._stale_from = index if self._stale_from is None else min(self._stale_from, index)

    def _rebuild(self, index: int) -> None:
        """Show anew what stands from one row on; in a long conversation that is the last few."""
        rows = self.rows[index:]
        if index:
            wrong = {row.id for row in rows} | self._taken_out
            while self.shown and self.shown[-1].row.id in wrong:
                self.shown.pop()
        else:
            self.shown = []
        before = len(self.shown)
        self._reset_from = before if self._reset_from is None else min(self._reset_from, before)
        self._stale_from = None
        self._taken_out = set()
        for row in rows:
            self._show(row)


def _has_header(row: Row, before: Row | None) -> bool:
    """The name stands above the first of a node's rows, and again after another's or an answer."""
    if not row.node_id or row.kind in (USER, NOTICE) or row.before is not None:
        return False
    return before is None or before.actor_id != row.actor_id or before.kind in (USER, NOTICE)
