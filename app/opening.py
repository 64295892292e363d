"""The tabs of one window: files are opened in them, they are closed, brought back and moved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.canvas.document import WorkflowDocument
from app.common import Common
from app.desk import Desk
from app.leaving import edits_may_be_left, runs_may_be_left
from app.main_window import MainWindow
from app.open_workflow import OpenWorkflow
from app.saving import Saving, file_digest
from engine.graph.workflow import Workflow
from orchestration.backend import Backend
from orchestration.errors import UserError
from orchestration.workflow_swaps import swap_key

Do = Callable[[Coroutine[Any, Any, None], str], None]
_MOST_CLOSED = 20


class Opening(QObject):
    """Each desk of the window with what stands behind it.

    Signals:
        changed: Something else is to be shown in the window.
    """

    changed = Signal()

    def __init__(self, window: MainWindow, common: Common, do: Do) -> None:
        """`do` starts work and says what it refuses."""
        super().__init__(window)
        self._window = window
        self._common = common
        self._backend = common.backend
        self._do = do
        self._desks = window.desks
        self._by_desk: dict[Desk, OpenWorkflow] = {}
        for desk in self._desks.all:
            self._equip(desk)
        self._shown = self.front
        self._desks.front_changed.connect(self._on_front_changed)
        common.file_gone.connect(self.drop_file)

    @property
    def front(self) -> OpenWorkflow:
        """What is open in front."""
        return self._by_desk[self._desks.front]

    @property
    def all(self) -> list[OpenWorkflow]:
        """What is open in this window, in the order of its tabs."""
        return [self._by_desk[desk] for desk in self._desks.all]

    def knows(self, desk: Desk) -> bool:
        """Whether something stands behind this desk already."""
        return desk in self._by_desk

    async def open(self, path: Path) -> OpenWorkflow:
        """Show a file: in the tab that has it, in whichever window, else in one of its own.

        Returns:
            What stands behind the tab.

        Raises:
            UserError: it cannot be read, or is no workflow; everything is as it was.
        """
        known = self._common.find(path)
        if known is not None:
            known.come_to_front()
            await known.read()
            return known
        base, workflow = await self._read_file(path)
        known = self._common.find(path)
        if known is not None:  # asked for twice; the other one was quicker
            known.come_to_front()
            return known
        known = self.front
        if not known.may_be_replaced:
            known = self._equip(self._desks.add(WorkflowDocument()))
        known.take(path, workflow, base)
        known.come_to_front()
        await self._was_read(known)
        return known

    async def read(self, known: OpenWorkflow) -> None:
        """Read the file of a tab that has only been listed, or drawn, so far.

        Raises:
            UserError: it cannot be read; the tab is gone.
        """
        async with known.reading:
            path = known.document.path
            if path is None or not known.is_unread:
                return
            try:
                base, workflow = await self._read_file(path)
            except UserError:
                self._drop(known)
                raise
            if known.document.path != path or not known.is_unread:
                return  # meanwhile it was closed, or gave its place to another one
            known.take(path, workflow, base)
        await self._was_read(known)

    def list_file(self, path: Path, looking_at: str, place: int) -> None:
        """Have a tab for a file at some place; it is read when it comes to the front."""
        document = WorkflowDocument()
        document.path = path
        desk = self._desks.add(document, place)
        desk.remembered = looking_at
        self._equip(desk)

    async def mark_unsaved(self) -> None:
        """Mark the tabs that have edits of an earlier time which were never saved."""
        kept = set(await asyncio.to_thread(self._common.swaps.keys))
        for each in self.all:
            path = each.document.path
            each.has_swap = each.is_unread and path is not None and swap_key(path) in kept
        self.changed.emit()

    async def close(self, works: Sequence[OpenWorkflow]) -> bool:
        """Close these tabs, unless the person thinks better of it; tells whether they are gone."""
        if not await edits_may_be_left(self._window, works):
            return False
        if not await runs_may_be_left(self._window, self._common, works):
            return False
        for each in works:
            self._drop(each)
        return True

    async def reopen(self) -> None:
        """Bring back the tab that was closed last."""
        while self._common.closed:
            path = self._common.closed.pop()
            if self._common.find(path) is None and await asyncio.to_thread(path.exists):
                await self.open(path)
                return

    def drop_file(self, path: Path) -> None:
        """Close the tab of a file that is gone, if this window has it."""
        known = self._common.find(path)
        if known is not None and known.desk in self._by_desk:
            self._drop(known, may_come_back=False)

    def hand_over(self, work: OpenWorkflow) -> None:
        """Give a tab away: it goes to another window with its undo list and all."""
        self._release(work)
        self._desks.give_up(work.desk)
        del self._by_desk[work.desk]
        work.desk.strip(self._window.actions_)

    def take_over(self, work: OpenWorkflow) -> None:
        """Take a tab that another window has given away, and show it."""
        empty = [each for each in self.all if each.desk.is_empty]
        self._by_desk[work.desk] = work
        self._listen(work)
        self._desks.take_in(work.desk)
        self._desks.show_desk(work.desk)
        for each in empty:
            self._drop(each)

    def end(self) -> Iterable[Coroutine[Any, Any, None]]:
        """What is to be awaited before the window may go."""
        for each in self.all:
            self._common.opened.remove(each)
            yield each.close()

    async def _read_file(self, path: Path) -> tuple[str, Workflow]:
        try:
            return await asyncio.to_thread(_read, self._backend, path)
        except UserError:
            if not await asyncio.to_thread(path.exists):
                self._window.state.forget(path)
            raise

    async def _was_read(self, known: OpenWorkflow) -> None:
        path = known.document.path
        assert path is not None
        self._window.state.remember_open(path, known.document.graph.name)
        known.session = self._common.runs.of(path)
        self.changed.emit()
        await known.check()
        await known.saving.offer_recovery(path)

    def _equip(self, desk: Desk) -> OpenWorkflow:
        common = self._common
        folder = self._backend.data_dir / "workflows"
        work = OpenWorkflow(desk, self._backend, Saving(desk, common.tasks, common.swaps, folder))
        work.saving.is_taken = self._is_taken
        self._by_desk[desk] = work
        common.opened.append(work)
        self._listen(work)
        return work

    def _is_taken(self, path: Path) -> bool:
        return self._common.find(path) is not None

    def _listen(self, work: OpenWorkflow) -> None:
        work.read = partial(self.read, work)
        work.changed.connect(self.changed)
        work.check_wanted.connect(self._check)
        work.reopened.connect(self._on_reopened)
        work.front_wanted.connect(self._bring_to_front)

    def _release(self, work: OpenWorkflow) -> None:
        work.changed.disconnect(self.changed)
        work.check_wanted.disconnect(self._check)
        work.reopened.disconnect(self._on_reopened)
        work.front_wanted.disconnect(self._bring_to_front)

    def _drop(self, work: OpenWorkflow, *, may_come_back: bool = True) -> None:
        """Close a tab without asking; the last one stays, with nothing in it."""
        path = work.document.path
        if path is not None and may_come_back:
            self._common.closed = [*self._common.closed, path][-_MOST_CLOSED:]
        if len(self._desks.all) == 1:
            work.show_nothing()
            self.changed.emit()
            return
        self._release(work)
        self._desks.give_up(work.desk)
        del self._by_desk[work.desk]
        self._common.opened.remove(work)
        # Whoever still works for it finds that there is nothing any more.
        work.document.clear()
        self._do(_end(work), "close a tab")

    def _bring_to_front(self, work: OpenWorkflow) -> None:
        self._desks.show_desk(work.desk)
        if not self._window.isActiveWindow():
            self._window.raise_()
            self._window.activateWindow()

    def _on_front_changed(self, _: Desk) -> None:
        field, work = self._window.dock.chat.composer.field, self.front
        self._shown.message = field.toPlainText()
        self._shown = work
        field.setPlainText(work.message)
        self.changed.emit()
        if work.is_unread:
            self._do(self.read(work), "read a workflow")

    def _on_reopened(self, work: OpenWorkflow) -> None:
        path = work.document.path
        if path is not None:
            self._window.state.remember_open(path, work.document.graph.name)
        work.session = self._common.runs.of(path)
        self.changed.emit()
        self._check(work)

    def _check(self, work: OpenWorkflow) -> None:
        self._do(work.check(is_new=False), "check the workflow")


def _read(backend: Backend, path: Path) -> tuple[str, Workflow]:
    return file_digest(path), backend.load_workflow(path)


async def _end(work: OpenWorkflow) -> None:
    await work.close()
    work.desk.canvas.deleteLater()
    work.desk.deleteLater()
