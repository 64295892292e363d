"""What was deleted, kept so that it can be brought back."""

from __future__ import annotations

import shutil
from pathlib import Path
from uuid import uuid4

import msgspec
from msgspec import Struct

from orchestration.errors import UserError
from orchestration.library.entries import Removed
from orchestration.workspace.atomic_files import backup_path, write_atomically

_RECORD = "record.json"


class Record(Struct, frozen=True):
    """What lies in one place of the trash.

    `files` maps names in the trash to where they were; `agent` is a saved agent as its document,
    with the `position` that it had in the list.
    """

    name: str
    files: dict[str, str] = {}
    agent: dict[str, object] | None = None
    position: int = 0


class Trash:
    """A folder with one folder for each thing that was deleted. All methods touch the disk."""

    def __init__(self, folder: Path) -> None:
        """Take the folder; it is made when something is thrown away."""
        self._folder = folder

    def take_file(self, path: Path, name: str) -> Removed:
        """Move a workflow file here, with its backup if it has one.

        Raises:
            UserError: it could not be moved; it is where it was.
        """
        wanted = [each for each in (path, backup_path(path)) if each.exists()]
        if path not in wanted:
            raise UserError(f"there is no file {path} any more")
        record = Record(name, {each.name: str(each) for each in wanted})
        place = self._place(record, name)
        try:
            for each in wanted:
                shutil.move(each, place / each.name)
        except OSError as error:
            if path.exists():
                shutil.rmtree(place, ignore_errors=True)
            raise UserError(f"{path} could not be deleted ({error.strerror or error})") from error
        return Removed(place.name, name)

    def take_agent(self, document: dict[str, object], position: int, name: str) -> Removed:
        """Keep the document of an agent that is deleted from its list.

        Raises:
            UserError: it could not be written.
        """
        return Removed(self._place(Record(name, {}, document, position), name).name, name)

    def record(self, removed: Removed) -> Record:
        """What lies there.

        Raises:
            UserError: it is there no more.
        """
        try:
            data = (self._folder / removed.id / _RECORD).read_bytes()
            return msgspec.json.decode(data, type=Record)
        except (OSError, ValueError) as error:
            raise UserError(
                f"“{removed.name}” cannot be brought back: {self._folder / removed.id} "
                f"is gone or damaged ({error})"
            ) from error

    def put_back(self, removed: Removed) -> Path:
        """Move a file back to where it was; give its path, another one if that is taken.

        Raises:
            UserError: it could not be moved; it is still in the trash.
        """
        place = self._folder / removed.id
        paths: list[Path] = []
        try:
            for name, origin in self.record(removed).files.items():
                target = Path(origin)
                target.parent.mkdir(parents=True, exist_ok=True)
                if target.exists() and paths:
                    continue  # a backup does not take the place of a newer one
                paths.append(free_path(target.parent, target.name))
                shutil.move(place / name, paths[-1])
        except OSError as error:
            raise UserError(
                f"“{removed.name}” could not be brought back ({error.strerror or error}); "
                f"it is in {place}"
            ) from error
        self.forget(removed)
        return paths[0]

    def forget(self, removed: Removed) -> None:
        """Take one thing out of the trash for good."""
        shutil.rmtree(self._folder / removed.id, ignore_errors=True)

    def _place(self, record: Record, name: str) -> Path:
        place = self._folder / uuid4().hex
        try:
            place.mkdir(parents=True)
            write_atomically(place / _RECORD, msgspec.json.encode(record))
        except OSError as error:
            raise UserError(
                f"“{name}” was not deleted: it cannot be kept in {self._folder} "
                f"({error.strerror or error})"
            ) from error
        return place


def free_path(folder: Path, name: str) -> Path:
    """A path in the folder that nothing has: the name itself, or with a number in it."""
    stem, dot, rest = name.partition(".")
    path, number = folder / name, 2
    while path.exists():
        path = folder / f"{stem}-{number}{dot}{rest}"
        number += 1
    return path
