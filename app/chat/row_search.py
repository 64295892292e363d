"""Looking for words in the rows of a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from PySide6.QtGui import QTextCursor, QTextDocument

from app.chat.message_document import Mark
from app.chat.output_tree import is_tree
from app.chat.row_blocks import RowBlock
from app.chat.rows import ASSISTANT, OUTPUT, PROBLEMS, QUESTION, THINKING, Row
from app.chat.tool_words import pretty
from app.theme.tokens import Tokens

_MARKUP = re.compile(
    r"^ *(?:```|~~~)[^\n]*$|^#{1,6} |^ *[-*+] |^> |[*`]|!?\[([^\]\n]*)\]\([^)\n]*\)",
    re.MULTILINE,
)
"""What is not shown: fences, signs of headings, lists and quotes, stress, addresses of links."""

_SIGNS = frozenset("*`_[]#>~")


class Search:
    """What is looked for, where it was found, and the match that it stands at.

    Upper and lower case are the same. Matches are counted in what a row says, folded or not; what
    makes Markdown of it does not count.
    """

    def __init__(self) -> None:
        self.words = ""
        self._matches: list[tuple[Row, int]] = []
        self._at = -1

    def __len__(self) -> int:
        return len(self._matches)

    @property
    def number(self) -> int:
        """Which match it stands at, from 1; 0 without any."""
        return self._at + 1

    @property
    def current(self) -> tuple[Row, int] | None:
        """The row of that match, and which one in it, from 0."""
        return self._matches[self._at] if self._matches else None

    def look(self, words: str, rows: Iterable[Row]) -> None:
        """Look through these rows; it stands at the last match unless it can stay where it is."""
        stays = self.current if words == self.words else None
        self.words = words
        needle = words.casefold()
        # Whoever looks for such signs means them.
        is_plain = not _SIGNS.intersection(needle)
        self._matches = []
        for row in rows if needle else ():
            count = sum(text.casefold().count(needle) for text in _texts(row, is_plain))
            self._matches += [(row, number) for number in range(count)]
        self._at = len(self._matches) - 1
        if stays is not None and stays in self._matches:
            self._at = self._matches.index(stays)

    def step(self, by: int) -> None:
        """Go to the next or the previous match, round the end."""
        if self._matches:
            self._at = (self._at + by) % len(self._matches)

    def marks(self, row: Row, block: RowBlock, tokens: Tokens) -> Sequence[Mark]:
        """The matches in what a row shows; the one it stands at in a stronger colour."""
        place = block.document_at() if self.words else None
        if place is None:
            return ()
        found = self.current
        here = found[1] if found is not None and found[0] is row else -1
        cursors = self._cursors(place[0].document)
        here = min(here, len(cursors) - 1)
        return [
            (cursor, tokens.tint("waiting", 0.75 if number == here else 0.3))
            for number, cursor in enumerate(cursors)
        ]

    def depth(self, block: RowBlock, number: int) -> float:
        """How far below the top of a row a match is, in pixels."""
        place = block.document_at()
        if place is None:
            return 0.0
        cursors = self._cursors(place[0].document)
        if not cursors:
            return 0.0
        cursor = cursors[min(number, len(cursors) - 1)]
        layout = place[0].document.documentLayout()
        box = layout.blockBoundingRect(cursor.block())
        line = (
            cursor.block()
            .layout()
            .lineForTextPosition(cursor.selectionStart() - cursor.block().position())
        )
        return place[1].y() + box.top() + (line.y() if line.isValid() else 0.0)

    def _cursors(self, document: QTextDocument) -> list[QTextCursor]:
        cursors: list[QTextCursor] = []
        cursor = document.find(self.words, 0)
        while not cursor.isNull():
            cursors.append(cursor)
            cursor = document.find(self.words, cursor)
        return cursors


def _texts(row: Row, is_plain: bool) -> tuple[str, ...]:
    if row.kind == PROBLEMS:
        return ()
    if row.tool is not None and row.batch_id:
        return (row.tool.output,)
    if row.tool is not None:
        return (row.tool.arguments, row.tool.output)
    if is_plain and row.kind in (ASSISTANT, QUESTION, THINKING):
        return (_MARKUP.sub(r"\1", row.text),)
    if row.kind == OUTPUT and is_tree(row.payload):
        return tuple(_said(row.payload))
    return (row.text,)


def _said(value: object) -> Iterator[str]:
    """The names and values of a tree."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from _said(each)
    elif isinstance(value, list):
        for each in value:
            yield from _said(each)
    else:
        yield value if isinstance(value, str) else pretty(value)
