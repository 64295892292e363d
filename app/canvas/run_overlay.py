"""How the nodes of the shown run stand, on their cards; seconds pass while something works."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.canvas.node_look import NodeRunInfo
from app.canvas.scene import WorkflowScene
from app.theme.statuses import WORKING

if TYPE_CHECKING:
    from orchestration.runs.run_view import RunView

_TICK_MS = 1000


class RunOverlay(QObject):
    """Keeps a scene in line with the view of one run.

    Signals:
        ticked: Another second has passed for the nodes at work.
    """

    ticked = Signal()

    def __init__(self, scene: WorkflowScene, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._scene = scene
        self._view: RunView | None = None
        self.infos: dict[str, NodeRunInfo] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._tick)

    def look_at(self, scene: WorkflowScene) -> None:
        """Show it in another scene from now on."""
        self._scene = scene

    def show_view(self, view: RunView | None, moment: float | None = None) -> None:
        """Show how this run stands now; with `None` all nodes are idle.

        With a `moment`, in seconds since the epoch, it is shown as it was then.
        """
        self._view = view
        now = time.time() if moment is None else moment
        self.infos = {} if view is None else node_infos(view, now)
        self._scene.show_run(self.infos)
        works = moment is None and any(info.status in WORKING for info in self.infos.values())
        if works != self._timer.isActive():
            if works:
                self._timer.start()
            else:
                self._timer.stop()

    def _tick(self) -> None:
        self.show_view(self._view)
        self.ticked.emit()


def node_infos(view: RunView, now: float) -> dict[str, NodeRunInfo]:
    """What each card shows; `now` is in seconds since the epoch."""
    waiting = Counter(request.node_id for request in view.pending_approvals.values())
    waiting.update(list(view.pending_inputs))
    waiting.update(call.node_id for call in view.uncertain_calls.values())
    infos: dict[str, NodeRunInfo] = {}
    for node_id, status in view.status_by_node.items():
        report, totals = view.context_windows.get(node_id), view.usage_by_node.get(node_id)
        infos[node_id] = NodeRunInfo(
            status=str(status),
            seconds=_seconds(view, node_id, str(status), now),
            tokens=report.usage.total_tokens if report is not None else None,
            waiting=waiting[node_id],
            detail=view.failed.get(node_id, ""),
            model=report.model if report is not None else "",
            cost=totals.cost if totals is not None else None,
        )
    return infos


def _seconds(view: RunView, node_id: str, status: str, now: float) -> float | None:
    timing = view.timings.get(node_id)
    if timing is None or timing.started_at is None:
        return None
    if status in WORKING:
        return max(0.0, now - timing.started_at)
    if timing.completed_at is not None and status == "completed":
        return timing.completed_at - timing.started_at
    return None
