"""What looks at the open workflow without running it: find and replace, its undo list, the tour."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from app.empty_canvas import EmptyCanvas
from app.kit.choice_popup import Choice, ChoicePopup
from app.kit.dialogs import choose_file
from app.main_window import MainWindow
from orchestration.errors import UserError
from orchestration.workflow_catalog import open_workflow

if TYPE_CHECKING:
    from app.desk import Panel
    from app.diff_view import DiffView
    from app.find_panel import FindPanel
    from app.tour import Tour
    from app.undo_history import UndoHistory

Do = Callable[[Coroutine[Any, Any, None], str], None]
_SAVED, _FILE = "saved", "file"


class Lookups(QObject):
    """These tools of one window; each is made when it is first asked for."""

    def __init__(self, window: MainWindow, do: Do) -> None:
        """`do` starts work and says what it refuses."""
        super().__init__(window)
        self._window = window
        self._do = do
        self._tour: Tour | None = None
        window.desks.replaced.connect(self._invite)
        self._invite()
        self.targets = ChoicePopup(window.theme, window, "Compare with", width=460)
        self.targets.chosen.connect(self._on_target)

    @property
    def empty(self) -> EmptyCanvas:
        """What the canvas in front says while nothing is open there."""
        return self._over_canvas(EmptyCanvas)

    @property
    def find(self) -> FindPanel:
        """The panel for find and replace in the workflow in front."""
        from app.find_panel import FindPanel

        return self._over_canvas(FindPanel)

    @property
    def tour(self) -> Tour:
        """The tour of the window."""
        if self._tour is None:
            from app.tour import Tour

            self._tour = Tour(self._window)
        return self._tour

    @property
    def undo_history(self) -> UndoHistory:
        """The panel that lists every step of the workflow in front."""
        from app.undo_history import UndoHistory

        return self._over_canvas(UndoHistory)

    def act(self, action_id: str) -> bool:
        """Do what an action asks for; tells whether it is one of these."""
        handlers: dict[str, Callable[[], None]] = {
            "find": self._ask_find,
            "compare": self._ask_target,
            "tour": self._begin_tour,
            "undo_history": self._ask_undo_history,
        }
        handler = handlers.get(action_id)
        if handler is not None:
            handler()
        return handler is not None

    def compare_with(self, path: Path) -> None:
        """Show how the open workflow is different from that of a file."""
        self._do(self._compare(path, path.name), "compare")

    def diff_views(self) -> list[DiffView]:
        """The comparisons that are on screen."""
        from app.diff_view import DiffView

        return [view for view in self._window.findChildren(DiffView) if view.isVisible()]

    def _over_canvas(self, kind: type[Panel]) -> Panel:
        """The panel of this kind of the canvas in front; each canvas has its own."""
        panels = self._window.desks.front.panels
        panel = panels.get(kind)
        if not isinstance(panel, kind):
            panel = panels[kind] = kind(self._window)
        return panel

    def _invite(self) -> None:
        if self._window.desks.front.is_empty:
            self.empty.show()

    def _ask_find(self) -> None:
        if self._window.document.workflow is not None:
            self.find.ask()

    def _ask_undo_history(self) -> None:
        if self._window.document.workflow is not None:
            self.undo_history.ask()

    def _begin_tour(self) -> None:
        self.tour.begin()

    def _ask_target(self) -> None:
        document = self._window.document
        if document.workflow is None:
            return
        entries = [Choice(_FILE, "A file…", "Choose any workflow file")]
        if document.path is not None:
            entries.insert(0, Choice(_SAVED, "Its saved version", document.path.name))
        entries += [
            Choice(f"path:{entry.path}", entry.name, entry.path.name, "Workflow")
            for entry in self._window.sidebar.entries()
            if entry.path != document.path
        ]
        self.targets.ask(entries, "Compare the open workflow with…")

    def _on_target(self, key: str) -> None:
        kind, _, rest = key.partition(":")
        path = self._window.document.path
        if kind == _SAVED and path is not None:
            self._do(self._compare(path, "its saved version"), "compare")
        elif kind == _FILE:
            self._do(self._ask_file(), "compare with a file")
        elif kind == "path":
            self.compare_with(Path(rest))

    async def _ask_file(self) -> None:
        file = await choose_file(self._window, "Compare with", None)
        if file is not None:
            await self._compare(file, file.name)

    async def _compare(self, path: Path, name: str) -> None:
        from app.diff_view import DiffView

        other = await asyncio.to_thread(open_workflow, path)
        if self._window.document.workflow is None:
            raise UserError("open a workflow first; it is compared with the other one")
        view = DiffView(self._window, other, name)
        view.show()
