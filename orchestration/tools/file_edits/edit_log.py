"""What files were before an editing call, kept in the run's folder so that it can be undone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from orchestration.tools.file_edits.file_memory import digest_of
from orchestration.workspace import jailed_files
from orchestration.workspace.atomic_files import write_atomically
from orchestration.workspace.paths import PathRefused, Workspace

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class KeptFile(Struct, frozen=True):
    """One file that a call changed: what it was, its permissions, the digest of what it became.

    `before` and `mode` are `None` where there was no file, `after` where there is none any more.
    `made_folders` are those that the call made for it.
    """

    path: str
    label: str
    before: bytes | None
    after: str | None
    mode: int | None = None
    made_folders: tuple[str, ...] = ()


class KeptBatch(Struct, frozen=True):
    """The files of one call, each once."""

    batch_id: str
    node_id: str
    files: tuple[KeptFile, ...]


class RevertReport(Struct, frozen=True):
    """What undoing a call did to files, by label: restored to what they were, or removed."""

    batch_id: str
    node_id: str
    restored: tuple[str, ...]
    removed: tuple[str, ...]


class RevertRefused(Exception):
    """A call that cannot be undone; says which and why, and names the files it is about."""

    def __init__(self, why: str, labels: Sequence[str] = ()) -> None:
        self.labels = tuple(labels)
        super().__init__(why)


class EditLog:
    """The kept batches of one run, a file each; every method touches the disk."""

    def __init__(self, folder: Path) -> None:
        """Take the folder; it is made when something is kept."""
        self._folder = folder

    def keep(self, batch: KeptBatch) -> None:
        """Keep a batch, or replace what is kept of it.

        Raises:
            OSError: it cannot be written.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._file(batch.batch_id), msgspec.msgpack.encode(batch), mode=0o600)

    def drop(self, batch_id: str) -> None:
        """Forget a batch that came to nothing."""
        self._file(batch_id).unlink(missing_ok=True)

    def batches(self) -> Iterator[KeptBatch]:
        """Everything that is kept and can be read, what was undone included."""
        for file in sorted(self._folder.glob("*.edit")) + sorted(self._folder.glob("*.reverted")):
            with suppress(OSError, msgspec.DecodeError):  # undoing it will tell
                yield msgspec.msgpack.decode(file.read_bytes(), type=KeptBatch)

    def paths(self, batch_id: str) -> tuple[str, ...]:
        """The real paths of the files that undoing a call would touch.

        Raises:
            RevertRefused: the batch is unknown or undone already.
        """
        return tuple([file.path for file in self._load(batch_id).files])

    def revert(self, batch_id: str, workspace: Workspace, *, force: bool = False) -> RevertReport:
        """Undo a call: files that it made are removed first, then the others are restored.

        It can be tried again after a failure: what is as it was before the call is left alone.

        Args:
            batch_id: the call's batch.
            workspace: the folders that may be touched.
            force: also where a file was changed since; that change is lost.

        Raises:
            RevertRefused: the batch is unknown or undone already, a file was changed since, or the
                system refuses something; the message says what to do.
        """
        batch = self._load(batch_id)
        current = {file.path: self._current(file, workspace) for file in batch.files}
        changed = [
            file.label
            for file in batch.files
            if current[file.path] != file.before and _digest(current[file.path]) != file.after
        ]
        if changed and not force:
            raise RevertRefused(
                f"changed since: {', '.join(changed)}; nothing was undone, because that would be "
                "lost",
                changed,
            )
        made = [file for file in batch.files if file.before is None]
        removed: list[str] = []
        restored: list[str] = []
        for file in [*made, *(file for file in batch.files if file.before is not None)]:
            now = current[file.path]
            if now == file.before:
                continue
            _undo(file, now, workspace)
            (removed if file.before is None else restored).append(file.label)
        folders = [Path(folder) for file in batch.files for folder in file.made_folders]
        jailed_files.remove_empty_folders(workspace, folders)
        self._file(batch_id).replace(self._file(batch_id).with_suffix(".reverted"))
        return RevertReport(batch_id, batch.node_id, tuple(restored), tuple(removed))

    def _load(self, batch_id: str) -> KeptBatch:
        if _ID.fullmatch(batch_id):
            file = self._file(batch_id)
            try:
                return msgspec.msgpack.decode(file.read_bytes(), type=KeptBatch)
            except FileNotFoundError:
                if file.with_suffix(".reverted").exists():
                    raise RevertRefused("this edit has been undone already") from None
            except (OSError, msgspec.DecodeError) as error:
                raise RevertRefused(f"what was kept of this edit cannot be read: {error}") from None
        raise RevertRefused(f"this run keeps no edit '{batch_id}'")

    def _current(self, file: KeptFile, workspace: Workspace) -> bytes | None:
        try:
            if workspace.resolve(file.path) != Path(file.path):
                raise RevertRefused(f"'{file.label}' is behind a link now", [file.label])
            return jailed_files.read(workspace, Path(file.path))
        except PathRefused as error:
            raise RevertRefused(str(error), [file.label]) from None
        except jailed_files.NotAFile as error:
            raise RevertRefused(f"'{file.label}' {error} now", [file.label]) from None
        except OSError as error:
            raise RevertRefused(
                f"'{file.label}' cannot be read: {error.strerror or error}", [file.label]
            ) from error

    def _file(self, batch_id: str) -> Path:
        return self._folder / f"{batch_id}.edit"


def missing_folders(path: Path) -> tuple[str, ...]:
    """The folders above a path that are not there."""
    missing = []
    for folder in path.parents:
        if folder.exists():
            break
        missing.append(str(folder))
    return tuple(missing)


def _undo(file: KeptFile, now: bytes | None, workspace: Workspace) -> None:
    path = Path(file.path)
    try:
        if file.before is not None:
            jailed_files.replace(workspace, path, file.before, now, mode=file.mode)
        elif now is not None:
            jailed_files.remove(workspace, path, now)
    except jailed_files.ChangedMeanwhile:
        raise RevertRefused(
            f"'{file.label}' was changed just now; try again", [file.label]
        ) from None
    except (PathRefused, jailed_files.NotAFile) as error:
        raise RevertRefused(f"'{file.label}': {error}", [file.label]) from None
    except OSError as error:
        raise RevertRefused(
            f"'{file.label}' cannot be written: {error.strerror or error}; when that is mended, "
            "undo the edit again",
            [file.label],
        ) from error


def _digest(data: bytes | None) -> str | None:
    return None if data is None else digest_of(data)
