"""A report as Markdown, in which nothing that a model wrote can act as Markdown or HTML."""

from __future__ import annotations

import re

from orchestration.report.blocks import Block, Code, Heading, Paragraph, Report, Table

_ACTIVE = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&:=@$^\"'])")
_STRANGE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_TICKS = re.compile("`+")


def as_markdown(report: Report) -> str:
    """The whole text."""
    parts = [f"# {_line(report.title)}", *map(_block, report.blocks)]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * (2 if block.level <= 2 else 3)} {_line(block.text)}"
    if isinstance(block, Paragraph):
        shown = "  \n".join(_line(line) for line in _clean(block.text).splitlines())
        return f"**Problem:** {shown}" if block.is_problem else shown
    if isinstance(block, Table):
        return _table(block)
    return _code(block)


def _table(table: Table) -> str:
    titles = table.titles or ("", "")
    rule = tuple("---" for _ in titles)
    lines = [_row(titles), "| " + " | ".join(rule) + " |", *map(_row, table.rows)]
    return "\n".join(lines)


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(map(_line, cells)) + " |"


def _code(code: Code) -> str:
    text = _clean(code.text)
    longest = max(map(len, _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    language = code.language if code.language != "text" else ""
    return f"{fence}{language}\n{text}\n{fence}"


def _line(text: str) -> str:
    """A text in one line in which every sign is only that sign."""
    return _ACTIVE.sub(r"\\\1", " ".join(_clean(text).split()))


def _clean(text: str) -> str:
    return _STRANGE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
