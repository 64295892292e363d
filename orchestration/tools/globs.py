"""Path patterns: `*`, `?`, `[abc]`, `{a,b}`, and `**` for any number of folders."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

MAX_LENGTH = 1000
MAX_ALTERNATIVES = 64
MAGIC = frozenset("*?[]{}")

_INNERMOST_BRACES = re.compile(r"\{([^{}]*)\}")
_ANY_FOLDERS = None


class BadGlob(ValueError):
    """A pattern that means nothing; the message says why."""


class Glob:
    """A pattern for relative paths.

    A `*` stays within one name, and names that begin with a dot match too. Unless `is_anchored`, a
    pattern of one name matches at any depth, as in `.gitignore`.

    Attributes:
        names: the patterns that a matching path's last name has one of; `**` for any name.
        names_hidden: whether it asks for names that begin with a dot.
    """

    def __init__(self, text: str, *, is_anchored: bool = False) -> None:
        """Read a pattern; raises `BadGlob`."""
        alternatives = [_parts(alternative, is_anchored) for alternative in _expanded(text)]
        self.names = tuple(parts[-1] for parts in alternatives)
        self.names_hidden = any(part.startswith(".") for parts in alternatives for part in parts)
        self._alternatives = [
            [_ANY_FOLDERS if part == "**" else _compiled(part) for part in parts]
            for parts in alternatives
        ]

    def matches(self, path: str) -> bool:
        """Whether a relative path matches; its names have `/` between them."""
        name = path[path.rfind("/") + 1 :]
        for parts in self._alternatives:
            last = parts[-1]
            # Most paths end here, so nothing is taken apart before.
            if (last is _ANY_FOLDERS or last.match(name)) and _match(parts, path.split("/")):
                return True
        return False


def _match(parts: Sequence[re.Pattern[str] | None], names: Sequence[str]) -> bool:
    # Each step holds how many of the names the parts so far can have used up.
    reached = {0}
    for at, part in enumerate(parts):
        if part is _ANY_FOLDERS:
            # At the end it stands for what is in a folder, so for one name at least.
            first = min(reached) + (1 if at == len(parts) - 1 else 0)
            reached = set(range(first, len(names) + 1))
        else:
            reached = {n + 1 for n in reached if n < len(names) and part.match(names[n])}
        if not reached:
            return False
    return len(names) in reached


def _parts(text: str, is_anchored: bool) -> list[str]:
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if not parts:
        raise BadGlob("it names nothing")
    return parts if is_anchored or len(parts) > 1 else ["**", *parts]


def _expanded(text: str) -> list[str]:
    """The pattern without braces, once for each combination of what is in them."""
    if len(text) > MAX_LENGTH:
        raise BadGlob(f"it is longer than {MAX_LENGTH} characters")
    found = [text]
    while any(braces := [_INNERMOST_BRACES.search(one) for one in found]):
        expanded: list[str] = []
        for one, brace in zip(found, braces, strict=True):
            if brace is None:
                expanded.append(one)
                continue
            before, after = one[: brace.start()], one[brace.end() :]
            expanded += [f"{before}{choice}{after}" for choice in brace[1].split(",")]
        found = list(dict.fromkeys(expanded))
        if len(found) > MAX_ALTERNATIVES:
            raise BadGlob(f"its braces stand for more than {MAX_ALTERNATIVES} patterns")
    if any("{" in one or "}" in one for one in found):
        raise BadGlob("a brace has no partner")
    return found


def _compiled(part: str) -> re.Pattern[str]:
    normal = part.replace("[^", "[!")
    at = normal.find("[")
    while at >= 0:
        # A bracket right after the opening one is a member of the set.
        inside = at + (2 if normal[at + 1 : at + 2] == "!" else 1)
        end = normal.find("]", inside + 1)
        if end < 0:
            raise BadGlob("a '[' has no ']'")
        at = normal.find("[", end + 1)
    return re.compile(fnmatch.translate(normal))
