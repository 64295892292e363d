"""The file of the open workflow: saved, kept while unsaved, recovered, and watched."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from uuid import uuid4

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from app.canvas.snapshot import Snapshot
from app.desk import Desk
from app.difference_text import told_differences
from app.kit.dialogs import choose, choose_new_file, confirm
from app.kit.tasks import Tasks
from app.main_window import MainWindow
from engine.graph.edits import with_workflow_id
from engine.graph.serialization import WorkflowFormatError, dump_workflow, load_workflow
from engine.graph.workflow import Workflow
from orchestration.errors import UserError
from orchestration.workflow_catalog import is_example, open_workflow, save_workflow
from orchestration.workflow_swaps import Swap, SwapStore, digest_of, swap_key

_SETTLE_MS = 150
SUFFIX = ".workflow.json"


class Saving(QObject):
    """The file behind the document of one desk.

    Attributes:
        state: `saved`, `edited`, `saving` or `empty`, and what that means in a few words.
        is_taken: Tells whether a file is open in another tab.

    Signals:
        state_changed: `state` is another one.
        reopened: The document was read anew, or has another path; has the path.
    """

    state_changed = Signal()
    reopened = Signal(object)

    def __init__(self, desk: Desk, tasks: Tasks, swaps: SwapStore, workflows: Path) -> None:
        """Begin.

        Args:
            desk: Whose document it is.
            tasks: What runs the work.
            swaps: Where unsaved edits are kept.
            workflows: The folder that new files are put into by default.
        """
        super().__init__(desk)
        self._desk = desk
        self._document = desk.document
        self.state = ("empty", "")
        self.is_taken: Callable[[Path], bool] = lambda path: False
        self._tasks = tasks
        self._swaps = swaps
        self._workflows = workflows
        self._base = ""
        self._untitled = f"untitled-{uuid4().hex[:12]}"
        self._swap_is_due = False
        self._swap_writer: asyncio.Task[None] | None = None
        self._is_saving = False
        self._is_foreign = False
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._on_disk_changed)
        self._watcher.directoryChanged.connect(self._on_disk_changed)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._look_at_disk)
        self._document.edited.connect(self._on_edited)
        self._document.undo_changed.connect(self._tell)
        self._document.replaced.connect(self._tell)
        self._document.renamed.connect(self._tell)

    @property
    def _window(self) -> MainWindow:
        window = self._desk.canvas.window()
        assert isinstance(window, MainWindow)
        return window

    @property
    def is_untouched(self) -> bool:
        """Whether it is an example that nobody has changed."""
        path, document = self._document.path, self._document
        return path is not None and is_example(path) and not document.undo_stack.count()

    @property
    def has_edits(self) -> bool:
        """Whether there is something that would be lost."""
        return self._document.is_changed and self._document.workflow is not None

    @property
    def asks_where(self) -> bool:
        """Whether saving has to ask for a file."""
        path = self._document.path
        return path is None or is_example(path)

    @property
    def key(self) -> str:
        """The name under which this document's unsaved edits are kept."""
        path = self._document.path
        return self._untitled if path is None else swap_key(path)

    def act(self, action_id: str) -> bool:
        """Do what an action asks for; tells whether it is one of saving."""
        work: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
            "save": self.save,
            "save_as": self.save_as,
            "revert": self.revert,
        }
        if action_id not in work:
            return False
        self._tasks.spawn(self._told(work[action_id]()), action_id)
        return True

    def took(self, path: Path, base: str) -> None:
        """The document was read from a file with this digest."""
        self._base = base
        self._is_foreign = False
        self._watch(path)
        self._tell()

    async def save(self) -> bool:
        """Write the file; one that others have changed is not overwritten unasked.

        Raises:
            UserError: it could not be written; the edits are still here.
        """
        path, workflow = self._document.path, self._document.workflow
        if workflow is None or self._is_saving:
            return False
        if self.asks_where or path is None:
            return await self.save_as()
        on_disk = await asyncio.to_thread(file_digest, path)
        if on_disk not in ("", self._base) and not await self._settle_conflict(path):
            return False
        await self._write(path, workflow)
        return True

    async def save_as(self) -> bool:
        """Ask for another file and write that one; the document belongs to it from then on."""
        workflow = self._document.workflow
        if workflow is None:
            return False
        before = self._document.path
        name = "".join(c if c.isalnum() or c in " -_" else "-" for c in workflow.name).strip()
        folder = self._workflows
        if before is not None and not is_example(before):
            folder = before.parent
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        file = f"{name.lower().replace(' ', '-') or 'workflow'}{SUFFIX}"
        path = await choose_new_file(self._window, "Save Workflow As", folder / file)
        if path is None:
            return False
        if path != before and self.is_taken(path):
            raise UserError(f"{path.name} is open in another tab; choose another name")
        key = self.key
        if before is not None and path != before:
            # Two files with one id would share their runs.
            self._document.edit("Save as a copy", lambda w: with_workflow_id(w, str(uuid4())))
            workflow = self._document.workflow
            assert workflow is not None
        await self._write(path, workflow)
        await asyncio.to_thread(self._swaps.drop, key)
        self._document.move_to(path)
        self._watch(path)
        self.reopened.emit(path)
        return True

    async def revert(self) -> None:
        """Read the file again; edits are given up, after asking."""
        path = self._document.path
        if path is None:
            return
        if self._document.is_changed and not await confirm(
            self._window,
            "Revert to the saved version?",
            f"All edits since the last save of {path.name} are given up. This can't be undone.",
            "Revert",
        ):
            return
        await self._read_again(path)

    async def may_be_left(self) -> bool:
        """Whether the document may be closed: unsaved edits are asked about."""
        await self.flush()
        document = self._document
        if not self.has_edits:
            return True
        answer = await choose(
            self._window,
            f"Save “{document.graph.name}”?",
            "There are edits that are not in its file.",
            ("Save", "Don't Save"),
        )
        if answer == "Save":
            return await self.save()
        if answer == "Don't Save":
            await self.forget_edits()
            return True
        return False

    async def forget_edits(self) -> None:
        """Keep what was not saved no longer."""
        await self.flush()
        await asyncio.to_thread(self._swaps.drop, self.key)

    async def close(self) -> None:
        """Look at the disk no longer; what was edited last is written before."""
        self._settle.stop()
        for watched in (*self._watcher.files(), *self._watcher.directories()):
            self._watcher.removePath(watched)
        await self.flush()

    async def flush(self) -> None:
        """Wait until the last edit is on disk, in the file or beside it."""
        while self._swap_writer is not None:
            await asyncio.wait([self._swap_writer])

    async def _told(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except UserError as error:
            text = str(error)
            self._window.toasts.show_error(text[:1].upper() + text[1:])

    async def _write(self, path: Path, workflow: Workflow) -> None:
        self._is_saving = True
        self._tell()
        try:
            await self.flush()
            self._base = await asyncio.to_thread(_save, workflow, path)
            await asyncio.to_thread(self._swaps.drop, swap_key(path))
            self._is_foreign = False
            if self._document.workflow is workflow:
                self._document.undo_stack.setClean()
            else:
                self._keep_edits()
        finally:
            self._is_saving = False
            self._watch(path)
            self._tell()

    async def _settle_conflict(self, path: Path) -> bool:
        """Somebody else has changed the file: say how, and ask; tells whether to overwrite it."""
        mine = self._document.workflow
        assert mine is not None
        try:
            told = await asyncio.to_thread(lambda: told_differences(open_workflow(path), mine))
        except UserError as error:
            told = str(error)
        answer = await choose(
            self._window,
            f"{path.name} was changed by another program",
            f"What saving would change in it:\n{told}",
            ("Overwrite", "Save a Copy…", "Read from Disk"),
        )
        if answer == "Save a Copy…":
            await self.save_as()
        elif answer == "Read from Disk":
            await self._read_again(path)
        return answer == "Overwrite"

    async def _read_again(self, path: Path) -> None:
        base = await asyncio.to_thread(file_digest, path)
        workflow = await asyncio.to_thread(open_workflow, path)
        await self.flush()
        await asyncio.to_thread(self._swaps.drop, swap_key(path))
        self._base, self._is_foreign = base, False
        self._document.reload(workflow)
        self._watch(path)
        self.reopened.emit(path)

    async def offer_recovery(self, path: Path) -> None:
        """Offer the edits that were not saved the last time, if there are any."""
        swap = await asyncio.to_thread(self._swaps.find, swap_key(path))
        saved = self._document.workflow
        if swap is None or saved is None:
            return
        try:
            kept = await asyncio.to_thread(load_workflow, swap.text)
        except WorkflowFormatError:
            kept = saved
        if kept == saved or self._document.workflow is not saved:
            await asyncio.to_thread(self._swaps.drop, swap_key(path))
            return
        when = time.strftime("%H:%M on %d %B", time.localtime(swap.changed_at))
        since = "" if swap.base == self._base else "\nThe file was changed since then."
        if await confirm(
            self._window,
            "Recover unsaved edits?",
            f"“{saved.name}” was edited until {when} and not saved:\n"
            f"{told_differences(saved, kept)}{since}",
            "Recover",
            "Discard",
        ):
            self._document.edit("Recover unsaved edits", lambda _: kept)
        else:
            await asyncio.to_thread(self._swaps.drop, swap_key(path))

    def _on_edited(self, before: Snapshot, after: Snapshot) -> None:
        if before.workflow is not after.workflow and before.workflow is not None:
            self._keep_edits()

    def _keep_edits(self) -> None:
        """Put the newest state beside the file; a state that comes meanwhile is put there next."""
        self._swap_is_due = True
        if self._swap_writer is None:
            self._swap_writer = self._tasks.spawn(self._told(self._write_swaps()), "keep edits")
            self._swap_writer.add_done_callback(self._swap_written)

    def _swap_written(self, _: object) -> None:
        self._swap_writer = None

    async def _write_swaps(self) -> None:
        while self._swap_is_due:
            self._swap_is_due = False
            workflow, path = self._document.workflow, self._document.path
            if workflow is None:
                return
            if not self._document.is_changed:
                await asyncio.to_thread(self._swaps.drop, self.key)
                continue
            text = await asyncio.to_thread(dump_workflow, workflow)
            swap = Swap(str(path or ""), self._base, text, time.time())
            await asyncio.to_thread(self._swaps.keep, self.key, swap)

    def _watch(self, path: Path) -> None:
        for watched in (*self._watcher.files(), *self._watcher.directories()):
            self._watcher.removePath(watched)
        # The folder too: many programs save by putting another file in the old one's place.
        self._watcher.addPaths([str(path), str(path.parent)])

    def _on_disk_changed(self, _: str) -> None:
        self._settle.start()

    def _look_at_disk(self) -> None:
        path = self._document.path
        if path is not None and not self._is_saving:
            self._tasks.spawn(self._told(self._compare_with_disk(path)), "look at the file")

    async def _compare_with_disk(self, path: Path) -> None:
        on_disk = await asyncio.to_thread(file_digest, path)
        if self._is_saving or path != self._document.path or on_disk in ("", self._base):
            return
        self._watch(path)
        if self._document.is_changed:
            if not self._is_foreign:
                self._is_foreign = True
                self._tell()
                self._window.toasts.show_error(
                    f"{path.name} was changed by another program. "
                    "Your edits are kept; saving will show the differences first."
                )
        else:
            await self._read_again(path)
            self._window.toasts.show_error(
                f"{path.name} was changed by another program and has been read again."
            )

    def _tell(self) -> None:
        state = self._state()
        if state != self.state:
            self.state = state
            self.state_changed.emit()

    def _state(self) -> tuple[str, str]:
        document = self._document
        if document.workflow is None:
            return "empty", ""
        if self._is_saving:
            return "saving", "Saving…"
        if self._is_foreign:
            return "edited", "Changed on disk"
        if document.is_changed:
            return "edited", "Edited"
        if document.path is not None and is_example(document.path):
            return "saved", "Example"
        return "saved", "Saved"


def file_digest(path: Path) -> str:
    """The digest of a file, empty where there is none to read."""
    try:
        return digest_of(path.read_bytes())
    except OSError:
        return ""


def _save(workflow: Workflow, path: Path) -> str:
    save_workflow(workflow, path)
    return file_digest(path)
