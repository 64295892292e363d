"""A file with a list of entries of one kind, which may be in an object under the list's name."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from orchestration.errors import UserError
from orchestration.workspace.atomic_files import backup_path, set_aside, write_atomically

T = TypeVar("T")


class ListWords(Struct, frozen=True):
    """What the entries of a file are called in sentences.

    Attributes:
        list_name: the key of the list.
        entry: one entry, such as `project`.
        entries: all of them, such as `saved agents`.
    """

    list_name: str
    entry: str
    entries: str


class Loaded(Struct, Generic[T], frozen=True):
    """The entries, and sentences about what could not be read."""

    entries: tuple[T, ...] = ()
    notices: tuple[str, ...] = ()


class ListFile(Generic[T]):
    """Reads and writes one such file. All methods touch the disk."""

    def __init__(
        self, path: Path, words: ListWords, read: Callable[[Any], tuple[T | None, str]]
    ) -> None:
        """Take where it is.

        Args:
            path: the file, which need not exist.
            words: what its entries are called.
            read: what an entry holds, or `None` and why it holds nothing.
        """
        self.path, self._words, self._read = path, words, read

    def load(self) -> Loaded[T]:
        """Read the entries; without a file there are none.

        An entry that cannot be read hides no other. A file that is no list of entries is set aside
        under a name with the time in it.

        Raises:
            UserError: the file is there and the system does not let it be read.
        """
        try:
            entries = self._entries(self._document())
        except ValueError as error:
            return Loaded(notices=(self._put_aside(str(error)),))
        found, notices = [], []
        for number, entry in enumerate(entries, start=1):
            read, why = self._read(entry)
            if read is not None:
                found.append(read)
            else:
                notices.append(f"entry {number} of {self.path} is no {self._words.entry}: {why}")
        return Loaded(tuple(found), tuple(notices))

    def save(self, write: Callable[[list[Any]], list[Any]], encode: Callable[[Any], bytes]) -> None:
        """Write entries; the version before is kept as `.bak`.

        Entries that could not be read and keys that nobody knows stay in the file.

        Args:
            write: gives the entries to write, from those that are there and can be read.
            encode: makes the whole document bytes.

        Raises:
            UserError: they could not be written; the file is as it was.
        """
        try:
            before = self._document()
            entries = self._entries(before)
        except ValueError:
            before, entries = {}, []
        known = [entry for entry in entries if self._read(entry)[0] is not None]
        kept = [entry for entry in entries if self._read(entry)[0] is None]
        listed = [*write(known), *kept]
        whole = listed if isinstance(before, list) else {**before, self._words.list_name: listed}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, encode(whole), keep_backup=True)
        except (OSError, ValueError, TypeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UserError(
                f"the {self._words.entries} could not be saved to {self.path} ({reason})"
            ) from error

    def _document(self) -> Any:
        """What the file holds; an empty list without one. Raises `ValueError` if it is damaged."""
        try:
            data = self.path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return {self._words.list_name: []}
        except OSError as error:
            raise UserError(
                f"the {self._words.entries} in {self.path} cannot be read "
                f"({error.strerror or error}); put the permissions of the file right"
            ) from error
        try:
            return msgspec.json.decode(data.removeprefix(BOM_UTF8))
        except RecursionError:
            raise ValueError("it nests objects and lists too deep") from None

    def _entries(self, document: Any) -> list[Any]:
        name = self._words.list_name
        found = document.get(name) if isinstance(document, dict) else document
        if not isinstance(found, list):
            raise ValueError(f"it holds no list of {name} in '{name}'")
        return found

    def _put_aside(self, what: str) -> str:
        try:
            kept = f"it is kept as {set_aside(self.path).name}"
        except OSError as error:
            kept = f"it could not be set aside ({error.strerror or error})"
        before = backup_path(self.path)
        hint = f", and the version before is {before.name}" if before.exists() else ""
        return (
            f"the list of {self._words.entries} {self.path} is damaged ({what}): {kept}{hint}; "
            f"there are no {self._words.entries} now"
        )
