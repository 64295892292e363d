"""What a report is made of, before it is written as HTML or Markdown: plain values."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct


class Heading(Struct, frozen=True):
    """The beginning of a part; `level` is 2 or 3."""

    level: int
    text: str


class Paragraph(Struct, frozen=True):
    """A text of one or several lines."""

    text: str
    is_problem: bool = False


class Table(Struct, frozen=True):
    """Rows of cells below titles; without titles each row is a name and a value."""

    rows: tuple[tuple[str, ...], ...]
    titles: tuple[str, ...] = ()


class Code(Struct, frozen=True):
    """A text that stays as it is; `language` is `json`, `diff` or `text`."""

    text: str
    language: str = "text"


Block = Heading | Paragraph | Table | Code


class Report(Struct, frozen=True):
    """A title and what follows it, in order."""

    title: str
    blocks: tuple[Block, ...]

    def texts(self) -> Iterator[str]:
        """Every text in it, as it is."""
        yield self.title
        for block in self.blocks:
            if isinstance(block, Table):
                for row in (block.titles, *block.rows):
                    yield from row
            else:
                yield block.text
