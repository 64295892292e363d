"""The library of one data folder: its workflows, projects, saved agents, and the trash."""

from __future__ import annotations

import threading
from pathlib import Path
from uuid import uuid4

from msgspec.structs import replace

from engine.graph.edits import rename_workflow, with_workflow_id
from engine.graph.skills import Skill
from engine.graph.templates import builtin_templates
from engine.graph.workflow import Workflow
from orchestration.chats.chat_files import chats_folder, is_chat_file
from orchestration.chats.chat_shape import folder_of
from orchestration.errors import UserError
from orchestration.library.agent_shelf import AgentShelf
from orchestration.library.entries import Catalogue, Removed, WorkflowFile
from orchestration.library.file_heads import SUFFIX, FileHeads
from orchestration.library.projects import Project, ProjectStore, probe, project_in
from orchestration.library.skills import find_skills, skill_roots
from orchestration.library.trash import Trash, free_path
from orchestration.settings.agent_store import AgentStore
from orchestration.settings.data_folder import agents_file, path_segment
from orchestration.workflow_catalog import (
    create_workflow,
    examples,
    is_example,
    open_workflow,
    save_workflow,
)


class Library:
    """What a person keeps, as plain JSON files that can be read and compared without this program.

    All methods touch the disk, so an event loop calls them in a thread; any thread may. What a
    person can put right raises a `UserError`, and nothing has changed then.

    Attributes:
        agents: the saved agents.
    """

    def __init__(self, data_dir: Path) -> None:
        """Take the data folder; nothing is read or made yet."""
        self._data_dir = data_dir
        self._workflows = data_dir / "workflows"
        self._projects = ProjectStore(data_dir / "projects.json")
        self._trash = Trash(data_dir / "trash")
        self._heads = FileHeads()
        self._texts: dict[Path, tuple[int, str]] = {}
        self._lock = threading.RLock()
        self.agents = AgentShelf(AgentStore(agents_file(data_dir)), self._trash)

    def catalogue(self) -> Catalogue:
        """Everything there is; what is damaged hides nothing else and is told."""
        with self._lock:
            loaded, agents = self._projects.load(), self.agents.load()
            notices = [*loaded.notices, *agents.notices]
            in_projects: dict[str, tuple[WorkflowFile, ...]] = {}
            for project in loaded.projects:
                files, why = self._heads.in_folder(project.workflows, project.id)
                in_projects[project.id] = files
                if not Path(project.path).is_dir():
                    why = f"the folder of the project {project.name} is gone ({project.path})"
                notices += [why] if why else []
            own, why = self._heads.in_folder(self._workflows)
            notices += [why] if why else []
            chats, why = self._heads.in_folder(chats_folder(self._data_dir))
            notices += [why] if why else []
            taken = {file.id for files in in_projects.values() for file in files if file.id}
            return Catalogue(
                workflows=tuple(file for file in own if file.id not in taken),
                projects=tuple(sorted(loaded.projects, key=lambda p: p.name.casefold())),
                in_projects=in_projects,
                agents=agents.agents,
                chats=tuple(sorted(chats, key=_latest_first)),
                examples=tuple(self._heads.head(example.path) for example in examples()),
                templates=builtin_templates(),
                notices=tuple(notices),
            )

    def search(self, words: str) -> frozenset[Path]:
        """The workflow files in whose names, labels, prompts or notes every word is found."""
        wanted = words.casefold().split()
        found = set()
        catalogue = self.catalogue()
        for file in (*catalogue.files(), *catalogue.examples):
            if not file.damage and wanted:
                text = self._text(file.path)
                if all(word in text for word in wanted):
                    found.add(file.path)
        return frozenset(found)

    def create(self, project_id: str = "") -> Path:
        """Make a workflow with one node, in the data folder or in a project; give its file."""
        folder = self._folder(project_id)
        with self._lock:
            path = create_workflow(folder)
            return self._by_id(path) if project_id else path

    def rename(self, path: Path, name: str) -> None:
        """Give a workflow another name, in its file at once; a blank one changes nothing."""
        _refuse_example(path, "renamed")
        with self._lock:
            workflow = open_workflow(path)
            renamed = rename_workflow(workflow, name)
            if renamed != workflow:
                save_workflow(renamed, path)

    def duplicate(self, path: Path) -> Path:
        """Put a copy beside a workflow, under an id of its own; that of an example to the others.

        Give its file.
        """
        project = self.project_of(path)
        return self._add_copy(open_workflow(path), project.id if project else "")

    def copy_to_project(self, path: Path, project_id: str) -> Path:
        """Put a copy of a workflow into a project, under an id of its own; give its file."""
        return self._add_copy(open_workflow(path), project_id)

    def import_file(self, path: Path, project_id: str = "") -> Path:
        """Take a copy of a workflow file from elsewhere; give the new file.

        It keeps its id unless the library has that already: two files with one id would share
        their runs.
        """
        workflow = open_workflow(path)
        with self._lock:
            catalogue = self.catalogue()
            taken = {file.id for file in (*catalogue.files(), *catalogue.examples)}
            if workflow.id in taken or not workflow.id.strip():
                workflow = with_workflow_id(workflow, str(uuid4()))
            return self._write(workflow, project_id)

    def unlink(self, path: Path) -> Path | None:
        """Take a workflow out of its project; give the file of the data folder that it has now.

        Where the data folder has none with its id, it gets this one: nothing is lost.
        """
        project = self.project_of(path)
        if project is None:
            raise UserError(f"{path.name} belongs to no project")
        with self._lock:
            workflow = open_workflow(path)
            own, _ = self._heads.in_folder(self._workflows)
            kept = next((file.path for file in own if file.id == workflow.id), None)
            if kept is None:
                kept = self._write(workflow, "")
            self._trash.take_file(path, workflow.name)
            self._note_members(project)
            return kept

    def delete(self, path: Path) -> Removed:
        """Move a workflow file to the trash; `restore` brings it back."""
        _refuse_example(path, "deleted")
        with self._lock:
            head = self._heads.head(path)
            removed = self._trash.take_file(path, head.name)
            project = self.project_of(path)
            if project is not None:
                self._note_members(project)
            return removed

    def restore(self, removed: Removed) -> Path | str:
        """Bring back what was deleted: give the file of a workflow, or the id of an agent."""
        with self._lock:
            record = self._trash.record(removed)
            if record.agent is not None:
                return self.agents.restore(removed, record)
            path = self._trash.put_back(removed)
            project = self.project_of(path)
            if project is not None:
                self._note_members(project)
            return path

    def add_project(self, folder: Path) -> Project:
        """Make a project of a folder that is there; one that is one already is given as it is."""
        project = project_in(folder)
        with self._lock:
            projects = self._projects.load().projects
            for known in projects:
                if known.path == project.path:
                    return known
            self._projects.save((*projects, project))
            self._note_members(project)
        return project

    def change_project(self, project: Project) -> None:
        """Keep another name or execution folder of a project."""
        folder = project.default_execution_cwd
        if folder is not None and not Path(folder).is_dir():
            raise UserError(f"{folder} is not a folder; choose one that is there")
        with self._lock:
            projects = self._projects.load().projects
            self._projects.save(project if each.id == project.id else each for each in projects)

    def remove_project(self, project_id: str) -> Project:
        """Take a project off the list, its files stay; `keep_project` brings it back."""
        with self._lock:
            project = self._project(project_id)
            others = (each for each in self._projects.load().projects if each.id != project_id)
            self._projects.save(others)
            return project

    def keep_project(self, project: Project) -> None:
        """Put a project that was removed back on the list."""
        with self._lock:
            projects = self._projects.load().projects
            if all(each.id != project.id for each in projects):
                self._projects.save((*projects, project))

    def project_of(self, path: Path) -> Project | None:
        """The project that a workflow file belongs to, if there is one."""
        folder = path.parent.resolve()
        for project in self._projects.load().projects:
            if project.workflows.resolve() == folder:
                return project
        return None

    def run_folder(self, path: Path) -> Path | None:
        """The folder that runs of a workflow file work in; `None` for a managed one.

        Raises:
            UserError: the file belongs to a project whose folder is gone or takes no files, or it
                is a chat whose folder is gone.
        """
        if is_chat_file(path):
            folder = folder_of(open_workflow(path))
            if folder is not None and not folder.is_dir():
                raise UserError(f"the project folder of this chat is gone ({folder})")
            return folder
        project = self.project_of(path)
        if project is None:
            return None
        probe(project)
        return project.run_folder

    def skills(self, folder: Path | None = None) -> tuple[Skill, ...]:
        """What prompts can call by `/id`, in the order of ids; with those of a folder worked in."""
        return tuple(find_skills(skill_roots(Path.home(), self._data_dir, folder)).values())

    def skills_for(self, path: Path | None) -> tuple[Skill, ...]:
        """What the prompts of a workflow file can call: its project's skills are among them."""
        project = self.project_of(path) if path is not None else None
        return self.skills(None if project is None else Path(project.path))

    def _text(self, path: Path) -> str:
        """What is searched of a file; read again when the file has changed."""
        try:
            stamp = path.stat().st_mtime_ns
        except OSError:
            return ""
        known = self._texts.get(path)
        if known is None or known[0] != stamp:
            known = self._texts[path] = (stamp, _text_of(path))
        return known[1]

    def _project(self, project_id: str) -> Project:
        for project in self._projects.load().projects:
            if project.id == project_id:
                return project
        raise UserError("this project is gone; it may have been removed elsewhere")

    def _folder(self, project_id: str) -> Path:
        if not project_id:
            return self._workflows
        project = self._project(project_id)
        probe(project)
        return project.workflows

    def _add_copy(self, workflow: Workflow, project_id: str) -> Path:
        copy = rename_workflow(with_workflow_id(workflow, str(uuid4())), f"{workflow.name} copy")
        with self._lock:
            return self._write(copy, project_id)

    def _write(self, workflow: Workflow, project_id: str) -> Path:
        folder = self._folder(project_id)
        words = "".join(c if c.isalnum() or c in "-_" else "-" for c in workflow.name.lower())
        plain = "-".join(part for part in words.split("-") if part)[:60] or "workflow"
        stem = path_segment(workflow.id) if project_id else plain
        path = free_path(folder, f"{stem}{SUFFIX}")
        save_workflow(workflow, path)
        if project_id:
            self._note_members(self._project(project_id))
        return path

    def _by_id(self, path: Path) -> Path:
        """In projects, files are named after ids, so that nobody's file takes another's place."""
        head = self._heads.head(path)
        target = free_path(path.parent, f"{path_segment(head.id)}{SUFFIX}")
        path = path.rename(target)
        project = self.project_of(path)
        if project is not None:
            self._note_members(project)
        return path

    def _note_members(self, project: Project) -> None:
        files, _ = self._heads.in_folder(project.workflows, project.id)
        ids = tuple(file.id for file in files if file.id)
        projects = self._projects.load().projects
        self._projects.save(
            replace(each, workflow_ids=ids) if each.id == project.id else each for each in projects
        )


def _latest_first(file: WorkflowFile) -> tuple[bool, float, str]:
    try:
        changed = file.path.stat().st_mtime
    except OSError:
        changed = 0.0  # gone since it was listed
    return bool(file.damage), -changed, file.path.name


def _refuse_example(path: Path, done: str) -> None:
    if is_example(path):
        raise UserError(f"{path.name} comes with the program and cannot be {done}; duplicate it")


def _text_of(path: Path) -> str:
    try:
        workflow = open_workflow(path)
    except UserError:
        return ""
    parts = [workflow.name, workflow.settings.shared_context]
    parts += [note.text for note in workflow.annotations]
    for node in workflow.nodes:
        parts.append(node.label)
        if node.agent is not None:
            parts += [node.agent.system_prompt, node.agent.task_prompt]
    return "\n".join(parts).casefold()
