"""Joins the strip of tabs with what is open: names, marks, and what the menus do with tabs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.common import Common
from app.main_window import MainWindow
from app.open_workflow import OpenWorkflow
from app.opening import Opening
from app.tab_bar import TabLook
from app.theme.statuses import status_style

Do = Callable[[Coroutine[Any, Any, None], str], None]


class Tabs(QObject):
    """The tabs of one window."""

    def __init__(self, window: MainWindow, common: Common, opening: Opening, do: Do) -> None:
        """`do` starts work and says what it refuses."""
        super().__init__(window)
        self._window = window
        self._common = common
        self._opening = opening
        self._do = do
        self._remembered: object = None
        self._seen: set[str] = set()
        strip = window.tab_strip
        strip.chosen.connect(self._on_chosen)
        strip.closed.connect(self._on_closed)
        strip.moved.connect(self._on_moved)
        window.desks.listed.connect(self.refresh)
        self._handlers: dict[str, Callable[[], None]] = {
            "close_tab": self._close_front,
            "close_other_tabs": self._close_others,
            "reopen_tab": self._reopen,
            "next_tab": self._go_to_next,
            "previous_tab": self._go_to_previous,
            "copy_path": self._copy_path,
            "move_tab": self._move_to_new_window,
            "new_window": self._open_window,
        }

    def act(self, action_id: str) -> bool:
        """Do what an action asks for; tells whether it is one of tabs and windows."""
        handler = self._handlers.get(action_id)
        if handler is not None:
            handler()
        return handler is not None

    def refresh(self) -> None:
        """Show the tabs as they are now, and keep them for the next start."""
        desks = self._window.desks
        if any(not self._opening.knows(desk) for desk in desks.all):
            return  # one is just coming or going
        works = self._opening.all
        front = works.index(self._opening.front)
        self._window.show_tabs(self._looks(works), front)
        several = len(works) > 1
        path = self._opening.front.document.path
        self._window.actions_.enable(
            {
                "close_tab": path is not None or len(self._common.windows) > 1,
                "close_other_tabs": several,
                "reopen_tab": bool(self._common.closed),
                "next_tab": several,
                "previous_tab": several,
                "copy_path": path is not None,
                "move_tab": several,
            }
        )
        now = (front, *(work.document.path for work in works))
        if now != self._remembered:
            self._remembered = now
            self._window.remember_tabs()

    def _looks(self, works: Sequence[OpenWorkflow]) -> list[TabLook]:
        known = dict(self._window.state.recent())
        names = []
        for work in works:
            path = work.document.path
            name = work.document.graph.name or (known.get(path, "") if path else "")
            names.append(name or (path.name.removesuffix(".workflow.json") if path else "New tab"))
        twice = {name for name, count in Counter(names).items() if count > 1}
        return [
            TabLook(
                _named_apart(name, work) if name in twice else name,
                work.document.path,
                work.saving.has_edits or work.has_swap,
                *self._mark(work),
            )
            for name, work in zip(names, works, strict=True)
        ]

    def _mark(self, work: OpenWorkflow) -> tuple[str, str, str]:
        """Mark, colour and word for a run that goes on, or whose end nobody has seen yet."""
        session = self._common.runs.of(work.document.path)
        if session is None:
            return "", "", ""
        if session.is_active:
            is_waiting = bool(session.waiting())
            style = status_style("awaiting_input" if is_waiting else "started")
            return style.mark, style.color, "waiting for you" if is_waiting else "running"
        if work is self._opening.front:
            self._seen.add(session.run_id)
        if session.run_id in self._seen:
            return "", "", ""
        style = status_style(str(session.view.status))
        return style.mark, style.color, style.label.lower()

    def _on_chosen(self, index: int) -> None:
        self._window.desks.show_desk(self._window.desks.all[index])

    def _on_closed(self, index: int) -> None:
        self._close([self._opening.all[index]])

    def _on_moved(self, before: int, after: int) -> None:
        desks = self._window.desks
        desks.put_at(desks.all[before], after)

    def _close_front(self) -> None:
        front = self._opening.front
        if front.desk.is_empty:
            self._window.close()
        else:
            self._close([front])

    def _close_others(self) -> None:
        self._close([each for each in self._opening.all if each is not self._opening.front])

    def _close(self, works: Sequence[OpenWorkflow]) -> None:
        async def close() -> None:
            await self._opening.close(works)

        self._do(close(), "close tabs")

    def _reopen(self) -> None:
        self._do(self._opening.reopen(), "reopen a tab")

    def _go_to_next(self) -> None:
        self._go(1)

    def _go_to_previous(self) -> None:
        self._go(-1)

    def _go(self, step: int) -> None:
        desks = self._window.desks
        at = desks.all.index(desks.front)
        desks.show_desk(desks.all[(at + step) % len(desks.all)])

    def _copy_path(self) -> None:
        path = self._opening.front.document.path
        if path is not None:
            QGuiApplication.clipboard().setText(str(path))

    def _move_to_new_window(self) -> None:
        if len(self._opening.all) > 1:
            front = self._opening.front
            self._opening.hand_over(front)
            self._common.window_wanted.emit(front)

    def _open_window(self) -> None:
        self._common.window_wanted.emit(None)


def _named_apart(name: str, work: OpenWorkflow) -> str:
    path = work.document.path
    return f"{name} ({path.parent.name}/{path.name})" if path is not None else name
