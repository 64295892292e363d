"""Outputs too large for a model, put aside in the run's folder and read back in parts."""

from __future__ import annotations

import re
from pathlib import Path
from uuid import uuid4

from msgspec import Struct

from orchestration.workspace.atomic_files import write_atomically

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Artifact(Struct, frozen=True):
    """One stored output; `size_bytes` is that of its UTF-8 text."""

    id: str
    path: Path
    size_bytes: int


class ArtifactStore:
    """The artifacts of one run, each a file `{id}-{kind}.txt`; every method touches the disk."""

    def __init__(self, folder: Path) -> None:
        """Take the folder; it is made when something is stored."""
        self._folder = folder

    def save(self, text: str, kind: str, artifact_id: str | None = None) -> Artifact:
        """Store a text under a new id, or under one that was chosen for it.

        `kind` says in a word what it is: a tool, `file-diff`.

        Raises:
            OSError: it cannot be written; nothing is left behind.
        """
        data = text.encode("utf-8", "surrogatepass")
        artifact_id = artifact_id or str(uuid4())
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{artifact_id}-{kind}.txt"
        write_atomically(path, data)
        return Artifact(artifact_id, path, len(data))

    def read(self, artifact_id: str) -> str | None:
        """The text of an artifact of this run, `None` if there is none of that id."""
        path = self.find(artifact_id)
        return None if path is None else path.read_bytes().decode("utf-8", "surrogatepass")

    def find(self, artifact_id: str) -> Path | None:
        """The file of an artifact; an id is a UUID in its canonical lower-case form."""
        if not _ID.fullmatch(artifact_id) or not self._folder.is_dir():
            return None
        for suffix in ("txt", "md"):
            for path in sorted(self._folder.glob(f"{artifact_id}-*.{suffix}")):
                return path
        return None
