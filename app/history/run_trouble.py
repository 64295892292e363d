"""What stands in the way of runs and can be put right: a folder in use, a damaged database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime
from typing import Any

from PySide6.QtCore import QObject

from app.kit.dialogs import confirm
from app.main_window import MainWindow
from app.run_session import ShownRun
from orchestration.backend import Backend
from orchestration.errors import UserError
from orchestration.storage.errors import StorageDamaged

Do = Callable[[Coroutine[Any, Any, None], str], None]


class RunTrouble(QObject):
    """Offers what helps in the strips of one window, and does it."""

    def __init__(
        self, window: MainWindow, backend: Backend, do: Do, read: Callable[[], Awaitable[None]]
    ) -> None:
        """Listen to the strips.

        Args:
            window: whose strips they are.
            backend: does what helps.
            do: starts work and says what it refuses.
            read: reads the list of runs anew.
        """
        super().__init__(window)
        self._window = window
        self._backend = backend
        self._do = do
        self._read = read
        self._waiting = ""
        dock = window.dock
        dock.folder_bar.taken.connect(lambda: self._do(self._go_first(), "let a run go first"))
        dock.damage_bar.taken.connect(lambda: self._do(self._restore(), "restore the runs"))

    def notice(self, run: ShownRun | None) -> None:
        """Offer that the run in front goes first, if it waits for one that would let it."""
        reason = ""
        if run is not None and run.is_active and run.view.may_go_first:
            self._waiting = run.run_id
            reason = (run.view.waiting_reason or "").removeprefix("waiting for ")
            reason = reason.rpartition(": ")[0].replace(", which has", " has", 1)
        self._window.dock.folder_bar.offer(reason[:1].upper() + reason[1:])

    def hear(self, error: UserError) -> None:
        """Offer the good copy where the database of the runs is damaged."""
        if isinstance(error, StorageDamaged) and error.backup is not None:
            words = "The database of the runs is damaged. There is a good copy of it."
            self._window.dock.damage_bar.offer(words)

    async def _go_first(self) -> None:
        try:
            await self._backend.give_way(self._waiting)
        except UserError:
            self._window.dock.folder_bar.again()
            raise

    async def _restore(self) -> None:
        bar = self._window.dock.damage_bar
        try:
            copy = await self._backend.good_copy()
            when = datetime.fromtimestamp(copy.made).strftime("%Y-%m-%d %H:%M") if copy else ""
            words = (
                f"It was made at {when}. Runs that were stored later are only in the damaged file, "
                "which is kept. Close every other OpenFlow first."
            )
            title = "Put the good copy in place?"
            if copy is not None and not await confirm(self._window, title, words, "Restore"):
                return
            restored = await self._backend.restore_runs()
        finally:
            bar.again()
        bar.offer("")
        self._window.toasts.show_done(f"Restored; the damaged file is {restored.aside.name}")
        await self._read()
