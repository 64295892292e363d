"""Lay the rows of a terminal out anew for another width, without losing or breaking lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from app.terminal.cells import PLAIN, Row, width_of


class Laid(NamedTuple):
    """Rows of the new width, and where the cursor has come to: its row and column."""

    rows: list[Row]
    cursor_row: int
    cursor_column: int


def laid_out(rows: Iterable[Row], columns: int, cursor_row: int, cursor_column: int) -> Laid:
    """Join what was wrapped and wrap it again.

    Args:
        rows: the rows from the oldest to the lowest.
        columns: the new width.
        cursor_row: the number of the cursor's row among `rows`.
        cursor_column: its column there.
    """
    laid: list[Row] = []
    text: list[str] = []
    styles: list[int] = []
    mark: int | None = None
    new_row = new_column = 0
    for number, row in enumerate(rows):
        if not (text or row.is_wrapped or number == cursor_row) and row.used() <= columns:
            row.fit(columns)
            laid.append(row)
            continue
        keep = len(row.text) if row.is_wrapped else row.used()
        if number == cursor_row:
            mark = len(text) + cursor_column
            keep = max(keep, min(cursor_column, len(row.text)))
        text += row.text[:keep]
        styles += row.styles[:keep]
        if row.is_wrapped:
            continue
        first = len(laid)
        starts = _wrap(text, styles, columns, laid)
        if mark is not None:
            place = max(index for index, start in enumerate(starts) if start <= mark)
            new_row, new_column = first + place, mark - starts[place]
            mark = None
        text, styles = [], []
    if text or mark is not None:
        first = len(laid)
        starts = _wrap(text, styles, columns, laid)
        if mark is not None:
            place = max(index for index, start in enumerate(starts) if start <= mark)
            new_row, new_column = first + place, mark - starts[place]
    return Laid(laid, new_row, min(new_column, columns - 1))


def _wrap(text: list[str], styles: list[int], columns: int, into: list[Row]) -> list[int]:
    """Add one line as rows; gives the cell that each of them begins with."""
    starts = [0]
    start = 0
    while len(text) - start > columns:
        end = start + columns
        if text[end] == "" and end - 1 > start and width_of(text[end - 1][:1] or " ") == 2:
            end -= 1  # a wide character stays whole
        row = Row(0)
        row.text, row.styles = text[start:end], styles[start:end]
        row.fit(columns)
        row.is_wrapped = True
        into.append(row)
        start = end
        starts.append(start)
    row = Row(0)
    row.text, row.styles = text[start:], styles[start:]
    missing = columns - len(row.text)
    row.text += [" "] * missing
    row.styles += [PLAIN] * missing
    into.append(row)
    return starts
