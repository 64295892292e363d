"""What is edited and not saved, kept so that a crash loses at most the last change."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from orchestration.errors import UserError
from orchestration.workspace.atomic_files import set_aside, write_atomically


class Swap(Struct, frozen=True):
    """An edited workflow.

    Attributes:
        path: its file, empty for one that has none yet.
        base: digest of the file's bytes that the edits started from; empty without a file.
        text: the whole workflow as it would be saved.
        changed_at: seconds since the epoch.
    """

    path: str
    base: str
    text: str
    changed_at: float


def digest_of(data: bytes) -> str:
    """What tells one version of a workflow file from another: SHA-256 in hex."""
    return sha256(data).hexdigest()


def swap_key(path: Path) -> str:
    """The name under which the swap of a file is kept."""
    return sha256(str(path).encode("utf-8", "surrogatepass")).hexdigest()[:32]


class SwapStore:
    """A folder with one file for each workflow that has unsaved edits. All methods touch the disk.

    A damaged file is set aside and hides no other.
    """

    def __init__(self, folder: Path) -> None:
        """Take the folder; it is made when something is kept."""
        self._folder = folder

    def keep(self, key: str, swap: Swap) -> None:
        """Keep this version instead of the one before.

        Raises:
            UserError: it cannot be written; the one before is still there.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._file(key), msgspec.json.encode(swap), mode=0o600)
        except OSError as error:
            raise UserError(
                f"unsaved edits cannot be kept in {self._folder} ({error.strerror or error}); "
                "save the workflow now"
            ) from error

    def find(self, key: str) -> Swap | None:
        """The kept version, if there is one."""
        file = self._file(key)
        try:
            return msgspec.json.decode(file.read_bytes(), type=Swap)
        except FileNotFoundError:
            return None
        except (msgspec.MsgspecError, ValueError):
            set_aside(file)
            return None

    def drop(self, key: str) -> None:
        """Forget it: it was saved, or is not wanted."""
        self._file(key).unlink(missing_ok=True)

    def keys(self) -> tuple[str, ...]:
        """Everything that is kept."""
        if not self._folder.is_dir():
            return ()
        found = (file.stem for file in self._folder.glob("*.swap"))
        return tuple(sorted(stem for stem in found if "." not in stem))

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.swap"
