"""A stored run, shown as it was after one of its events, and moved through from event to event."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.transcript_feed import TranscriptFeed
from app.chat.transcript_model import TranscriptModel
from app.run_session import ShownRun
from engine.graph.workflow import Workflow
from orchestration.runs.run_view import RunView

if TYPE_CHECKING:
    from orchestration.runs.event_hub import EventRecord
    from orchestration.runs.stored import StoredRun

LookAt = Callable[[int], Awaitable[RunView]]
"""Gives the run as it was after the event with this number."""
_STEP_MS = 160
_ROWS_AT_ONCE = 200


class ReplaySession(ShownRun):
    """Shows one moment of a run that is read only. Moving is asked for, and happens later.

    Attributes:
        position: The number of the last event that is shown; 0 is before the first.

    Signals:
        moved: Another moment is shown, or is on its way; see `target`.
        playing_changed: It began or ceased to move by itself.
    """

    moved = Signal()
    playing_changed = Signal()
    is_replay = True

    def __init__(
        self,
        run: StoredRun,
        path: Path | None,
        workflow: Workflow,
        view: RunView,
        records: tuple[EventRecord, ...],
        look_at: LookAt,
        parent: QObject,
    ) -> None:
        """Take the run as it is at its end; `show_end` then makes it visible."""
        super().__init__(run.run_id, path, workflow, view, parent)
        self.run = run
        self._records = records
        self._look_at = look_at
        self.position = len(records)
        self.target = len(records)
        self.direction = 0
        self._is_moving = False
        self._is_closed = False
        self._beat = QTimer(self)
        self._beat.setInterval(_STEP_MS)
        self._beat.timeout.connect(self._play_on)
        self.wish_to_move: Callable[[], None] = _nothing

    @property
    def count(self) -> int:
        """How many events there are."""
        return len(self._records)

    @property
    def record(self) -> EventRecord | None:
        """The last event that is shown."""
        return self._records[self.position - 1] if self.position else None

    async def show_end(self) -> None:
        """Show the run as it was given."""
        await self._show(self.view, self.count)

    def seek(self, position: int) -> None:
        """Go to another moment soon; the latest wish counts."""
        self.target = min(max(0, position), self.count)
        if self.target != self.position and not self._is_moving and not self._is_closed:
            self._is_moving = True
            self.wish_to_move()

    def step(self, count: int) -> None:
        """Go so many events on, or back."""
        self.seek(self.target + count)

    def play(self, direction: int) -> None:
        """Move by itself: forward with 1, back with -1, not at all with 0."""
        at_end = self.count if direction > 0 else 0
        if direction and self.target == at_end:
            self.seek(0 if direction > 0 else self.count)
        self.direction = direction
        if direction:
            self._beat.start()
        else:
            self._beat.stop()
        self.playing_changed.emit()

    async def move(self) -> None:
        """Do what `seek` asked for, until nothing else is asked for."""
        try:
            while self.position != self.target and not self._is_closed:
                position = self.target
                view = await self._look_at(self._records[position - 1].seq if position else 0)
                await self._show(view, position)
        finally:
            self._is_moving = False

    def close(self) -> None:
        """Show nothing else any more."""
        self._is_closed = True
        self._beat.stop()

    async def _show(self, view: RunView, position: int) -> None:
        model = TranscriptModel(self)
        feed = TranscriptFeed(model, view, is_read_only=True)
        for start in range(0, position, _ROWS_AT_ONCE):
            feed.apply(self._records[start : min(position, start + _ROWS_AT_ONCE)])
            await asyncio.sleep(0)
        if self._is_closed:
            model.deleteLater()
            return
        old = self.model
        model.set_filter(old.filter)
        self.view, self.model, self.position = view, model, position
        self.moment = self._records[position - 1].time if position else self.run.started
        self.advanced.emit()
        old.deleteLater()
        self.moved.emit()

    def _play_on(self) -> None:
        if self.position != self.target:
            return  # the last step is still on its way
        self.step(self.direction)
        if self.target in (0, self.count):
            self.play(0)


def _nothing() -> None:
    """Nobody moves it yet."""
