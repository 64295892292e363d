"""What a person does in the library's list becomes calls of the library; deleting can be undone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from app.common import Common
from app.editing import Editing
from app.kit.dialogs import choose_file, choose_folder, choose_new_file
from app.library.agent_editor import AgentEditor
from app.library.menus import Offer, offers
from app.library.rows import Row
from app.main_window import MainWindow
from engine.graph.edits import rename_workflow
from orchestration.errors import UserError
from orchestration.library.agent_shape import agent_from, new_agent
from orchestration.library.entries import Catalogue, Removed

if TYPE_CHECKING:
    from engine.graph.agents import CallableAgent
    from orchestration.library.projects import Project

Do = Callable[[Coroutine[Any, Any, None], str], None]
_SETTLE_MS = 150
_AGENT_SUFFIX = ".agent.json"


class Librarian(QObject):
    """Joins the list of one window and the library.

    Signals:
        opened: Path of a workflow to open.
        closed: Path of a workflow that was deleted.
        compared: Path of a workflow to compare the open one with.
    """

    opened = Signal(object)
    closed = Signal(object)
    compared = Signal(object)

    def __init__(
        self,
        window: MainWindow,
        common: Common,
        editing: Editing,
        do: Do,
    ) -> None:
        """Listen; `do` starts work and says what it refuses."""
        super().__init__(window)
        self._window = window
        self._common = common
        self._library = common.backend.library
        self._sidebar = window.sidebar
        self._list = window.sidebar.library
        self._editing = editing
        self._do = do
        self._told: tuple[str, ...] = ()
        self._is_closed = False
        self.catalogue = Catalogue()
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self._on_disk_changed)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self.refresh)
        self._searching = QTimer(self)
        self._searching.setSingleShot(True)
        self._searching.setInterval(_SETTLE_MS)
        self._searching.timeout.connect(self._search)
        self._list.offers = self._offers
        self._list.opened.connect(self._on_opened)
        self._list.named.connect(self._on_named)
        self._list.asked.connect(self._on_asked)
        self._list.dropped.connect(self._on_dropped)
        self._list.folded.connect(self._on_folded)
        self._sidebar.filtered.connect(self._on_filtered)
        self._list.fold(filter(None, window.state.text("library_folded").split("\n")))

    def act(self, action_id: str) -> bool:
        """Do what an action asks for; tells whether it is one of the library."""
        work: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "import": partial(self._ask_for_import, ""),
            "add_project": self._ask_for_project,
            "new_agent": self._new_agent,
            "save_agent": self._save_as_agent,
        }
        if action_id not in work:
            return False
        self._do(work[action_id](), action_id)
        return True

    def refresh(self) -> None:
        """Read the library again."""
        if not self._is_closed:
            self._do(self._read(), "read the library")

    def close(self) -> None:
        """Look at the disk no longer."""
        self._is_closed = True
        self._settle.stop()
        self._searching.stop()
        watched = self._watcher.directories()
        if watched:
            self._watcher.removePaths(watched)

    async def _read(self) -> None:
        self.catalogue = await asyncio.to_thread(self._library.catalogue)
        if self._is_closed:
            return
        self._sidebar.show_catalogue(self.catalogue)
        self._editing.agents = self.catalogue.agents
        for notice in self.catalogue.notices:
            if notice not in self._told:
                self._window.toasts.show_error(notice[:1].upper() + notice[1:])
        self._told = self.catalogue.notices
        folders = {str(file.path.parent) for file in self.catalogue.files()}
        folders |= {str(project.workflows) for project in self.catalogue.projects}
        new = folders - set(self._watcher.directories())
        present = await asyncio.to_thread(_present, new)
        if present and not self._is_closed:
            self._watcher.addPaths(present)

    def _offers(self, row: Row) -> tuple[Offer, ...]:
        return offers(row, [(project.id, project.name) for project in self.catalogue.projects])

    def _on_opened(self, row: Row) -> None:
        if row.kind == "agent":
            self._do(self._open_agent(_id(row)), "open an agent")
        elif row.kind == "template":
            self._editing.add(row.key)

    def _on_named(self, row: Row, name: str) -> None:
        self._do(self._rename(row, name), "rename")

    def _on_dropped(self, paths: list[Path], project_id: str) -> None:
        self._do(self._take(paths, project_id), "import files")

    def _on_folded(self, keys: list[str]) -> None:
        self._window.state.put("library_folded", "\n".join(keys))

    def _on_filtered(self, words: str) -> None:
        if len(words.strip()) > 1:
            self._searching.start()
        else:
            self._searching.stop()

    def _on_disk_changed(self, _: str) -> None:
        self._settle.start()

    def _search(self) -> None:
        self._do(self._look_inside(self._sidebar.filter.text()), "search the library")

    async def _look_inside(self, words: str) -> None:
        found = await asyncio.to_thread(self._library.search, words)
        if words == self._sidebar.filter.text():
            self._sidebar.show_found(words, found)

    def _on_asked(self, verb: str, row: Row) -> None:
        if verb == "add":
            self._editing.add(row.key)
        elif verb == "compare":
            self.compared.emit(row.path)
        elif verb in ("new", "new_agent", "import", "add_project") and row.kind == "section":
            self._window.actions_[verb].trigger()
        else:
            self._do(self._change(verb, row), verb)

    async def _change(self, verb: str, row: Row) -> None:
        """Do what is wanted of a row, as far as its kind allows."""
        library, path = self._library, row.path
        if verb == "delete":
            await self._delete(row)
        elif verb == "duplicate" and row.kind == "agent":
            copy = await asyncio.to_thread(library.agents.duplicate, _id(row))
            await self._show(f"agent:{copy.id}", rename=True)
        elif verb == "export" and path is not None:
            await self._export(path.name, partial(_copy, path))
        elif verb == "export":
            name = f"{row.name.lower().replace(' ', '-').replace('/', '-')}{_AGENT_SUFFIX}"
            await self._export(name, partial(library.agents.export_file, _id(row)))
        elif verb == "new":
            made = await asyncio.to_thread(library.create, row.project_id)
            await self._show(str(made))
            self.opened.emit(made)
        elif verb == "import":
            await self._ask_for_import(row.project_id)
        elif verb == "run_folder":
            await self._ask_for_run_folder(row.project_id)
        elif path is not None and row.is_file and row.kind != "damaged":
            await self._change_file(verb, path)

    async def _change_file(self, verb: str, path: Path) -> None:
        library = self._library
        kind, _, project_id = verb.partition(":")
        if kind == "duplicate":
            made = await asyncio.to_thread(library.duplicate, path)
            await self._show(str(made), rename=True)
        elif kind == "copy":
            made = await asyncio.to_thread(library.copy_to_project, path, project_id)
            await self._show(str(made))
        elif kind == "keep":
            made = await asyncio.to_thread(library.import_file, path)
            await self._show(str(made))
        elif kind == "unlink":
            self._refuse_running(path, "taken out")
            kept = await asyncio.to_thread(library.unlink, path)
            self._window.state.forget(path)
            await self._show(str(kept))
            if self._common.find(path) is not None and kept is not None:
                self.closed.emit(path)
                self.opened.emit(kept)

    async def _rename(self, row: Row, name: str) -> None:
        library = self._library
        known = self._common.find(row.path) if row.path is not None else None
        if row.kind == "agent":
            await asyncio.to_thread(library.agents.rename, _id(row), name)
        elif row.kind == "project":
            project = replace(self._project(row.project_id), name=name)
            await asyncio.to_thread(library.change_project, project)
        elif known is not None and known.document.workflow is not None:
            was_saved = not known.document.is_changed
            known.document.edit("Rename workflow", lambda workflow: rename_workflow(workflow, name))
            if was_saved:
                await known.saving.save()
        elif row.path is not None:
            await asyncio.to_thread(library.rename, row.path, name)
            if row.kind == "outside":
                self._window.state.rename(row.path, name)
        await self._read()

    async def _delete(self, row: Row) -> None:
        if row.kind == "outside" and row.path is not None:
            if self._common.find(row.path) is not None:
                raise UserError(f"{row.name} is open; close its tab before removing it")
            self._window.state.forget(row.path)
        elif row.kind == "project":
            project = await asyncio.to_thread(self._library.remove_project, row.project_id)
            self._offer_undo(f"“{row.name}” was removed; its files are untouched", project)
        elif row.kind == "agent":
            removed = await asyncio.to_thread(self._library.agents.delete, _id(row))
            self._offer_undo(f"“{row.name}” was deleted", removed)
        elif row.kind in ("workflow", "damaged") and row.path is not None:
            self._refuse_running(row.path, "deleted")
            known = self._common.find(row.path)
            if known is not None:
                await known.saving.flush()
            removed = await asyncio.to_thread(self._library.delete, row.path)
            self._window.state.forget(row.path)
            if known is not None:
                self.closed.emit(row.path)
            self._offer_undo(f"“{row.name}” was deleted", removed, was_open=known is not None)
        await self._read()

    def _offer_undo(self, text: str, what: Removed | Project, *, was_open: bool = False) -> None:
        def undo() -> None:
            self._do(self._restore(what, was_open), "undo deleting")

        self._window.toasts.show_offer(text, "Undo", undo)

    async def _restore(self, what: Removed | Project, was_open: bool) -> None:
        if not isinstance(what, Removed):
            await asyncio.to_thread(self._library.keep_project, what)
            await self._show(f"project:{what.id}")
            return
        back = await asyncio.to_thread(self._library.restore, what)
        await self._show(str(back) if isinstance(back, Path) else f"agent:{back}")
        if was_open:
            self.opened.emit(back)

    async def _take(self, paths: list[Path], project_id: str) -> None:
        """Take files and folders in; what the library has already is copied to the project."""
        kept = {file.path for file in (*self.catalogue.files(), *self.catalogue.examples)}
        taken = ""
        opened: Path | None = None
        for path in paths:
            if await asyncio.to_thread(path.is_dir):
                project = await asyncio.to_thread(self._library.add_project, path)
                taken = f"project:{project.id}"
            elif path.name.endswith(_AGENT_SUFFIX):
                agent = await asyncio.to_thread(self._library.agents.import_file, path)
                taken = f"agent:{agent.id}"
            elif path in kept and project_id:
                copy = await asyncio.to_thread(self._library.copy_to_project, path, project_id)
                taken = str(copy)
            else:
                opened = await asyncio.to_thread(self._library.import_file, path, project_id)
                taken = str(opened)
        await self._show(taken)
        if opened is not None and len(paths) == 1:
            self.opened.emit(opened)

    async def _export(self, name: str, write: Callable[[Path], None]) -> None:
        target = await choose_new_file(self._window, "Export", Path.home() / name)
        if target is not None:
            await asyncio.to_thread(write, target)

    async def _ask_for_import(self, project_id: str) -> None:
        file = await choose_file(self._window, "Import into the Library", None)
        if file is not None:
            await self._take([file], project_id)

    async def _ask_for_project(self) -> None:
        folder = await choose_folder(self._window, "Add a Project Folder", None)
        if folder is not None:
            await self._take([folder], "")

    async def _ask_for_run_folder(self, project_id: str) -> None:
        project = self._project(project_id)
        folder = await choose_folder(self._window, "Folder for Runs", project.run_folder)
        if folder is not None:
            chosen = None if str(folder) == project.path else str(folder)
            changed = replace(project, default_execution_cwd=chosen)
            await asyncio.to_thread(self._library.change_project, changed)
            await self._read()

    async def _new_agent(self) -> None:
        names = {agent.name for agent in self.catalogue.agents}
        number = next(n for n in range(1, len(names) + 2) if f"Agent {n}" not in names)
        agent = new_agent(f"Agent {number}")
        await asyncio.to_thread(self._library.agents.save, agent)
        await self._show(f"agent:{agent.id}", rename=True)

    async def _open_agent(self, agent_id: str) -> None:
        agent = await asyncio.to_thread(self._library.agents.find, agent_id)
        for editor in self._window.findChildren(AgentEditor):
            if editor.isVisible() and editor.agent.id == agent_id:
                editor.activateWindow()
                return
        editor = AgentEditor(self._window, agent)
        editor.changed.connect(self._on_agent_changed)
        editor.show()

    def _on_agent_changed(self, agent: CallableAgent) -> None:
        self._do(self._keep_agent(agent), "keep an agent")

    async def _keep_agent(self, agent: CallableAgent) -> None:
        await asyncio.to_thread(self._library.agents.save, agent)
        await self._read()

    async def _save_as_agent(self) -> None:
        workflow, chosen = self._window.document.workflow, self._window.scene.chosen_node()
        node = workflow.node(chosen) if workflow is not None and chosen else None
        if node is None or node.agent is None:
            raise UserError("choose one agent node to save it as an agent")
        agent = agent_from(node.label or node.id, node.agent)
        await asyncio.to_thread(self._library.agents.save, agent)
        await self._show(f"agent:{agent.id}")

        def undo() -> None:
            self._do(self._forget_agent(agent.id), "undo saving an agent")

        self._window.toasts.show_offer(f"“{agent.name}” is a saved agent now", "Undo", undo)

    async def _forget_agent(self, agent_id: str) -> None:
        await asyncio.to_thread(self._library.agents.delete, agent_id)
        await self._read()

    async def _show(self, key: str, *, rename: bool = False) -> None:
        """Read the library again and go to a row; perhaps its name is to be typed at once."""
        await self._read()
        if self._list.go_to(key) and rename:
            self._list.rename(key)

    def _project(self, project_id: str) -> Project:
        for project in self.catalogue.projects:
            if project.id == project_id:
                return project
        raise UserError("this project is gone; it may have been removed elsewhere")

    def _refuse_running(self, path: Path, done: str) -> None:
        if self._common.runs.is_active(path):
            raise UserError(f"{path.name} has a run under way; stop it before it can be {done}")


def _id(row: Row) -> str:
    return row.key.partition(":")[2]


def _copy(source: Path, target: Path) -> None:
    try:
        target.write_bytes(source.read_bytes())
    except OSError as error:
        raise UserError(f"{target} was not written ({error.strerror or error})") from error


def _present(folders: Iterable[str]) -> list[str]:
    return [folder for folder in folders if Path(folder).is_dir()]
