"""Joins the inspector with the rest: what can be chosen there, what is wrong, what opens it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.inspector.offers import Offers, Skill
from app.kit.tasks import Tasks
from app.main_window import MainWindow
from orchestration.errors import UserError

if TYPE_CHECKING:
    from app.desk import Desk
    from engine.graph.problems import Problem
    from orchestration.backend import Backend


class Inspecting(QObject):
    """The inspector of one window."""

    def __init__(self, window: MainWindow, backend: Backend, tasks: Tasks) -> None:
        super().__init__(window)
        self._window = window
        self._backend = backend
        self._tasks = tasks
        for desk in window.desks.all:
            self._join(desk)
        window.desks.arrived.connect(self._join)
        window.desks.leaving.connect(self._leave)
        window.desks.replaced.connect(self.load_offers)
        window.inspector_opened.connect(self.load_offers)
        self.load_offers()

    def open_node(self, node_id: str) -> None:
        """Show the settings of a node, and let the person write there."""
        self._window.scene.choose_node(node_id)
        self._window.open_inspector()

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Take over what was found to be wrong with the open workflow."""
        self._window.inspector.show_problems(problems)

    def load_offers(self) -> None:
        """Find out what there is to choose from; saved agents may have changed meanwhile."""
        self._tasks.spawn(self._load(), "load what the inspector offers")

    def _join(self, desk: Desk) -> None:
        desk.canvas.keyboard.node_opened.connect(self.open_node)
        desk.canvas.pointer.node_opened.connect(self.open_node)

    def _leave(self, desk: Desk) -> None:
        desk.canvas.keyboard.node_opened.disconnect(self.open_node)
        desk.canvas.pointer.node_opened.disconnect(self.open_node)

    async def _load(self) -> None:
        backend = self._backend
        providers = await asyncio.to_thread(backend.providers)
        try:
            agents = await asyncio.to_thread(backend.saved_agents)
        except UserError as error:
            agents = ()
            self._window.toasts.show_error(str(error))
        skills = await asyncio.to_thread(backend.library.skills_for, self._window.document.path)
        self._window.inspector.set_offers(
            Offers(
                providers,
                agents,
                tuple(Skill(each.id, each.description or each.name) for each in skills),
                backend.default_provider,
                backend.settings.approval_mode,
            )
        )
