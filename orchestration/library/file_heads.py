"""Id and name of workflow files, without building whole workflows; what was read stays known."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from orchestration.library.entries import WorkflowFile
from orchestration.workflow_catalog import MAX_FILE_BYTES

SUFFIX = ".workflow.json"


class _Head(Struct):
    id: str
    name: str
    nodes: list[msgspec.Raw]
    edges: list[msgspec.Raw]


class FileHeads:
    """Reads folders of workflow files; a file that is as it was is not read again."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int, int], WorkflowFile]] = {}

    def in_folder(self, folder: Path, project_id: str = "") -> tuple[tuple[WorkflowFile, ...], str]:
        """The workflow files of a folder by name, damaged ones last.

        Returns:
            The files, and why the folder could not be read: empty where it could, and where there
            is none.
        """
        try:
            paths = list(_workflow_files(folder))
        except (FileNotFoundError, NotADirectoryError):
            return (), ""
        except OSError as error:
            return (), f"the workflows in {folder} cannot be listed ({error.strerror or error})"
        files = [self.head(path, project_id) for path in paths]
        return tuple(sorted(files, key=_order)), ""

    def head(self, path: Path, project_id: str = "") -> WorkflowFile:
        """What one file is."""
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            known = self._known.get(path)
            if known is not None and known[0] == stamp:
                return msgspec.structs.replace(known[1], project_id=project_id)
            if status.st_size > MAX_FILE_BYTES:
                raise ValueError("it is too large for a workflow")
            head = msgspec.json.decode(path.read_bytes().removeprefix(BOM_UTF8), type=_Head)
            file = WorkflowFile(path, head.id, head.name, project_id, len(head.nodes))
        except OSError as error:
            return _damaged(path, project_id, str(error.strerror or error))
        except (ValueError, RecursionError) as error:
            file = _damaged(path, project_id, str(error) or "it nests too deep")
        self._known[path] = (stamp, file)
        return file


def _workflow_files(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            is_kept_aside = name.startswith(".") or ".damaged-" in name
            if name.endswith(SUFFIX) and not is_kept_aside and entry.is_file():
                yield Path(entry.path)


def _damaged(path: Path, project_id: str, why: str) -> WorkflowFile:
    return WorkflowFile(path, "", path.name.removesuffix(SUFFIX), project_id, damage=why)


def _order(file: WorkflowFile) -> tuple[bool, str, str]:
    return bool(file.damage), file.name.casefold(), file.path.name
