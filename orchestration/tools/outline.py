"""The outline of a code file: its declarations, found without parsing the language."""

from __future__ import annotations

import re
from collections.abc import Sequence

CODE_EXTENSIONS = frozenset({".rs", ".ts", ".tsx", ".js", ".jsx", ".py", ".go", ".java", ".kt"})

_DECLARATION = re.compile(
    r"(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|internal|static|final|"
    r"abstract|sealed|async|unsafe|const|data|open|override|declare)\s+)*"
    r"(?:fn|struct|enum|trait|impl|mod|class|interface|type|def|func|fun|function|object|record)\b"
    r"|export\s"
)
_STRINGS_AND_COMMENTS = re.compile(
    r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|//.*|/\*.*?\*/"""
)


def outline(lines: Sequence[str], extension: str) -> list[tuple[int, str]]:
    """Give (line number from 1, line) for each declaration; empty where none is found.

    In languages with braces only declarations at depth 0 or 1 count; strings and comments are
    kept out of the count as far as one line shows them.
    """
    if extension not in CODE_EXTENSIONS:
        return []
    found: list[tuple[int, str]] = []
    depth = 0
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith(("//", "#")):
            continue
        if depth <= 1 and _DECLARATION.match(text):
            found.append((number, line.rstrip()))
        if extension != ".py":
            code = _STRINGS_AND_COMMENTS.sub("", text)
            depth = max(0, depth + code.count("{") - code.count("}"))
    return found
