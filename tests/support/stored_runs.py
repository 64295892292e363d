"""Stored runs for tests and pictures of the history."""

from __future__ import annotations

import time

from engine.vocabulary import events as ev
from engine.vocabulary.messages import Usage
from engine.vocabulary.recovery import CallEvidence, FileEvidence, Sign, UncertainCall
from engine.vocabulary.report import NodeOutput, RunReport
from engine.vocabulary.tools import ToolCall
from orchestration.runs.stored import ComparedNode, NodeFigures, RunComparison, StoredRun
from orchestration.runs.view_values import RunStatus
from tests.support.fake_backend import FakeBackend, FakeRun

NOW = time.time()


def stored_run(run_id: str, name: str = "", **facts: object) -> StoredRun:
    """A run that has completed, as a list shows it; `facts` are other than that."""
    values: dict[str, object] = {
        "name": name or f"Run {run_id}",
        "status": RunStatus.COMPLETED,
        "workflow_id": "planning.workflow",
        "workflow_name": "Planning",
        "started": NOW - 95.0,
        "updated": NOW - 4.0,
        "tokens_in": 2100,
        "tokens_out": 320,
        **facts,
    }
    return StoredRun(run_id=run_id, **values)  # type: ignore[arg-type]


def keep(backend: FakeBackend, run: StoredRun, told: FakeRun) -> None:
    """Let the backend have a run that told this."""
    backend.stored.append(run)
    backend.told[run.run_id] = told


def tell_two_nodes(run: FakeRun) -> None:
    """Two nodes, one after the other, with a tool call and an end."""
    usage = Usage(prompt_tokens=600, completion_tokens=40, total_tokens=640)
    call = ToolCall("c1", "read", {"path": "notes.md"})
    run.tell(
        ev.ChatMessage("idea", "user", "Uploads that can be resumed"),
        ev.NodeQueued("idea", "Clarify idea"),
        ev.NodeStarted("idea", "Clarify idea"),
        ev.ToolCallProposed("idea", "Clarify idea", call),
        ev.ToolStarted("idea", "c1", "read", call.arguments),
        ev.ToolCompleted("idea", "c1", "read", "# Notes"),
        ev.UsageReported("idea", usage, "small-model", 4096),
        seconds=1,
    )
    run.tell(ev.NodeCompleted("idea", "Clarify idea", {"summary": "Resumable uploads"}), seconds=4)
    run.tell(
        ev.NodeQueued("plan", "Create plan"),
        ev.NodeStarted("plan", "Create plan"),
        ev.ChatMessage("plan", "assistant", "Chunks of 4 MiB, each with a checksum."),
        seconds=1,
    )
    run.tell(ev.NodeCompleted("plan", "Create plan", {"steps": ["Sessions"]}), seconds=3)
    outputs = (NodeOutput("idea", {}), NodeOutput("plan", {}))
    run.tell(ev.Finished(RunReport("planning", outputs, usage=usage)))


def uncertain_edit(node_id: str = "plan", label: str = "Create plan") -> UncertainCall:
    """An edit that may have been made: its file is no longer as it was."""
    call = ToolCall(
        "c9", "edit", {"path": "shop/basket.py", "edits": [{"old_text": "a", "new_text": "b"}]}
    )
    file = FileEvidence("shop/basket.py", "3f" * 32, "a1" * 32)
    return UncertainCall(
        node_id, label, call, CallEvidence("c9", Sign.CHANGED, (file,)), (node_id,)
    )


def comparison(a: StoredRun, b: StoredRun) -> RunComparison:
    """Two runs whose plans are different."""
    idea = NodeFigures("completed", {"summary": "Resumable uploads"}, 6.0, 600, 40)
    plans = (
        NodeFigures("completed", {"steps": ["Sessions", "Chunks", "Commit"]}, 9.0, 884, 120),
        NodeFigures("completed", {"steps": ["Sessions", "Parts", "Commit"]}, 7.5, 701, 98),
    )
    return RunComparison(
        a,
        b,
        (
            ComparedNode("idea", "Clarify idea", idea, idea),
            ComparedNode("plan", "Create plan", *plans),
            ComparedNode("risk", "Find risks", NodeFigures("completed", None, 3.0), None),
        ),
        91.0,
        74.0,
        ("node 'Create plan' has another task prompt",),
    )
