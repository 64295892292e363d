"""List a folder the way a person would want it listed: sorted, shallow, without the ignored."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_ENTRIES = 200
MAX_DEPTH = 2


class IgnoreRules:
    """The `.gitignore` files from a root downwards; a deeper one overrides those above it."""

    def __init__(self, specs: tuple[tuple[Path, GitIgnoreSpec], ...] = ()) -> None:
        self._specs = specs

    def with_folder(self, folder: Path) -> IgnoreRules:
        """These rules and those of the folder's own `.gitignore`, if it has one."""
        # Imported here because its patterns take time to load and few calls need them.
        from pathspec import GitIgnoreSpec

        try:
            lines = (folder / ".gitignore").read_text("utf-8", "replace").splitlines()
        except OSError:  # there is none, or it cannot be read: then it says nothing
            return self
        return IgnoreRules((*self._specs, (folder, GitIgnoreSpec.from_lines(lines))))

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        """Whether the last rule that speaks of the path ignores it."""
        for folder, spec in reversed(self._specs):
            name = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
            verdict = spec.check_file(name).include
            if verdict is not None:
                return verdict
        return False


def list_folder(folder: Path, root: Path) -> list[str]:
    """Give the folder's entries to depth 2, sorted, folders with a final `/`.

    Hidden and ignored entries are left out; links to folders are named and not entered. After 200
    entries a last line says that there are more. Bytes in names that are no text become
    replacement characters.

    Args:
        folder: an existing folder.
        root: where `.gitignore` files begin to count; a parent of `folder`, or itself.
    """
    rules = _rules_above(folder, root)
    entries: list[str] = []
    for name in _walk(folder, "", rules, MAX_DEPTH):
        if len(entries) == MAX_ENTRIES:
            entries.append(f"[more than {MAX_ENTRIES} entries: list one of the folders above]")
            break
        entries.append(name)
    return entries


def _rules_above(folder: Path, root: Path) -> IgnoreRules:
    rules = IgnoreRules()
    if folder.is_relative_to(root):
        for parent in reversed(folder.parents):
            if parent.is_relative_to(root):
                rules = rules.with_folder(parent)
    # Who names an ignored folder wants to see what is in it.
    return IgnoreRules() if rules.ignores(folder, is_folder=True) else rules


def _walk(folder: Path, prefix: str, rules: IgnoreRules, depth: int) -> Iterator[str]:
    rules = rules.with_folder(folder)
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith(".") or rules.ignores(Path(entry.path), is_folder=is_folder):
            continue
        name = prefix + entry.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        yield name + ("/" if is_folder else "")
        if is_folder and depth > 1:
            try:
                yield from _walk(Path(entry.path), f"{name}/", rules, depth - 1)
            except PermissionError:
                yield f"{name}/[cannot be read]"
