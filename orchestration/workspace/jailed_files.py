"""Read, list, replace and remove inside the jail, also while somebody swaps its paths for links.

A path that `Workspace.resolve` gave has no link in it. Here it is walked folder by folder from the
allowed one, following none, and what is done at its end is done in the folder that was reached.

Programs of this kind that change one file at once take turns, by a lock on it. What others do to it
is seen up to the moment of the change itself.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from orchestration.workspace.atomic_files import write_atomically
from orchestration.workspace.file_lock import is_at, locked
from orchestration.workspace.paths import PathRefused, Workspace

# Decoding a text is one step during which no other thread runs: more would hold up the event loop.
MAX_BYTES = 10 * 1024 * 1024

_PIECE = 1024 * 1024
_TEMPORARY = re.compile(r"\.openflow-[0-9a-f]{16}\.tmp")
_STALE_S = 600.0
"""A temporary file that was not touched for so long belongs to a write that was killed."""

_WALKS = {os.open, os.stat, os.mkdir, os.unlink, os.rename, os.link, os.access} <= (
    os.supports_dir_fd
) and hasattr(os, "O_NOFOLLOW")
_FOLDER = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_LIST = _FOLDER & ~getattr(os, "O_PATH", 0)
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class NotAFile(Exception):
    """What is there is a folder, a link or something special, or it is too large; says which."""


class ChangedMeanwhile(Exception):
    """The file is no longer what it was; `data` is what is in it now."""

    def __init__(self, data: bytes | None) -> None:
        self.data = data
        super().__init__("the file has changed")


def read(workspace: Workspace, path: Path, max_bytes: int = MAX_BYTES) -> bytes | None:
    """The bytes of a file, `None` where nothing is.

    Args:
        workspace: the jail.
        path: as `Workspace.resolve` gave it.
        max_bytes: how large it may be.

    Raises:
        NotAFile: something else than a file of moderate size is there.
        PathRefused: a part of the path has become a link since.
        OSError: it cannot be read.
    """
    try:
        with _folder_of(workspace, path) as folder:
            return _read_at(folder, path, max_bytes)[0]
    except FileNotFoundError:
        return None


def read_unless_link(path: Path) -> bytes | None:
    """The bytes of a file of moderate size by its path; `None` where there is none.

    Raises:
        NotAFile: a link or something else is there.
        OSError: it cannot be read.
    """
    return _read_at(None, path)[0]


@contextlib.contextmanager
def opened_folder(workspace: Workspace, path: Path) -> Iterator[int | Path]:
    """A folder to be listed, opened; by its path where the system cannot list an open one.

    Args:
        workspace: the jail.
        path: as `Workspace.resolve` gave it.

    Raises:
        PathRefused: a part of the path has become a link since.
        OSError: there is no such folder, or it cannot be listed.
    """
    if path in workspace.folders:
        yield path
        return
    with _folder_of(workspace, path) as parent:
        if parent is None or os.scandir not in os.supports_fd:
            yield path
            return
        folder = _step(workspace, path, parent, path.name, False, _LIST)
        try:
            yield folder
        finally:
            os.close(folder)


def entries(folder: int | Path) -> list[os.DirEntry[str]]:
    """What is in a folder, sorted by name."""
    with os.scandir(folder) as found:
        return sorted(found, key=lambda entry: entry.name)


@contextlib.contextmanager
def opened_inner(folder: int | Path, name: str) -> Iterator[int | Path]:
    """A folder in an open one; an `OSError` where it has become a link meanwhile."""
    if isinstance(folder, Path):
        yield folder / name
        return
    inner = os.open(name, _LIST, dir_fd=folder)
    try:
        yield inner
    finally:
        os.close(inner)


def replace(
    workspace: Workspace,
    path: Path,
    data: bytes,
    expected: bytes | None,
    *,
    mode: int | None = None,
) -> None:
    """Write a file if there still is in it what is expected; missing folders are made.

    Whatever happens, there is the old version or the new one. The file keeps its permissions and,
    where the system lets it, its owner.

    Args:
        workspace: the jail.
        path: as `Workspace.resolve` gave it.
        data: everything that is to be in it.
        expected: what is in it now, `None` where nothing is to be.
        mode: the permissions of a new file.

    Raises:
        ChangedMeanwhile: something else is there.
        NotAFile: what is there is no file, or what is to be written could not be edited again.
        PathRefused: a part of the path has become a link since.
        OSError: nothing was changed, except that folders may have been made.
    """
    if len(data) > MAX_BYTES:
        raise NotAFile(f"would have {len(data)} bytes, and at most {MAX_BYTES} are written")
    with _folder_of(workspace, path, make=True) as folder, locked(folder, path):
        current, status = _read_at(folder, path)
        if current != expected:
            raise ChangedMeanwhile(current)
        _refuse_if_read_only(folder, path, status)
        if folder is None:
            write_atomically(path, data, mode=mode)
            return
        try:
            _put(folder, path.name, data, status, mode)
        except FileExistsError:
            raise ChangedMeanwhile(_read_at(folder, path)[0]) from None


def remove(workspace: Workspace, path: Path, expected: bytes) -> None:
    """Delete a file if there still is in it what is expected.

    Raises:
        ChangedMeanwhile: something else is there.
        NotAFile: what is there is no file.
        PathRefused: a part of the path has become a link since.
        OSError: it is still there.
    """
    with _folder_of(workspace, path) as folder, locked(folder, path):
        current, status = _read_at(folder, path)
        if current != expected:
            raise ChangedMeanwhile(current)
        if status is None or not is_at(folder, path, status):
            raise ChangedMeanwhile(_read_at(folder, path)[0])
        if folder is None:
            path.unlink()
        else:
            os.unlink(path.name, dir_fd=folder)


def mode_of(path: Path) -> int:
    """The permissions of a file."""
    return stat.S_IMODE(path.stat(follow_symlinks=False).st_mode)


def remove_empty_folders(workspace: Workspace, folders: list[Path]) -> None:
    """Remove those of the folders, deepest first, that are there and have nothing in them."""
    for folder in sorted(folders, key=lambda path: len(path.parts), reverse=True):
        with contextlib.suppress(OSError, PathRefused), _folder_of(workspace, folder) as parent:
            if parent is None:
                folder.rmdir()
            else:
                os.rmdir(folder.name, dir_fd=parent)


@contextlib.contextmanager
def _folder_of(workspace: Workspace, path: Path, *, make: bool = False) -> Iterator[int | None]:
    """The open folder that the path is in; `None` where the system cannot work in an open one."""
    base = workspace.folder_of(path)
    if base == path:
        raise NotAFile("is a folder")
    if not _WALKS:
        if make:
            path.parent.mkdir(parents=True, exist_ok=True)
        if Path(os.path.realpath(path)) != path:
            raise PathRefused(f"'{workspace.label(path)}' has become a link")
        yield None
        return
    folder = os.open(base, _FOLDER & ~getattr(os, "O_NOFOLLOW", 0))
    try:
        for part in path.parent.relative_to(base).parts:
            inner = _step(workspace, path, folder, part, make)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _step(
    workspace: Workspace, path: Path, folder: int, part: str, make: bool, flags: int = _FOLDER
) -> int:
    try:
        return os.open(part, flags, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(folder, part):
            raise PathRefused(
                f"'{workspace.label(path)}' leads through '{part}', which has become a link"
            ) from None
        raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, dir_fd=folder)
    return os.open(part, _FOLDER, dir_fd=folder)


def _is_link(folder: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _read_at(
    folder: int | None, path: Path, max_bytes: int = MAX_BYTES
) -> tuple[bytes | None, os.stat_result | None]:
    name: str | Path = path if folder is None else path.name
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None, None
    _refuse_special(status, max_bytes)
    with os.fdopen(os.open(name, _READ, dir_fd=folder), "rb") as file:
        status = os.fstat(file.fileno())
        _refuse_special(status, max_bytes)
        data = b"".join(_pieces(file, max_bytes + 1))
    if len(data) > max_bytes:
        raise _too_large(len(data), max_bytes)
    return data, status


def _pieces(file: BinaryIO, most: int) -> Iterator[bytes]:
    """What is in a file up to so many bytes; between two pieces other threads have their turn."""
    while most > 0 and (piece := file.read(min(most, _PIECE))):
        most -= len(piece)
        yield piece


def _too_large(size: int, max_bytes: int) -> NotAFile:
    return NotAFile(f"has {size} bytes, and this tool takes files of at most {max_bytes}")


def _refuse_special(status: os.stat_result, max_bytes: int) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise NotAFile("is a folder")
    if stat.S_ISLNK(status.st_mode):
        raise NotAFile("is a link that leads nowhere")
    if not stat.S_ISREG(status.st_mode):
        raise NotAFile("is neither a file nor a folder")
    if status.st_size > max_bytes:
        raise _too_large(status.st_size, max_bytes)


def _refuse_if_read_only(folder: int | None, path: Path, status: os.stat_result | None) -> None:
    """A rename needs no permission for the file itself, but an edit of it does."""
    if status is None:
        return
    name: str | Path = path if folder is None else path.name
    by_effective = os.access in os.supports_effective_ids
    if not os.access(name, os.W_OK, dir_fd=folder, effective_ids=by_effective):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _put(
    folder: int, name: str, data: bytes, status: os.stat_result | None, mode: int | None
) -> None:
    """Write the data without a name, or beside the file, and then give it its name at once."""
    temporary = f".openflow-{secrets.token_hex(8)}.tmp"
    descriptor, has_name = _open_new(folder, temporary)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            _take_over(file.fileno(), status, mode)
            os.fsync(file.fileno())
            if not has_name:
                found = f"/proc/self/fd/{file.fileno()}"
                os.link(found, name if status is None else temporary, dst_dir_fd=folder)
                has_name = status is not None
        if status is not None:
            if not is_at(folder, Path(name), status):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            has_name = False
        elif has_name:
            _name_new(folder, temporary, name)
    finally:
        if has_name:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
    _tidy(folder)


def _open_new(folder: int, temporary: str) -> tuple[int, bool]:
    """A file to write to, and whether it has a name: without one a crash leaves nothing behind."""
    flags = os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # not every file system has files without names
            return os.open(".", flags | os.O_TMPFILE, 0o666, dir_fd=folder), False
    return os.open(temporary, flags | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder), True


def _take_over(descriptor: int, status: os.stat_result | None, mode: int | None) -> None:
    if status is not None:
        own = os.fstat(descriptor)
        if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
            with contextlib.suppress(PermissionError):  # only root may give files away
                os.fchown(descriptor, status.st_uid, status.st_gid)
        mode = stat.S_IMODE(status.st_mode)
    if mode is not None:
        os.fchmod(descriptor, mode)


def _name_new(folder: int, temporary: str, name: str) -> None:
    """Give a file its name unless something has that name already."""
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _tidy(folder: int) -> None:
    """Remove what killed writes left, and make the change of names durable, where that can be."""
    with contextlib.suppress(PermissionError):
        descriptor = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
        try:
            _sweep(descriptor)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _sweep(folder: int) -> None:
    for name in filter(_TEMPORARY.fullmatch, os.listdir(folder)):
        with contextlib.suppress(OSError):  # it stays for the next write
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and time.time() - status.st_mtime > _STALE_S:
                os.unlink(name, dir_fd=folder)
