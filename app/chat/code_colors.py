"""Colours for code: a block is read a little at a time, so that no frame waits for it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextDocument, QTextFormat, QTextLayout

from app.chat.message_document import MessageDocument
from app.theme.tokens import Tokens

_SLICE_S = 0.004
_PAUSE_MS = 8
_MOST = 40_000
"""Longer code stays in one colour, in characters."""

_SHADES = (
    ("Comment", "text_second", 0.0),
    ("Keyword", "running", 0.25),
    ("Literal.String", "done", 0.4),
    ("Literal.Number", "waiting", 0.45),
    ("Name.Function", "running", 0.6),
    ("Name.Class", "running", 0.6),
    ("Name.Decorator", "waiting", 0.45),
    ("Name.Tag", "running", 0.25),
    ("Name.Attribute", "waiting", 0.45),
    ("Generic.Deleted", "failed", 0.3),
    ("Generic.Inserted", "done", 0.4),
)
"""Kind of token, the colour it begins with, and how far that is moved towards the text's."""


class CodeColors(QObject):
    """Colours the code blocks of those messages that were asked for.

    Signals:
        changed: Something has got its colours.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._work: deque[Iterator[bool]] = deque()
        self._timer = QTimer(self)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(self._go_on)

    @property
    def is_busy(self) -> bool:
        """Whether there is code that has no colours yet."""
        return bool(self._work)

    def want(self, text: MessageDocument, tokens: Tokens) -> None:
        """Colour this message soon, once."""
        if text.wants_colors:
            text.wants_colors = False
            self._work.append(_steps(text, tokens))
            self._timer.start()

    def clear(self) -> None:
        """Forget what was asked for."""
        self._work.clear()
        self._timer.stop()

    def _go_on(self) -> None:
        end = time.perf_counter() + _SLICE_S
        while self._work and time.perf_counter() < end:
            if next(self._work[0], None) is None:
                self._work.popleft()
                self.changed.emit()
        if not self._work:
            self._timer.stop()


def _steps(text: MessageDocument, tokens: Tokens) -> Iterator[bool]:
    document = text.document
    revision = document.revision()
    for number in range(text.code_count):
        first, language = text.code_start(number)
        code = text.code_text(number)
        if not language or len(code) > _MOST:
            continue
        yield True
        lexer = _lexer(language)
        if lexer is None:
            continue
        yield True
        spans: dict[int, list[tuple[int, int, Any]]] = {}
        row, column = 0, 0
        for count, (_, kind, value) in enumerate(lexer.get_tokens_unprocessed(code)):
            for index, piece in enumerate(value.split("\n")):
                if index:
                    row, column = row + 1, 0
                if piece.strip():
                    spans.setdefault(row, []).append((column, len(piece), kind))
                column += len(piece)
            if count % 24 == 0:
                yield True
                if document.revision() != revision:
                    return
        yield from _put(document, first, spans, tokens)


def _put(
    document: QTextDocument,
    first: int,
    spans: dict[int, list[tuple[int, int, Any]]],
    tokens: Tokens,
) -> Iterator[bool]:
    shades: dict[Any, QTextCharFormat | None] = {}
    for row, found in spans.items():
        block = document.findBlockByNumber(first + row)
        ranges = []
        for start, length, kind in found:
            if kind not in shades:
                shades[kind] = _shade(str(kind), tokens)
            form = shades[kind]
            if form is not None:
                each = QTextLayout.FormatRange()
                each.start, each.length, each.format = start, length, form
                ranges.append(each)
        if ranges and block.isValid():
            block.layout().setFormats(ranges)
            document.markContentsDirty(block.position(), block.length())
        yield True


def _lexer(language: str) -> Any:
    # Not needed for the first frame, and never where there is no code.
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language.strip().lower())
    except ClassNotFound:
        return None


def _shade(kind: str, tokens: Tokens) -> QTextCharFormat | None:
    kind = kind.removeprefix("Token.")
    for name, token, share in _SHADES:
        if kind.startswith(name):
            form = QTextCharFormat()
            form.setForeground(mixed(tokens.color(token), tokens.color("text"), share))
            form.setProperty(QTextFormat.Property.FontItalic, kind.startswith("Comment"))
            return form
    return None


def mixed(color: QColor, other: QColor, share: float) -> QColor:
    """The first colour with a share of the other, from 0 to 1."""
    kept = 1.0 - share
    return QColor.fromRgbF(
        color.redF() * kept + other.redF() * share,
        color.greenF() * kept + other.greenF() * share,
        color.blueF() * kept + other.blueF() * share,
    )
