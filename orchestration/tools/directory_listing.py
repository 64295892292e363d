"""List a folder the way a person would want it listed: sorted, shallow, without the ignored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from orchestration.workspace import jailed_files
from orchestration.workspace.paths import Workspace

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
            data = jailed_files.read_unless_link(folder / ".gitignore")
        except (OSError, jailed_files.NotAFile):  # what cannot be read says nothing
            return self
        if data is None:
            return self
        lines = data.decode("utf-8", "replace").splitlines()
        return IgnoreRules((*self._specs, (folder, GitIgnoreSpec.from_lines(lines))))

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        """Whether the last rule that speaks of the path ignores it."""
        for folder, spec in reversed(self._specs):
            name = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
            verdict = spec.check_file(name).include
            if verdict is not None:
                return verdict
        return False


def list_folder(folder: Path, workspace: Workspace) -> list[str]:
    """Give the folder's entries to depth 2, sorted, folders with a final `/`.

    Hidden and ignored entries are left out; links to folders are named and not entered. After 200
    entries a last line says that there are more. Bytes in names that are no text become
    replacement characters.

    Args:
        folder: as the workspace gave it.
        workspace: the jail; `.gitignore` files begin to count at its root.

    Raises:
        PathRefused: a part of the path has become a link since.
        OSError: there is no such folder, or it cannot be listed.
    """
    rules = _rules_above(folder, workspace.root)
    listed: list[str] = []
    with jailed_files.opened_folder(workspace, folder) as opened:
        for name in _walk(opened, folder, "", rules, MAX_DEPTH):
            if len(listed) == MAX_ENTRIES:
                listed.append(f"[more than {MAX_ENTRIES} entries: list one of the folders above]")
                break
            listed.append(name)
    return listed


def _rules_above(folder: Path, root: Path) -> IgnoreRules:
    rules = IgnoreRules()
    if folder.is_relative_to(root):
        for parent in reversed(folder.parents):
            if parent.is_relative_to(root):
                rules = rules.with_folder(parent)
    # Who names an ignored folder wants to see what is in it.
    return IgnoreRules() if rules.ignores(folder, is_folder=True) else rules


def _walk(
    opened: int | Path, folder: Path, prefix: str, rules: IgnoreRules, depth: int
) -> Iterator[str]:
    rules = rules.with_folder(folder)
    for entry in jailed_files.entries(opened):
        path = folder / entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith(".") or rules.ignores(path, is_folder=is_folder):
            continue
        name = prefix + entry.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        yield name + ("/" if is_folder else "")
        if is_folder and depth > 1:
            try:
                with jailed_files.opened_inner(opened, entry.name) as inner:
                    yield from _walk(inner, path, f"{name}/", rules, depth - 1)
            except OSError:  # it may not be read, or is no folder any more
                yield f"{name}/[cannot be read]"
