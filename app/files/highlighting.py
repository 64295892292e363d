"""Which parts of a text are what, for colours; found out in a worker thread."""

from __future__ import annotations

from typing import NamedTuple

MOST_CHARACTERS = 1 << 19
"""Longer texts have no colours: finding them would take too long."""

_ROLES = (
    ("Comment", "comment"),
    ("String", "string"),
    ("Literal.String", "string"),
    ("Number", "number"),
    ("Literal.Number", "number"),
    ("Keyword", "keyword"),
    ("Name.Function", "name"),
    ("Name.Class", "name"),
    ("Name.Decorator", "name"),
    ("Name.Tag", "keyword"),
    ("Name.Attribute", "name"),
    ("Name.Builtin", "builtin"),
    ("Generic.Heading", "keyword"),
    ("Generic.Subheading", "keyword"),
    ("Generic.Inserted", "string"),
    ("Generic.Deleted", "deleted"),
    ("Generic.Emph", "name"),
    ("Generic.Strong", "name"),
)


class Part(NamedTuple):
    """A part of a line: where it begins, how long it is, and what it is."""

    start: int
    length: int
    role: str


def highlighted(name: str, text: str) -> list[list[Part]]:
    """The parts of each line that have a colour; nothing where the language is not known.

    Blocking, and not for the UI thread.
    """
    if len(text) > MOST_CHARACTERS:
        return []
    # Imported here: it takes a tenth of a second, and only files need it.
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_for_filename(name, text[:2000], stripnl=False, ensurenl=False)
    except ClassNotFound:
        return []
    lines: list[list[Part]] = [[]]
    column = 0
    for token, value in lexer.get_tokens(text):
        role = _role(str(token)[6:])  # without "Token."
        for index, piece in enumerate(value.split("\n")):
            if index:
                lines.append([])
                column = 0
            if piece and role:
                lines[-1].append(Part(column, units(piece), role))
            column += units(piece)
    return lines


def units(text: str) -> int:
    """How long a text is for Qt, which counts characters beyond the first 65,536 twice."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


_known: dict[str, str] = {}


def _role(token: str) -> str:
    role = _known.get(token)
    if role is None:
        found = [
            role for prefix, role in _ROLES if token == prefix or token.startswith(f"{prefix}.")
        ]
        role = _known[token] = found[0] if found else ""
    return role
