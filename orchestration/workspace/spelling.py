"""Names as the disk has them, where it takes several spellings for one: one file, one path."""

from __future__ import annotations

import os
import stat
import unicodedata
from pathlib import Path


def as_on_disk(base: Path, path: Path) -> Path | None:
    """Spell a path as its folders list it, from `base` on, as far as it exists.

    On a disk that tells capitals from small letters every path is spelt right already.

    Args:
        base: a folder that the path is in; its own spelling is left alone.
        path: without links that lead anywhere.

    Returns:
        The path; `None` where it goes on after a link, which then leads nowhere.
    """
    found = base
    parts = path.relative_to(base).parts
    for index, part in enumerate(parts):
        try:
            here = os.lstat(found / part)
            if stat.S_ISLNK(here.st_mode) and index + 1 < len(parts):
                return None
            found /= _listed(found, part, here)
        except OSError:
            return found.joinpath(*parts[index:])
    return found


def as_text(name: str) -> str:
    """A name as it can be told; bytes that are no text become replacement characters."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _listed(folder: Path, name: str, here: os.stat_result) -> str:
    others = {
        name.swapcase(),
        unicodedata.normalize("NFC", name),
        unicodedata.normalize("NFD", name),
    }
    if not any(_is(folder / other, here) for other in others - {name}):
        return name
    names = os.listdir(folder)
    if name in names:
        return name
    alike = (other for other in names if _folded(other) == _folded(name))
    return next((other for other in alike if _is(folder / other, here)), name)


def _is(path: Path, wanted: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.lstat(path), wanted)
    except OSError:
        return False


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
