"""The list of projects: folders whose workflows are kept with what they work on."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Struct

from orchestration.errors import UserError
from orchestration.settings.list_file import ListFile, ListWords

WORKFLOWS_IN_PROJECT = Path(".flow") / "workflows"
_WORDS = ListWords("projects", "project", "projects")


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
        self._file = ListFile(path, _WORDS, _project)

    def load(self) -> LoadedProjects:
        """Read the projects, each once; see `ListFile.load`."""
        loaded = self._file.load()
        found: dict[str, Project] = {}
        for project in loaded.entries:
            found.setdefault(project.id, project)
        return LoadedProjects(tuple(found.values()), loaded.notices)

    def save(self, projects: Iterable[Project]) -> None:
        """Write the projects; see `ListFile.save`."""

        def written(entries: list[Any]) -> list[Any]:
            known = {entry["id"]: entry for entry in entries}
            return [{**known.get(p.id, {}), **msgspec.to_builtins(p)} for p in projects]

        self._file.save(written, _formatted)


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


def _formatted(whole: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"


def _project(entry: Any) -> tuple[Project | None, str]:
    """The project that an entry holds, or why it holds none."""
    try:
        project = msgspec.convert(entry, Project)
    except msgspec.ValidationError as error:
        return None, str(error)
    if not project.id or not os.path.isabs(project.path):
        return None, "it has no id, or its path is not an absolute one"
    return project, ""
