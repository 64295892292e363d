"""The screen of a terminal: rows, cursor, scrolling, and the lines that have scrolled away."""

from __future__ import annotations

from collections import deque

from app.terminal.cells import MOST_MARKS, PLAIN, Row, width_of
from app.terminal.reflow import laid_out

SCROLLBACK = 5000
"""So many lines that have scrolled away are kept."""
LEAST_COLUMNS, LEAST_LINES = 2, 1
MOST_COLUMNS, MOST_LINES = 1000, 400

_LINE_DRAWING = dict(
    zip(
        map(ord, "`afgjklmnopqrstuvwxyz{|}~"),
        "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·",
        strict=True,
    )
)


class Cursor:
    """Where the next character goes, and how it is drawn."""

    __slots__ = ("charsets", "column", "is_pending", "line", "shift", "style")

    def __init__(self) -> None:
        self.line = self.column = 0
        self.style = PLAIN
        self.charsets = ["B", "B"]
        self.shift = 0
        self.is_pending = False
        """The last column was written; the next character begins a row of its own."""

    def copy(self) -> Cursor:
        """The same again."""
        other = Cursor()
        other.line, other.column, other.style = self.line, self.column, self.style
        other.charsets, other.shift = list(self.charsets), self.shift
        other.is_pending = self.is_pending
        return other


class Screen:
    """Cells and what can be done to them. Lines and columns count from 0.

    Attributes:
        rows: What is on screen, from top to bottom.
        history: What has scrolled away, the oldest first.
        dropped: How many lines were forgotten, so that a line keeps its number.
        is_alternate: A program has the screen to itself; nothing of it goes into the history.
    """

    def __init__(self, columns: int, lines: int) -> None:
        self.columns, self.lines = columns, lines
        self.rows = [Row(columns) for _ in range(lines)]
        self.history: deque[Row] = deque(maxlen=SCROLLBACK)
        self.dropped = 0
        self.cursor = Cursor()
        self.is_alternate = False
        self.wraps = True
        self.inserts = False
        self.is_relative = False
        self._saved: Cursor | None = None
        self._put_aside: list[Row] = []
        self._aside_cursor = Cursor()
        self.top, self.bottom = 0, lines - 1
        self.tabs = set(range(8, MOST_COLUMNS, 8))
        self._last = " "

    @property
    def first_line(self) -> int:
        """The number of the oldest line that is kept."""
        return self.dropped

    @property
    def end_line(self) -> int:
        """One more than the number of the lowest line."""
        return self.dropped + len(self.history) + self.lines

    def line(self, number: int) -> Row:
        """A line by its number: those of the history come before those on screen."""
        index = number - self.dropped
        kept = len(self.history)
        return self.history[index] if index < kept else self.rows[index - kept]

    def resize(self, columns: int, lines: int) -> None:
        """Change the size; text that was wrapped is wrapped anew, unless a program has it all."""
        columns = min(max(columns, LEAST_COLUMNS), MOST_COLUMNS)
        lines = min(max(lines, LEAST_LINES), MOST_LINES)
        if (columns, lines) == (self.columns, self.lines):
            return
        if self.is_alternate:
            shown, own = self.rows, self.cursor
            self.rows, self.cursor = self._put_aside, self._aside_cursor
            self._reflow(columns, lines)
            self._put_aside, self._aside_cursor = self.rows, self.cursor
            del shown[lines:]
            shown += [Row(columns) for _ in range(lines - len(shown))]
            for row in shown:
                row.fit(columns)
            self.rows, self.cursor = shown, own
        else:
            self._reflow(columns, lines)
        self.columns, self.lines = columns, lines
        self.top, self.bottom = 0, lines - 1
        self._bound_cursor()

    def _reflow(self, columns: int, lines: int) -> None:
        cursor = self.cursor
        kept = len(self.history)
        rows = [*self.history, *self.rows]
        if columns != self.columns:
            laid = laid_out(rows, columns, kept + cursor.line, cursor.column)
            rows, at = laid.rows, laid.cursor_row
            cursor.column, cursor.is_pending = laid.cursor_column, False
        else:
            at = kept + cursor.line
        end = len(rows)
        while end > at + 1 and end > lines and not rows[end - 1].used():
            end -= 1
        del rows[end:]
        start = max(0, len(rows) - lines)
        if at < start:  # there is more below the cursor than fits
            start = at
        self.history.clear()
        self._forget_into(rows[:start])
        shown = rows[start : start + lines]
        shown += [Row(columns) for _ in range(lines - len(shown))]
        self.rows = shown
        cursor.line = at - start

    def _forget_into(self, rows: list[Row]) -> None:
        for row in rows:
            self._keep(row)

    def _keep(self, row: Row) -> None:
        if len(self.history) == SCROLLBACK:
            self.dropped += 1
        self.history.append(row)

    def _bound_cursor(self) -> None:
        cursor = self.cursor
        cursor.line = min(max(cursor.line, 0), self.lines - 1)
        cursor.column = min(max(cursor.column, 0), self.columns - 1)

    def draw(self, text: str) -> None:
        """Write printable characters at the cursor."""
        cursor = self.cursor
        if cursor.charsets[cursor.shift] == "0":
            text = text.translate(_LINE_DRAWING)
        self._last = text[-1]
        if not text.isascii() or self.inserts:
            for character in text:
                self._draw_one(character)
            return
        start, count = 0, len(text)
        while start < count:
            if cursor.is_pending:
                self._wrap()
            room = self.columns - cursor.column
            if not self.wraps and count - start > room:
                text = text[: start + room - 1] + text[-1]
                count = len(text)
            part = text[start : start + room]
            row, column, end = self.rows[cursor.line], cursor.column, cursor.column + len(part)
            row.split_wide(column)
            row.split_wide(end)
            row.text[column:end] = part
            row.styles[column:end] = [cursor.style] * len(part)
            start += len(part)
            self._advance(end)

    def _draw_one(self, character: str) -> None:
        cursor = self.cursor
        width = width_of(character)
        if width == 0:
            self._put_onto(character)
            return
        if cursor.is_pending or (width == 2 and cursor.column == self.columns - 1 and self.wraps):
            self._wrap()
        if self.inserts:
            self.insert_blanks(width)
        row, column = self.rows[cursor.line], cursor.column
        row.split_wide(column)
        row.split_wide(column + width)
        row.text[column], row.styles[column] = character, cursor.style
        if width == 2 and column + 1 < self.columns:
            row.text[column + 1], row.styles[column + 1] = "", cursor.style
        self._advance(column + width)

    def _put_onto(self, mark: str) -> None:
        cursor = self.cursor
        column = cursor.column if cursor.is_pending else cursor.column - 1
        row = self.rows[cursor.line]
        if column > 0 and row.text[column] == "":
            column -= 1
        if column >= 0 and len(row.text[column]) < MOST_MARKS:
            row.text[column] += mark

    def _advance(self, column: int) -> None:
        cursor = self.cursor
        if column >= self.columns:
            cursor.column, cursor.is_pending = self.columns - 1, self.wraps
        else:
            cursor.column = column

    def _wrap(self) -> None:
        self.rows[self.cursor.line].is_wrapped = True
        self.carriage_return()
        self.line_feed()

    def repeat(self, count: int) -> None:
        """Write the last character so many times again."""
        self.draw(self._last * min(count, self.columns * self.lines))

    def line_feed(self) -> None:
        """Go down one line; at the bottom everything goes up."""
        cursor = self.cursor
        cursor.is_pending = False
        if cursor.line == self.bottom:
            self.scroll_up(1)
        elif cursor.line < self.lines - 1:
            cursor.line += 1

    def reverse_feed(self) -> None:
        """Go up one line; at the top everything goes down."""
        cursor = self.cursor
        cursor.is_pending = False
        if cursor.line == self.top:
            self.scroll_down(1)
        elif cursor.line > 0:
            cursor.line -= 1

    def carriage_return(self) -> None:
        """Go to the first column."""
        self.cursor.column, self.cursor.is_pending = 0, False

    def go(self, line: int, column: int) -> None:
        """Go to a place; what is outside means the edge."""
        cursor = self.cursor
        if self.is_relative:
            line = min(max(line, 0) + self.top, self.bottom)
        cursor.line, cursor.column, cursor.is_pending = line, column, False
        self._bound_cursor()

    def move(self, lines: int, columns: int) -> None:
        """Go so many lines and columns on; the scrolling region is left at no edge."""
        cursor = self.cursor
        cursor.is_pending = False
        line = cursor.line + lines
        if lines < 0 and cursor.line >= self.top:
            line = max(line, self.top)
        elif lines > 0 and cursor.line <= self.bottom:
            line = min(line, self.bottom)
        cursor.line, cursor.column = line, cursor.column + columns
        self._bound_cursor()

    def tab(self, count: int = 1) -> None:
        """Go to the next stop, or `-count` stops back."""
        cursor = self.cursor
        for _ in range(min(abs(count), self.columns)):
            if count > 0:
                later = [stop for stop in self.tabs if cursor.column < stop < self.columns]
                cursor.column = min(later, default=self.columns - 1)
            else:
                cursor.column = max([stop for stop in self.tabs if stop < cursor.column], default=0)
        cursor.is_pending = False

    def set_region(self, top: int, bottom: int) -> None:
        """Let only these lines scroll."""
        bottom = min(bottom, self.lines - 1)
        if 0 <= top < bottom:
            self.top, self.bottom = top, bottom
            self.go(0, 0)

    def scroll_up(self, count: int) -> None:
        """Take lines away at the top of the region and put blank ones below."""
        keeps = self.top == 0 and not self.is_alternate
        for _ in range(min(count, self.lines)):
            row = self.rows.pop(self.top)
            if keeps:
                self._keep(row)
            self.rows.insert(self.bottom, self._blank())

    def scroll_down(self, count: int) -> None:
        """Take lines away at the bottom of the region and put blank ones above."""
        for _ in range(min(count, self.lines)):
            del self.rows[self.bottom]
            self.rows.insert(self.top, self._blank())

    def insert_lines(self, count: int) -> None:
        """Put blank lines at the cursor; those at the bottom of the region go."""
        line = self.cursor.line
        if self.top <= line <= self.bottom:
            for _ in range(min(count, self.bottom - line + 1)):
                del self.rows[self.bottom]
                self.rows.insert(line, self._blank())
            self.carriage_return()

    def delete_lines(self, count: int) -> None:
        """Take lines away at the cursor; blank ones come at the bottom of the region."""
        line = self.cursor.line
        if self.top <= line <= self.bottom:
            for _ in range(min(count, self.bottom - line + 1)):
                del self.rows[line]
                self.rows.insert(self.bottom, self._blank())
            self.carriage_return()

    def insert_blanks(self, count: int) -> None:
        """Push what is right of the cursor to the right."""
        row, column = self.rows[self.cursor.line], self.cursor.column
        count = min(count, self.columns - column)
        row.split_wide(column)
        row.text[column:column] = [" "] * count
        row.styles[column:column] = [self._ground] * count
        row.fit(self.columns)

    def delete_cells(self, count: int) -> None:
        """Take cells away at the cursor."""
        row, column = self.rows[self.cursor.line], self.cursor.column
        count = min(count, self.columns - column)
        row.split_wide(column)
        row.split_wide(column + count)
        del row.text[column : column + count], row.styles[column : column + count]
        row.text += [" "] * count
        row.styles += [self._ground] * count

    def erase(self, line: int, start: int, end: int) -> None:
        """Blank the cells of a line from `start` up to `end`."""
        row = self.rows[line]
        end = min(end, self.columns)
        if start >= end:
            return
        row.split_wide(start)
        row.split_wide(end)
        row.text[start:end] = [" "] * (end - start)
        row.styles[start:end] = [self._ground] * (end - start)
        if end == self.columns:
            row.is_wrapped = False

    def erase_lines(self, start: int, end: int) -> None:
        """Blank whole lines."""
        for line in range(start, end):
            self.rows[line] = self._blank()

    def forget_history(self) -> None:
        """Forget what has scrolled away."""
        self.dropped += len(self.history)
        self.history.clear()

    def save_cursor(self) -> None:
        """Remember where the cursor is and how it writes."""
        self._saved = self.cursor.copy()

    def restore_cursor(self) -> None:
        """Go back to what was remembered."""
        self.cursor = self._saved.copy() if self._saved is not None else Cursor()
        self._bound_cursor()

    def show_alternate(self, is_on: bool) -> None:
        """Give a program the screen to itself, or show again what was there before."""
        if is_on == self.is_alternate:
            return
        self.is_alternate = is_on
        if is_on:
            self._put_aside, self._aside_cursor = self.rows, self.cursor.copy()
            self.rows = [Row(self.columns) for _ in range(self.lines)]
        else:
            self.rows, self.cursor = self._put_aside, self._aside_cursor
            self._put_aside = []
        self.top, self.bottom = 0, self.lines - 1
        self._bound_cursor()

    @property
    def _ground(self) -> int:
        """The style of cells that are made blank: the background alone goes on."""
        return self.cursor.style & (((1 << 25) - 1) << 25)

    def _blank(self) -> Row:
        return Row(self.columns, self._ground)
