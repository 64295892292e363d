"""The jail that every file tool stays in: the execution folder and the folders a user added."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from orchestration.workspace.foreign_paths import localised
from orchestration.workspace.spelling import as_on_disk, as_text


class PathRefused(Exception):
    """A path that no tool may touch; the message names it and says why."""


class Workspace:
    """The folders that a run may read and write.

    Relative paths start at `root`. An absolute path is accepted where it lies in `root` or in one
    of the added folders. Symbolic links and `..` are followed as the file system does, so what
    counts is where a path really leads. On a disk that takes several spellings of a name for one,
    a path has the spelling of the disk.

    Attributes:
        root: The execution folder.
        withheld: Real paths of the program's own files that no tool is given, such as its keys.
    """

    __slots__ = ("_allowed", "root", "withheld")

    def __init__(
        self, root: Path, added: Iterable[Path] = (), withheld: Iterable[Path] = ()
    ) -> None:
        """Take existing folders; a missing one is an `OSError`."""
        self.root = root.resolve(strict=True)
        self._allowed = (self.root, *(folder.resolve(strict=True) for folder in added))
        self.withheld = frozenset(path.resolve() for path in withheld)

    def resolve(self, text: str) -> Path:
        """Give the real path that `text` leads to; the path itself need not exist.

        Args:
            text: as a model wrote it, absolute or relative to the execution folder.

        Raises:
            PathRefused: it is blank, no path at all, leads out of the allowed folders, is
                withheld, or goes on after a symbolic link that never ends.
        """
        if not text.strip():
            raise PathRefused("the path is blank")
        try:
            if b"\0" in os.fsencode(text):
                raise PathRefused(f"the path {text!r} has a NUL character in it")
        except UnicodeEncodeError:
            raise PathRefused(f"the path {text!r} is not text") from None
        try:
            real = Path(os.path.realpath(self.root / localised(self.root, text)))
        except ValueError as error:
            raise PathRefused(f"'{text}' {error}") from None
        # What follows a link that leads to itself is left as it is, links and all, with its `..`
        # taken away as text: such a path would look inside and lead out.
        if os.path.realpath(real) != str(real):
            raise PathRefused(f"'{text}' leads through a symbolic link that never ends")
        if not any(real.is_relative_to(folder) for folder in self._allowed):
            raise PathRefused(
                f"'{text}' leads out of the execution folder and of the folders that were added"
            )
        spelt = as_on_disk(self.folder_of(real), real)
        if spelt is None:
            raise PathRefused(f"'{text}' leads through a symbolic link that never ends")
        if spelt in self.withheld:
            raise PathRefused(f"'{text}' is the program's own, and no tool may read or change it")
        return spelt

    @property
    def folders(self) -> tuple[Path, ...]:
        """The real paths of all allowed folders, the execution folder first."""
        return self._allowed

    def folder_of(self, path: Path) -> Path:
        """The innermost of the allowed folders that a real path is in.

        Raises:
            PathRefused: it is in none of them.
        """
        found = [folder for folder in self._allowed if path.is_relative_to(folder)]
        if not found:
            raise PathRefused(f"'{path}' is not in the execution folder")
        return max(found, key=lambda folder: len(folder.parts))

    def label(self, path: Path) -> str:
        """Name a real path as tools print it: relative to the execution folder, with `/`.

        It is text whatever the path is, so not every label leads back.
        """
        try:
            return as_text(Path(os.path.relpath(path, self.root)).as_posix())
        except ValueError:  # another drive: there is no relative path
            return as_text(path.as_posix())
