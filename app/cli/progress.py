"""Show on a terminal how far a run is, without ever touching standard output."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, TextIO, cast

from app.cli.console import Screen
from app.kit.visible import visible
from engine.vocabulary import events as ev
from orchestration.runs.actor_board import actor_id
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.run_view import RunView
from orchestration.runs.view_values import NodeStatus

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

MAX_ROWS = 12
_MARKS = {
    "queued": ("·", "dim"),
    "working": ("▶", "cyan"),
    "waiting": ("?", "yellow"),
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
}
_STATES = {
    NodeStatus.QUEUED: "queued",
    NodeStatus.STARTED: "working",
    NodeStatus.RUNNING_TOOL: "working",
    NodeStatus.AWAITING_INPUT: "waiting",
    NodeStatus.AWAITING_TOOL_APPROVAL: "waiting",
    NodeStatus.COMPLETED: "done",
    NodeStatus.FAILED: "failed",
    NodeStatus.INTERRUPTED: "failed",
}


class RunProgress:
    """Keeps the state of each node and draws it a few times a second, in a thread of its own."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        """Take the label of each node by its id."""
        self._labels = dict(labels)
        self._owners = {node_id: node_id for node_id in self._labels}
        self._states: dict[str, str] = {}
        self._began: dict[str, float] = {}
        self._waits_for = ""
        self._live: Live | None = None

    def take_over(self, view: RunView) -> None:
        """Begin with a run as it stands: what it was like before is not told again."""
        self._labels = dict(view.labels)
        self._owners = {node_id: node_id for node_id in self._labels}
        for node_id, status in view.status_by_node.items():
            if status in _STATES:
                self._states[node_id] = _STATES[status]

    def hear(self, record: EventRecord) -> None:
        """Follow the run."""
        event = record.event
        match event:
            case (
                ev.NodeQueued(node_id=actor)
                | ev.NodeStarted(node_id=actor)
                | ev.NodeCompleted(node_id=actor)
            ) if actor not in self._labels:
                pass  # a subagent at work; its node is
            case ev.RunWaiting(reason=reason):
                self._waits_for = reason
            case ev.NodeQueued(node_id=node_id):
                self._states[node_id] = "queued"
            case ev.NodeStarted(node_id=node_id):
                self._states[node_id] = "working"
                self._began.setdefault(node_id, time.monotonic())
            case ev.NodeAwaitingInput(node_id=node_id):
                self._states[node_id] = "waiting"
            case ev.SubagentsDeclared(node_id=node_id, summaries=summaries):
                self._owners |= {actor_id(node_id, each.id): node_id for each in summaries}
            case ev.ToolApprovalRequested(request=request):
                self._states[request.node_id] = "waiting"
            case ev.ToolCallUncertain(call=call):
                self._states[call.node_id] = "waiting"
            case (
                ev.ToolStarted(node_id=caller)
                | ev.ToolApproved(node_id=caller)
                | ev.ToolCallSettled(node_id=caller)
            ):
                self._states[self._owners.get(caller, caller)] = "working"
            case ev.NodeCompleted(node_id=node_id):
                self._states[node_id] = "done"
            case ev.NodeErrored(node_id=node_id) | ev.NodeFailed(node_id=node_id):
                self._states[node_id] = "failed"

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Draw on standard error for as long as this lasts."""
        from rich.console import Console
        from rich.live import Live

        self._live = Live(
            console=Console(file=cast(TextIO, Screen(sys.stderr))),
            get_renderable=self.picture,
            refresh_per_second=8,
            transient=True,
        )
        with self._live:
            yield

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Keep the screen still for as long as this lasts."""
        live = self._live
        if live is None:
            yield
            return
        live.stop()
        try:
            yield
        finally:
            live.start()

    def picture(self) -> RenderableType:
        """What is on screen now."""
        from rich.table import Table
        from rich.text import Text

        # The run goes on while this draws: look at a copy.
        states = dict(self._states)
        done = sum(state == "done" for state in states.values())
        table = Table.grid(padding=(0, 1))
        table.add_row("", f"{done} of {len(self._labels)} nodes done")
        if self._waits_for:
            mark, style = _MARKS["waiting"]
            table.add_row(Text(mark, style), Text(visible(self._waits_for)))
        open_nodes = [node for node, state in states.items() if state != "done"]
        for node_id in open_nodes[:MAX_ROWS]:
            mark, style = _MARKS[states[node_id]]
            began = self._began.get(node_id)
            took = f"  {time.monotonic() - began:.0f} s" if began is not None else ""
            label = visible(self._labels.get(node_id, node_id))
            table.add_row(Text(mark, style), Text(f"{label}{took}"))
        if len(open_nodes) > MAX_ROWS:
            table.add_row("", Text(f"and {len(open_nodes) - MAX_ROWS} more", "dim"))
        return table


def shown_if(progress: RunProgress, wanted: bool) -> AbstractContextManager[None]:
    """Draw the progress where there is a terminal to draw on."""
    return progress.shown() if wanted else nullcontext()
