"""Tells of what waits and of runs that have ended while the person looks elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from app.kit.desktop_notices import Channel, Pressed
from app.kit.formats import plural
from app.waiting_list import WORDS, WaitingEntry

_MOST_AT_ONCE = 3


class RunStanding(NamedTuple):
    """How one run stands: `ended` is `completed`, `failed`, `stopped`, or empty while it is on."""

    run_id: str
    name: str
    ended: str
    error: str = ""


class Target(NamedTuple):
    """What a notice leads to: something that waits, or a run."""

    run_id: str
    entry: WaitingEntry | None = None


def is_in_front() -> bool:
    """Whether the person looks at a window of this program."""
    return QGuiApplication.applicationState() == Qt.ApplicationState.ApplicationActive


class Notifier(QObject):
    """Everything is told once. What was on screen when it began is not told later.

    Signals:
        chosen: The `Target` of a notice that was pressed.
    """

    chosen = Signal(object)

    def __init__(
        self,
        window: QWidget,
        *,
        is_wanted: Callable[[], bool],
        make_channel: Callable[[QObject, Pressed], Channel | None],
        is_active: Callable[[], bool] = is_in_front,
    ) -> None:
        """`make_channel` is asked when there is something to tell, and `is_wanted` each time."""
        super().__init__(window)
        self._window = window
        self._is_wanted = is_wanted
        self._is_active = is_active
        self._make_channel = make_channel
        self._channel: Channel | None = None
        self._has_looked = False
        self._known: set[tuple[str, ...]] = set()
        self._on: set[str] = set()
        self._targets: dict[str, Target] = {}
        self._count = 0

    def follow(self, waiting: Sequence[WaitingEntry], runs: Iterable[RunStanding]) -> None:
        """Take over how everything stands, and tell of what is new."""
        new = [entry for entry in waiting if _key(entry) not in self._known]
        self._known = {_key(entry) for entry in waiting}
        standings = list(runs)
        ended = [run for run in standings if run.run_id in self._on and run.ended]
        self._on = {run.run_id for run in standings if not run.ended}
        self._show_count(len(waiting))
        if self._is_active() or not self._is_wanted():
            return
        if len(new) > _MOST_AT_ONCE:
            self._tell("OpenFlow", f"{plural(len(new), 'thing')} waiting for you", _target(new[0]))
        else:
            for entry in new:
                title = f"{entry.path} {WORDS.get(entry.kind, 'waits')}"
                self._tell(title, entry.text or "Press to see it", _target(entry))
        for run in ended:
            if run.ended == "completed":
                self._tell(f"{run.name} is done", "The run has completed", Target(run.run_id))
            elif run.ended == "failed":
                self._tell(f"{run.name} failed", run.error, Target(run.run_id))

    def close(self) -> None:
        """Take back what is on screen."""
        if self._channel is not None:
            self._channel.close()

    def _tell(self, title: str, text: str, target: Target) -> None:
        QApplication.alert(self._window)
        if not self._has_looked:
            self._has_looked = True
            self._channel = self._make_channel(self, self._on_pressed)
        if self._channel is None:
            return
        entry = target.entry
        key = f"{target.run_id}-{'ended' if entry is None else entry.matter or entry.node_id}"
        self._targets[key] = target
        self._channel.show(key, title, text)

    def _on_pressed(self, key: str) -> None:
        target = self._targets.get(key)
        if target is None:
            return
        window = self._window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()
        self.chosen.emit(target)

    def _show_count(self, count: int) -> None:
        """The number at the program's icon, where the system shows one."""
        application = QGuiApplication.instance()
        if count != self._count and isinstance(application, QGuiApplication):
            self._count = count
            application.setBadgeNumber(count)


def _key(entry: WaitingEntry) -> tuple[str, ...]:
    return entry.run_id, entry.kind, entry.matter or entry.node_id


def _target(entry: WaitingEntry) -> Target:
    return Target(entry.run_id, entry)
