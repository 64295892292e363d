"""What is in a folder, read in a worker thread; folders of any size cost a bounded list."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from heapq import nsmallest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MOST_ENTRIES = 2000
"""So many entries of one folder are listed; how many more there are is told."""
_LARGEST_IGNORE_FILE = 1 << 20


class Entry(NamedTuple):
    """One name in a folder.

    `is_ignored`: Git does not look at it. `is_folder` is also true for a link to a folder.
    """

    name: str
    is_folder: bool
    is_link: bool = False
    is_ignored: bool = False


class Listing(NamedTuple):
    """A folder: folders first, then files, each by name.

    `more` counts the entries that are not among them. `problem` says why nothing could be listed.
    `stamp` is another one where the folder has changed.
    """

    entries: tuple[Entry, ...]
    more: int = 0
    problem: str = ""
    stamp: tuple[int, int] = (0, 0)


def list_folder(root: Path, parts: tuple[str, ...]) -> Listing:
    """List the folder at `parts` below `root`. Blocking."""
    folder = root.joinpath(*parts)
    try:
        stamp = folder_stamp(folder)
        found: list[Entry] = []
        count = 0
        with os.scandir(folder) as names:
            entries = (_entry(each) for each in names)
            counted = _Counted(entries)
            found = nsmallest(MOST_ENTRIES, counted, key=_order)
            count = counted.count
    except OSError as error:
        return Listing((), problem=error.strerror or str(error))
    return Listing(tuple(_with_ignored(root, parts, found)), more=count - len(found), stamp=stamp)


def folder_stamp(folder: Path) -> tuple[int, int]:
    """Changes with the names in a folder. Raises `OSError` where there is none."""
    facts = os.stat(folder)
    return facts.st_mtime_ns, facts.st_ino


def stamps(folders: Iterable[Path]) -> dict[Path, tuple[int, int] | None]:
    """The stamps of several folders; `None` for one that is gone. Blocking."""
    found: dict[Path, tuple[int, int] | None] = {}
    for folder in folders:
        try:
            found[folder] = folder_stamp(folder)
        except OSError:
            found[folder] = None
    return found


def marks_of(changes: Iterable[tuple[str, str]]) -> Mapping[tuple[str, ...], str]:
    """Which paths a run has changed, and how, from pairs of a relative path and a letter.

    Every folder above a changed file has an empty letter.
    """
    found: dict[tuple[str, ...], str] = {}
    for path, letter in changes:
        parts = tuple(part for part in path.replace("\\", "/").split("/") if part not in ("", "."))
        found[parts] = letter
        for depth in range(1, len(parts)):
            found.setdefault(parts[:depth], "")
    return found


class _Counted:
    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = entries
        self.count = 0

    def __iter__(self) -> _Counted:
        self._iterator = iter(self._entries)
        return self

    def __next__(self) -> Entry:
        entry = next(self._iterator)
        self.count += 1
        return entry


def _order(entry: Entry) -> tuple[bool, str, str]:
    return not entry.is_folder, entry.name.casefold(), entry.name


def _entry(found: os.DirEntry[str]) -> Entry:
    try:
        return Entry(found.name, found.is_dir(), found.is_symlink())
    except OSError:  # a link that leads to itself
        return Entry(found.name, False, True)


def _with_ignored(root: Path, parts: tuple[str, ...], entries: list[Entry]) -> list[Entry]:
    specs = _specs(root, parts)
    marked = []
    for entry in entries:
        path = (*parts, entry.name)
        is_ignored = entry.name == ".git" or any(
            _is_ignored(spec, path[depth:], entry.is_folder) for depth, spec in specs
        )
        marked.append(entry._replace(is_ignored=is_ignored))
    return marked


def _is_ignored(spec: GitIgnoreSpec, parts: tuple[str, ...], is_folder: bool) -> bool:
    text = "/".join(parts)
    return spec.match_file(f"{text}/" if is_folder else text)


def _specs(root: Path, parts: tuple[str, ...]) -> list[tuple[int, GitIgnoreSpec]]:
    """The rules of the folder and of those above it, each with its depth."""
    # Imported here: nobody needs it before a folder is looked at.
    from pathspec import GitIgnoreSpec

    found = []
    for depth in range(len(parts) + 1):
        file = root.joinpath(*parts[:depth], ".gitignore")
        try:
            if file.is_file() and file.stat().st_size <= _LARGEST_IGNORE_FILE:
                lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
                found.append((depth, GitIgnoreSpec.from_lines(lines)))
        except (OSError, ValueError):
            continue  # rules that cannot be read or make no sense hide nothing
    return found
