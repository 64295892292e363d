"""Events as a run gives them, and a view that they are fed to."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from engine.vocabulary import events as ev
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import (
    ToolCall,
    ToolTier,
)
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.run_view import RunView
from orchestration.runs.view_values import NodeStatus, RunStatus, TraceStatus

LABELS = {"a": "Alpha", "b": "Beta"}


CLOCK: WeakKeyDictionary[RunView, int] = WeakKeyDictionary()


def view_of(events: Iterable[ev.RunEvent], *, plan_source: str | None = None) -> RunView:
    view = RunView("run", "flow", LABELS, plan_source=plan_source)
    feed(view, events)
    return view


def feed(view: RunView, events: Iterable[ev.RunEvent]) -> RunView:
    for event in events:
        CLOCK[view] = CLOCK.get(view, 0) + 1
        view.apply(EventRecord(CLOCK[view], 100.0 + CLOCK[view], event))
    return view


def node_status(view: RunView, node_id: str) -> NodeStatus:
    return view.status_by_node[node_id]


def run_status(view: RunView) -> RunStatus:
    return view.status


def started(node_id: str) -> list[ev.RunEvent]:
    return [ev.NodeQueued(node_id, LABELS[node_id]), ev.NodeStarted(node_id, LABELS[node_id])]


def approval(node_id: str = "a", number: int = 1) -> ev.ToolApprovalRequested:
    call = ToolCall(f"c{number}", "write", {"path": "x", "_i": " save it "})
    return ev.ToolApprovalRequested(
        PendingApproval(f"p{number}", node_id, LABELS[node_id], call, ToolTier.WRITE, "d")
    )


def question(node_id: str = "a") -> ev.NodeAwaitingInput:
    return ev.NodeAwaitingInput(node_id, LABELS[node_id], "ctx", pause_id="q1", question="Why?")


def chat_texts(view: RunView, node_id: str) -> list[tuple[str, str]]:
    return [(entry.role, entry.content) for entry in view.chat.get(node_id, [])]


def trace_of(view: RunView) -> list[tuple[str, TraceStatus, str]]:
    return [(row.node_id, row.status, row.message) for row in view.trace]
