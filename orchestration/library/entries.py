"""What the library holds, as it is listed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from orchestration.library.projects import Project

if TYPE_CHECKING:
    from engine.graph.agents import CallableAgent
    from engine.graph.templates import NodeTemplate


class WorkflowFile(Struct, frozen=True):
    """A workflow file.

    Attributes:
        path: the file.
        id: the workflow's id; empty where it cannot be read.
        name: what a person calls it; the file's name where it cannot be read.
        project_id: the project it belongs to; empty for one of the data folder.
        nodes: how many nodes it has.
        damage: why it cannot be read; empty for a good one.
    """

    path: Path
    id: str
    name: str
    project_id: str = ""
    nodes: int = 0
    damage: str = ""


class Catalogue(Struct, frozen=True):
    """The library at one moment.

    Attributes:
        workflows: those of the data folder that no project has too, by name; damaged ones last.
        projects: by name, each with its workflows in `in_projects`.
        in_projects: project id to its workflows.
        agents: the saved agents in their order.
        chats: direct chats, the one that was changed last first; damaged ones last.
        examples: workflows that come with the program.
        templates: kinds of nodes that come with the program.
        notices: sentences about what could not be read.
    """

    workflows: tuple[WorkflowFile, ...] = ()
    projects: tuple[Project, ...] = ()
    in_projects: dict[str, tuple[WorkflowFile, ...]] = {}
    agents: tuple[CallableAgent, ...] = ()
    chats: tuple[WorkflowFile, ...] = ()
    examples: tuple[WorkflowFile, ...] = ()
    templates: tuple[NodeTemplate, ...] = ()
    notices: tuple[str, ...] = ()

    def files(self) -> tuple[WorkflowFile, ...]:
        """Every workflow of the data folder and the projects, and every chat; damaged ones too."""
        in_projects = (file for files in self.in_projects.values() for file in files)
        return (*self.workflows, *in_projects, *self.chats)


class Removed(Struct, frozen=True):
    """Something that was deleted and can be brought back; `id` names its place in the trash."""

    id: str
    name: str
