"""The list of projects: folders whose workflows are kept with what they work on."""

from __future__ import annotations

import os
import secrets
from codecs import BOM_UTF8
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Struct

from orchestration.errors import UserError
from orchestration.workspace.atomic_files import backup_path, set_aside, write_atomically

WORKFLOWS_IN_PROJECT = Path(".flow") / "workflows"
_LIST = "projects"


class Project(Struct, frozen=True):
    """A folder that workflows work in.

    Attributes:
        id: its id.
        path: the folder, absolute, with links followed.
        name: what a person calls it.
        default_execution_cwd: the folder that runs work in; the project's own where it is `None`.
        workflow_ids: the workflows that were in it when the list was written last.
    """

    id: str
    path: str
    name: str
    default_execution_cwd: str | None = None
    workflow_ids: tuple[str, ...] = ()

    @property
    def workflows(self) -> Path:
        """The folder of its workflow files; it may not exist."""
        return Path(self.path) / WORKFLOWS_IN_PROJECT

    @property
    def run_folder(self) -> Path:
        """The folder that its runs work in."""
        return Path(self.default_execution_cwd or self.path)


class LoadedProjects(Struct, frozen=True):
    """The projects, and sentences about what could not be read."""

    projects: tuple[Project, ...] = ()
    notices: tuple[str, ...] = ()


class ProjectStore:
    """The file that lists the projects of one data folder. All methods touch the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> LoadedProjects:
        """Read the projects; without a file there are none.

        An entry that is no project hides no other. A file that is no list of entries is set aside
        under a name with the time in it.

        Raises:
            UserError: the file is there and the system does not let it be read.
        """
        try:
            entries = _entries(self._document())
        except ValueError as error:
            return LoadedProjects(notices=(self._put_aside(str(error)),))
        found: dict[str, Project] = {}
        notices = []
        for number, entry in enumerate(entries, start=1):
            project, why = _project(entry)
            if project is not None:
                found.setdefault(project.id, project)
            else:
                notices.append(f"entry {number} of {self.path} is no project: {why}")
        return LoadedProjects(tuple(found.values()), tuple(notices))

    def save(self, projects: Iterable[Project]) -> None:
        """Write the projects; the version before is kept as `.bak`.

        Entries that could not be read and keys that nobody knows stay in the file.

        Raises:
            UserError: they could not be written; the file is as it was.
        """
        try:
            before = self._document()
            entries = _entries(before)
        except ValueError:
            before, entries = {}, []
        known = {entry["id"]: entry for entry in entries if _project(entry)[0] is not None}
        written = [
            {**known.get(project.id, {}), **msgspec.to_builtins(project)} for project in projects
        ]
        kept = [entry for entry in entries if _project(entry)[0] is None]
        document = [*written, *kept]
        whole = document if isinstance(before, list) else {**before, _LIST: document}
        data = msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, data, keep_backup=True)
        except OSError as error:
            raise UserError(
                f"the projects could not be saved to {self.path} ({error.strerror or error})"
            ) from error

    def _document(self) -> Any:
        """What the file holds. Raises `ValueError` if it is damaged."""
        try:
            data = self.path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return {_LIST: []}
        except OSError as error:
            raise UserError(
                f"the projects in {self.path} cannot be read ({error.strerror or error}); "
                "put the permissions of the file right"
            ) from error
        try:
            return msgspec.json.decode(data.removeprefix(BOM_UTF8))
        except RecursionError:
            raise ValueError("it nests objects and lists too deep") from None

    def _put_aside(self, what: str) -> str:
        try:
            kept = f"it is kept as {set_aside(self.path).name}"
        except OSError as error:
            kept = f"it could not be set aside ({error.strerror or error})"
        before = backup_path(self.path)
        hint = f", and the version before is {before.name}" if before.exists() else ""
        return (
            f"the list of projects {self.path} is damaged ({what}): {kept}{hint}; "
            "there are no projects now"
        )


def project_in(folder: Path) -> Project:
    """A new project of a folder that is there and takes files, named after it.

    Raises:
        UserError: there is no such folder, or nothing can be written into it.
    """
    real = Path(os.path.realpath(folder))
    if not real.is_dir():
        raise UserError(f"{folder} is not a folder; choose one that is there")
    project = Project(id=str(uuid4()), path=str(real), name=real.name or str(real))
    probe(project)
    return project


def probe(project: Project) -> None:
    """Make sure that workflow files can be written into the project's folder.

    Raises:
        UserError: they cannot.
    """
    folder = project.workflows
    if not Path(project.path).is_dir():
        raise UserError(
            f"the folder of the project {project.name} is gone ({project.path}); "
            "put it back, or remove the project"
        )
    trial = folder / f".probe-{secrets.token_hex(6)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial.write_bytes(b"")
        trial.unlink()
    except OSError as error:
        raise UserError(
            f"the project {project.name} takes no files in {folder} "
            f"({error.strerror or error}); put the permissions of the folder right"
        ) from error


def _entries(document: Any) -> list[Any]:
    found = document.get(_LIST) if isinstance(document, dict) else document
    if not isinstance(found, list):
        raise ValueError(f"it holds no list of projects in '{_LIST}'")
    return found


def _project(entry: Any) -> tuple[Project | None, str]:
    """The project that an entry holds, or why it holds none."""
    try:
        project = msgspec.convert(entry, Project)
    except msgspec.ValidationError as error:
        return None, str(error)
    if not project.id or not os.path.isabs(project.path):
        return None, "it has no id, or its path is not an absolute one"
    return project, ""
