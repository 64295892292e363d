"""What the library's list shows, from top to bottom, as plain values."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import resources
from orchestration.chats.chat_files import is_chat_file

if TYPE_CHECKING:
    from orchestration.library.entries import Catalogue, WorkflowFile

SUFFIX = ".workflow.json"
EXAMPLES_FOLDER = Path(os.path.dirname(resources.__file__ or "")) / "examples"

RUN_MARKS = {
    "running": ("disc", "running", "running"),
    "paused": ("question", "waiting", "waiting for you"),
    "completed": ("check", "done", "done"),
    "failed": ("cross", "failed", "failed"),
    "stopped": ("square", "idle", "stopped"),
}
"""Status of a run to the shape, colour and word of its mark."""


class WorkflowEntry(NamedTuple):
    """One workflow; `status` is that of its run, empty where it has none."""

    path: Path
    name: str
    status: str = ""


class Row(NamedTuple):
    """One row.

    `kind` is `section`, `workflow`, `outside` (a workflow file that is not kept in the library),
    `example`, `damaged`, `chat`, `project`, `agent`, `template` or `hint`. `key` is unique. `note`
    is said in the tooltip.
    """

    kind: str
    key: str
    name: str
    note: str = ""
    path: Path | None = None
    project_id: str = ""
    status: str = ""
    depth: int = 0

    @property
    def is_file(self) -> bool:
        """Whether it stands for a workflow file that can be opened."""
        return self.kind in ("workflow", "outside", "example", "damaged", "chat")

    @property
    def can_be_renamed(self) -> bool:
        """Whether a person may give it another name."""
        return self.kind in ("workflow", "outside", "project", "agent", "chat")

    @property
    def spoken(self) -> str:
        """What a screen reader says."""
        if self.kind == "damaged":
            return f"{self.name}, damaged"
        meaning = RUN_MARKS[self.status][2] if self.status in RUN_MARKS else ""
        return f"{self.name}, {meaning}" if meaning else self.name


class Branch(NamedTuple):
    """A row with the rows below it."""

    row: Row
    children: tuple[Branch, ...] = ()


def tree(
    catalogue: Catalogue | None,
    entries: Iterable[WorkflowEntry],
    current: Path | None = None,
    words: str = "",
    found: Collection[Path] = (),
) -> tuple[Branch, ...]:
    """The whole list.

    Args:
        catalogue: What is kept; `None` until it has been read.
        entries: What the window knows of: files that were open, and what runs.
        current: The open workflow, whose name may not be in its file yet.
        words: What is filtered for; sections without a match are left out then.
        found: Files that match by what is in them.
    """
    known = {entry.path: entry for entry in entries}
    listing = _Listing(catalogue, known, current, words, found)
    sections = (
        ("workflows", "Workflows", listing.workflows(), _NO_WORKFLOWS),
        ("projects", "Projects", listing.projects(), _NO_PROJECTS),
        ("chats", "Chats", listing.chats(), _NO_CHATS),
        ("agents", "Agents", listing.agents(), _NO_AGENTS),
        ("examples", "Examples", listing.examples(), ""),
        ("templates", "Templates", listing.templates(), ""),
    )
    branches = []
    for key, name, children, hint in sections:
        inside = tuple(children)
        if not inside and not words and hint:
            inside = (Branch(Row("hint", f"hint:{key}", hint, depth=1)),)
        if inside or (hint and not words):
            branches.append(Branch(Row("section", f"section:{key}", name), inside))
    if words and not branches:
        nothing = f"Nothing here has “{words.strip()}” in it. Esc shows everything again."
        branches.append(Branch(Row("hint", "hint:nothing", nothing)))
    return tuple(branches)


def flat(branches: Iterable[Branch]) -> Iterator[Row]:
    """All rows from top to bottom."""
    for branch in branches:
        yield branch.row
        yield from flat(branch.children)


_NO_WORKFLOWS = "None yet. Ctrl+N makes one; or drop a workflow file here."
_NO_PROJECTS = "Drop a folder here to keep workflows with the files they work on."
_NO_CHATS = "Ctrl+Alt+N starts one: a talk with an agent, without a workflow."
_NO_AGENTS = "Right-click a node and choose Save as Agent to use it in every workflow."


class _Listing:
    """The rows of each section that fit what is filtered for."""

    def __init__(
        self,
        catalogue: Catalogue | None,
        known: Mapping[Path, WorkflowEntry],
        current: Path | None,
        words: str,
        found: Collection[Path],
    ) -> None:
        self._catalogue = catalogue
        self._known = known
        self._current = current
        self._words = words.casefold().split()
        self._found = found

    def workflows(self) -> Iterator[Branch]:
        """Those of the data folder, and those elsewhere that were open."""
        catalogue = self._catalogue
        rows = [self._file(file, 1) for file in (catalogue.workflows if catalogue else ())]
        kept = {file.path for file in catalogue.files()} if catalogue else set()
        for path, entry in self._known.items():
            is_outside = path not in kept and path.parent != EXAMPLES_FOLDER
            if is_outside and not is_chat_file(path):
                note = f"{path}\nNot kept in the library"
                rows.append(Row("outside", str(path), entry.name, note, path, "", entry.status, 1))
        rows.sort(key=lambda row: (row.kind == "damaged", row.name.casefold(), row.key))
        return (Branch(row) for row in rows if self._fits(row))

    def projects(self) -> Iterator[Branch]:
        """Each with its workflows; one that fits shows all of them."""
        if self._catalogue is None:
            return
        for project in self._catalogue.projects:
            row = Row(
                "project",
                f"project:{project.id}",
                project.name,
                project.path,
                Path(project.path),
                project.id,
                depth=1,
            )
            files = [self._file(file, 2) for file in self._catalogue.in_projects[project.id]]
            fits = self._fits(row)
            inside = tuple(Branch(file) for file in files if fits or self._fits(file))
            if not files:
                words = "No workflows yet. Right-click the project to make one."
                inside = (Branch(Row("hint", f"hint:{project.id}", words, depth=2)),)
            if fits or (files and inside):
                yield Branch(row, inside)

    def chats(self) -> Iterator[Branch]:
        """Direct chats, the latest one first."""
        for file in self._catalogue.chats if self._catalogue else ():
            row = self._file(file, 1)
            if row.kind == "workflow":
                row = row._replace(kind="chat", note=row.name)
            if self._fits(row):
                yield Branch(row)

    def agents(self) -> Iterator[Branch]:
        """The saved agents."""
        for agent in self._catalogue.agents if self._catalogue else ():
            row = Row("agent", f"agent:{agent.id}", agent.name, agent.purpose, depth=1)
            if self._fits(row):
                yield Branch(row)

    def examples(self) -> Iterator[Branch]:
        """Workflows that come with the program."""
        if self._catalogue is None:
            rows = [
                Row("example", str(path), entry.name, "", path, "", entry.status, 1)
                for path, entry in self._known.items()
                if path.parent == EXAMPLES_FOLDER
            ]
        else:
            rows = [
                self._file(file, 1)._replace(kind="example", note="Example: it opens as it is")
                for file in self._catalogue.examples
            ]
        return (Branch(row) for row in rows if self._fits(row))

    def templates(self) -> Iterator[Branch]:
        """Kinds of nodes that come with the program."""
        for template in self._catalogue.templates if self._catalogue else ():
            note = f"{template.description}\nAdds a node to the open workflow"
            key = f"template:{template.id}"
            row = Row("template", key, template.display_name, note, depth=1)
            if self._fits(row):
                yield Branch(row)

    def _file(self, file: WorkflowFile, depth: int) -> Row:
        entry = self._known.get(file.path)
        status = entry.status if entry is not None else ""
        name = file.name
        if entry is not None and file.path == self._current:
            name = entry.name.removesuffix(f" ({file.path.parent.name})")
        kind = "damaged" if file.damage else "workflow"
        note = f"{file.path}\nIt cannot be read: {file.damage}" if file.damage else str(file.path)
        return Row(kind, str(file.path), name, note, file.path, file.project_id, status, depth)

    def _fits(self, row: Row) -> bool:
        name = row.name.casefold()
        return all(word in name for word in self._words) or row.path in self._found
