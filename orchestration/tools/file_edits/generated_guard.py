"""Files that a program wrote: an edit would be lost the next time it runs."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_HEADER_BYTES = 1024
_HEADER_LINES = 40

_NAME = re.compile(
    r"""
    zz_generated\..+
    | .+\.pb\.(?:go|cc|h|c|js|ts)
    | .+_pb2(?:_grpc)?\.py
    | (?:.+\.gen|generated)\.(?:go|ts|js|py)
    | .+\.(?:swagger|openapi)\.json
    | .+\.mocks?\.(?:go|ts|js)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MARKER = re.compile(
    r"""
    (?<![\w.])@generated\b
    | \bcode\ generated\ (?:by|from)\b
    | \b(?:this\ )?file\ (?:is|was|has\ been)\ (?:automatically|auto-?)\s?generated\b
    | \b(?:automatically|auto-?)\s?generated\ (?:by|from|file|code|--?\ do\ not)\b
    | \bgenerated\ by\ (?:the\ )?(?:protocol\ buffer\ compiler|protoc|grpc|thrift|swagger|openapi
        |sqlc|mockgen|mockery|bindgen|cbindgen|cython|swig|flex|bison|antlr|graphql-codegen|buf|ent
        |wire|stringer|controller-gen|deepcopy-gen|openapi-generator|django)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_COMMENT = re.compile(r"\s*(?://|/\*|\*|#|--|;|%|<!--|\"\"\"|'''|\(\*|\{-|rem\b|$)", re.IGNORECASE)
_OPENS = {"/*": "*/", "<!--": "-->", '"""': '"""', "'''": "'''", "(*": "*)", "{-": "-}"}


def why_generated(label: str, data: bytes | None) -> str | None:
    """Why the file is taken to be generated, `None` where it is not.

    Args:
        label: its path; only the name counts.
        data: what is in it; the comments at its beginning are looked at.
    """
    name = PurePosixPath(label).name
    if _NAME.fullmatch(name):
        return f"files named like '{name}' are generated"
    if data is None:
        return None
    header = data[:_HEADER_BYTES].replace(b"\0", b"").decode("utf-8", "ignore")
    if marker := _MARKER.search("\n".join(_comments(header.removeprefix("\ufeff")))):
        return f"its header says '{' '.join(marker[0].split())}'"
    return None


def _comments(header: str) -> list[str]:
    """The lines of comment, and blank ones, that the text begins with."""
    found: list[str] = []
    closing = ""
    for line in header.splitlines()[:_HEADER_LINES]:
        if not closing and not _COMMENT.match(line) and not line.startswith("<?"):
            break
        found.append(line)
        rest = line.strip()
        if closing:
            if closing in rest:
                closing = ""
            continue
        for opening, end in _OPENS.items():
            if rest.startswith(opening) and end not in rest[len(opening) :]:
                closing = end
    return found
