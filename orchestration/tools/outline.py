"""The outline of a code file: its declarations, found without parsing the language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

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
# Nobody writes longer lines by hand, and the patterns above could take very long over them.
_MAX_LINE_LENGTH = 2000


def outline(lines: Iterable[str], extension: str) -> Iterator[tuple[int, str]]:
    """Give (line number from 1, line) for each declaration; nothing where there is none.

    In languages with braces only declarations at depth 0 or 1 count; strings and comments are
    kept out of the count as far as one line shows them. `extension` is the file's, in lower case
    with its dot.
    """
    if extension not in CODE_EXTENSIONS:
        return
    depth = 0
    for number, line in enumerate(lines, start=1):
        text = line[:_MAX_LINE_LENGTH].strip()
        if not text or text.startswith(("//", "#")):
            continue
        if depth <= 1 and _DECLARATION.match(text):
            yield number, line.rstrip()
        if extension != ".py":
            code = _STRINGS_AND_COMMENTS.sub("", text) if len(line) <= _MAX_LINE_LENGTH else line
            depth = max(0, depth + code.count("{") - code.count("}"))
