from __future__ import annotations

import io

import pytest
from rich.console import Console

from app.cli.progress import RunProgress
from engine.vocabulary import events as ev
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import ToolCall, ToolTier
from orchestration.runs.event_hub import EventRecord


@pytest.fixture
def progress() -> RunProgress:
    return RunProgress({"a": "A", "b": "B"})


def shown(progress: RunProgress, *events: ev.RunEvent) -> str:
    for event in events:
        progress.hear(EventRecord(1, 1.0, event))
    screen = io.StringIO()
    Console(file=screen, width=80).print(progress.picture())
    return screen.getvalue()


def test_nodes_at_work_are_shown_and_done_ones_counted(progress: RunProgress) -> None:
    text = shown(progress, ev.NodeStarted("a", "A"), ev.NodeQueued("b", "B"))
    assert "0 of 2 nodes done" in text
    assert "▶ A" in text
    assert "· B" in text
    assert "1 of 2 nodes done" in shown(progress, ev.NodeCompleted("a", "A", {}))


def test_a_subagent_is_no_node_but_its_node_waits_with_it(progress: RunProgress) -> None:
    summary = ev.SubagentSummary("s", "Helper", "helps", "declared")
    call = ToolCall("c", "write", {})
    request = PendingApproval("p", "a", "A", call, ToolTier.WRITE, "d", ("a", "s"))
    text = shown(
        progress,
        ev.NodeStarted("a", "A"),
        ev.SubagentsDeclared("a", (summary,)),
        ev.NodeQueued("a/s", "Helper"),
        ev.NodeStarted("a/s", "Helper"),
        ev.ToolApprovalRequested(request),
    )
    assert "? A" in text
    assert "Helper" not in text
    text = shown(
        progress, ev.ToolApproved("p", "a/s", "c", "write"), ev.NodeCompleted("a/s", "Helper", {})
    )
    assert "▶ A" in text
    assert "0 of 2 nodes done" in text
