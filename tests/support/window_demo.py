"""The real window over a fake backend, put into a state to look at.

Run as `python -m tests.support.window_demo --state waiting --theme dark`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from app import event_loop
from app.first_window import window_with
from app.kit.window_state import WindowState
from app.main_window import MainWindow
from app.program import Program
from engine.graph.problems import Problem
from engine.vocabulary import events as ev
from engine.vocabulary.messages import Question, QuestionOption, StructuredInput, Usage
from engine.vocabulary.report import NodeOutput, PendingApproval, RunReport
from engine.vocabulary.tools import (
    ApprovalRule,
    CallPreview,
    FileChangeOp,
    FilePreview,
    RuleProposal,
    ToolCall,
    ToolTier,
)
from orchestration.settings.provider_choice import Readiness
from tests.support.fake_backend import DEMO_READY, FakeBackend, FakeRun
from tests.support.history_demo import LOOKING_BACK, keep_runs, look_back
from tests.support.qt_loop import turns, until
from tests.support.stored_runs import uncertain_edit
from tests.support.tabs_demo import open_tabs

NODES = (
    ("idea", "Clarify idea", 0.0, 96.0),
    ("plan", "Create plan", 360.0, 0.0),
    ("risk", "Find risks", 360.0, 192.0),
    ("brief", "Final brief", 720.0, 96.0),
)
EDGES = (("idea", "plan"), ("idea", "risk"), ("plan", "brief"), ("risk", "brief"))

CLARIFIED = """Resumable uploads let a photo reach the server even when the connection breaks.

The upload is split into **chunks of 4 MiB**, each with its own checksum:

1. The client opens an upload session and keeps its id on disk.
2. Chunks are sent, at most `3` at a time.
3. After a break the client asks which chunks have arrived and sends the rest.
"""


def workflow_file(folder: Path) -> Path:
    """A small workflow on disk."""
    agent = {
        "system_prompt": "You plan features.",
        "task_prompt": "Do your part.",
        "model": "",
        "output_schema": {"type": "object"},
    }
    document = {
        "id": "feature-planning",
        "name": "Feature planning",
        "nodes": [
            {
                "id": key,
                "label": label,
                "kind": "agent",
                "position": {"x": x, "y": y},
                "agent": agent | {"requestUserInput": key == "idea"},
            }
            for key, label, x, y in NODES
        ],
        "edges": [{"id": f"{a}-{b}", "from": a, "to": b} for a, b in EDGES],
    }
    file = folder / "feature-planning.workflow.json"
    file.write_text(json.dumps(document, indent=2))
    return file


def _begin(run: FakeRun) -> None:
    run.now = time.time() - 95
    run.tell(
        ev.ChatMessage("idea", "user", "Resumable uploads for a photo app"),
        ev.NodeQueued("idea", "Clarify idea"),
        ev.NodeStarted("idea", "Clarify idea"),
    )


def _stream(
    run: FakeRun, node: str, text: str, *, role: str = "assistant", end: bool = True
) -> None:
    for start in range(0, len(text), 7):
        run.tell(
            ev.ChatMessageDelta(node, f"{node}-{role}", role, text[start : start + 7]),
            seconds=0.05,
        )
    if end:
        run.tell(ev.ChatMessageDelta(node, f"{node}-{role}", role, "", finalize=True))


def _usage(run: FakeRun, node: str, tokens: int) -> None:
    usage = Usage(prompt_tokens=tokens - 180, completion_tokens=180, total_tokens=tokens)
    run.tell(ev.UsageReported(node, usage, "smollm2-135m-instruct", 4096))


def _idea_done(run: FakeRun) -> None:
    _begin(run)
    _stream(run, "idea", "The user wants uploads that survive a break.", role="thinking")
    _stream(run, "idea", CLARIFIED)
    _usage(run, "idea", 612)
    output = {
        "summary": "Uploads that continue where they broke off",
        "questions": ["How large is a typical photo?", "Which clients must be supported?"],
    }
    run.tell(ev.NodeCompleted("idea", "Clarify idea", output), seconds=6)
    for node, label in (("plan", "Create plan"), ("risk", "Find risks")):
        run.tell(ev.NodeQueued(node, label), ev.NodeStarted(node, label))


def running(run: FakeRun) -> None:
    """Two nodes at work."""
    _idea_done(run)
    call = ToolCall("c1", "read", {"path": "docs/upload-api.md"})
    run.tell(
        ev.ToolCallProposed("plan", "Create plan", call),
        ev.ToolStarted("plan", "c1", "read", call.arguments),
        ev.ToolCompleted("plan", "c1", "read", "# Upload API\n\nPOST /uploads"),
        seconds=1,
    )
    run.now = time.time() - 12
    _stream(
        run,
        "plan",
        "## Plan\n\n- **Session endpoint**: create, query and finish an upload\n"
        "- **Chunk store**: keep chunks until the commit\n\nThe client starts with a small chunk, "
        "measures how long it takes, and",
        end=False,
    )


def waiting(run: FakeRun) -> None:
    """A question with options in one node, an approval in another."""
    _idea_done(run)
    _stream(run, "plan", "I have two ways to store the chunks.")
    question = Question(
        "store",
        "STORAGE",
        "Where should chunks live until the upload is complete?",
        (
            QuestionOption("Object storage", "Cheap and durable; finishing takes one copy."),
            QuestionOption("Local disk", "Fast, but bound to one server."),
        ),
    )
    run.tell(
        ev.NodeAwaitingInput(
            "plan",
            "Create plan",
            "",
            structured_input=StructuredInput((question,)),
            pause_id="p1",
            question=question.question,
        ),
        seconds=4,
    )
    call = ToolCall(
        "c2",
        "write",
        {"path": "docs/risks.md", "content": "# Risks\n\n1. Lost sessions\n2. Duplicate chunks\n"},
    )
    run.tell(
        ev.ToolCallProposed("risk", "Find risks", call),
        ev.ToolApprovalRequested(
            PendingApproval("a1", "risk", "Find risks", call, ToolTier.WRITE, "digest", ("risk",))
        ),
        seconds=2,
    )


BUG_DIFF = """ 11|    def total(self) -> int:
 12|        \"\"\"What everything in the basket costs, in cents.\"\"\"
-13|        return sum(item.price for item in self.items[1:])
+13|        return sum(item.price * item.count for item in self.items)
 14|
 15|    def clear(self) -> None:"""


def approvals(run: FakeRun) -> None:
    """Two calls of one turn, one of them of a subagent's, and a list of what is to be done."""
    _idea_done(run)
    todos = [
        {"content": "Find the wrong line", "status": "completed"},
        {"content": "Correct it and run the tests", "status": "in_progress"},
        {"content": "Report what was wrong", "status": "pending"},
    ]
    name = "openflow_update_todo_list"
    run.tell(
        ev.ToolStarted("plan", "t1", name, {"todos": todos}),
        ev.ToolCompleted("plan", "t1", name, "1/3"),
        ev.SubagentsDeclared(
            "plan", (ev.SubagentSummary("checker", "Checker", "Runs tests", "declared"),)
        ),
        seconds=2,
    )
    edit = ToolCall(
        "c3", "edit", {"path": "shop/basket.py", "edits": [{"old_text": "a", "new_text": "b"}]}
    )
    change = CallPreview((FilePreview("shop/basket.py", FileChangeOp.UPDATE, BUG_DIFF),))
    rule = RuleProposal(
        (ApprovalRule("edit", "shop/basket.py"),), "edit shop/basket.py", "edit shop/basket2.py"
    )
    command = ToolCall("c4", "bash", {"command": "python -m unittest -v && git status"})
    delegate = ToolCall("c5", "openflow_call_subagent", {"subagent_id": "checker", "input": "Run"})
    run.tell(
        ev.ToolCallProposed("plan", "Create plan", delegate),
        ev.ToolStarted("plan", "c5", delegate.name, delegate.arguments),
        ev.SubagentStarted("plan", "checker"),
        ev.NodeQueued("plan/checker", "Checker"),
        ev.NodeStarted("plan/checker", "Checker"),
        ev.ToolCallProposed("plan/checker", "Checker", edit),
        ev.ToolApprovalRequested(
            PendingApproval(
                "a3",
                "plan",
                "Create plan",
                edit,
                ToolTier.WRITE,
                "digest",
                ("plan", "checker"),
                preview=change,
                rule=rule,
            )
        ),
        ev.ToolCallProposed("plan/checker", "Checker", command),
        ev.ToolApprovalRequested(
            PendingApproval(
                "a4",
                "plan",
                "Create plan",
                command,
                ToolTier.WRITE,
                "digest",
                ("plan", "checker"),
                preview=CallPreview(cwd="."),
                rule=RuleProposal(
                    (
                        ApprovalRule("bash", "python -m unittest -v"),
                        ApprovalRule("bash", "git status"),
                    ),
                    "bash git status",
                    "bash git status --more",
                ),
            )
        ),
        seconds=2,
    )


def done(run: FakeRun) -> None:
    """All four nodes are done."""
    _idea_done(run)
    for node, label in (("plan", "Create plan"), ("risk", "Find risks")):
        _stream(run, node, f"Working on it: {label.lower()}.")
        _usage(run, node, 884)
        run.tell(
            ev.NodeCompleted(node, label, {"steps": ["Sessions", "Chunks", "Commit"]}), seconds=9
        )
    run.tell(ev.NodeQueued("brief", "Final brief"), ev.NodeStarted("brief", "Final brief"))
    _stream(run, "brief", "Putting plan and risks together.")
    _usage(run, "brief", 1240)
    brief = {
        "brief": "Photos are sent in chunks with checksums. A session that breaks is continued by "
        "asking the server what it has. The largest risk is sessions that are never finished; "
        "they expire after a day.",
        "next_action": "Write the session endpoint",
    }
    run.tell(ev.NodeCompleted("brief", "Final brief", brief), seconds=11)
    outputs = tuple(NodeOutput(key, {}) for key, *_ in NODES)
    usage = Usage(prompt_tokens=3000, completion_tokens=620, total_tokens=3620)
    run.tell(ev.Finished(RunReport("feature-planning", outputs, usage=usage)))


def failed(run: FakeRun) -> None:
    """One node has failed and can be retried."""
    _idea_done(run)
    _stream(run, "risk", "Looking at what can go wrong.")
    _usage(run, "risk", 700)
    run.tell(ev.NodeCompleted("risk", "Find risks", {"risks": ["Lost sessions"]}), seconds=5)
    error = "the service answered 'too many requests' four times in a row; try again in a minute"
    run.tell(ev.NodeErrored("plan", "Create plan", error), seconds=3)


def uncertain(run: FakeRun) -> None:
    """A run that was taken up again, with a call of unknown end."""
    _idea_done(run)
    call = uncertain_edit()
    run.tell(
        ev.ToolCallProposed("plan", "Create plan", call.tool_call),
        ev.ToolCallUncertain(call),
        seconds=2,
    )


STATES: dict[str, Callable[[FakeRun], None] | None] = {
    "idle": None,
    "blocked": None,
    "running": running,
    "waiting": waiting,
    "approvals": approvals,
    "done": done,
    "failed": failed,
    "uncertain": uncertain,
    **dict.fromkeys(LOOKING_BACK),
}


def main() -> int:
    """Show the window until it is closed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", choices=sorted(STATES), default="idle")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--size", default="1440x900")
    parser.add_argument("--chosen", default="")
    parser.add_argument("--tab", type=int, default=0)
    parser.add_argument("--tabs", type=int, default=1, help="how many workflows are open")
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    folder = Path(tempfile.mkdtemp())
    state = WindowState(None)
    state.put("theme", options.theme)
    backend = FakeBackend()
    backend.ready[None] = DEMO_READY
    if options.state == "blocked":
        backend.ready[None] = Readiness(False, "no provider offers gpt-5.5")
        backend.problems_by_provider[None] = tuple(
            Problem(
                "unknown_model",
                f"node '{key}' names the model 'gpt-5.5', which no provider that is ready "
                "offers: set OPENAI_API_KEY",
                node_id=key,
            )
            for key, *_ in NODES[:2]
        )

    if options.state in LOOKING_BACK:
        keep_runs(backend, workflow_file(folder), done, cut_off=options.state == "interrupted")

    def open_window() -> MainWindow:
        window = window_with(workflow_file(folder), state)
        window.setGeometry(0, 0, width, height)
        return window

    async def start_work(window: MainWindow) -> Program:
        window.furnish()
        program = Program(window, backend.as_backend)
        program.begin()
        workbench = program.workbenches[0]
        if options.state in LOOKING_BACK:
            workbench.tasks.spawn(look_back(window, workbench, options.state), "look back")
        workbench.tasks.spawn(_bring_about(window, program), "bring the state about")
        return program

    async def _bring_about(window: MainWindow, program: Program) -> None:
        play = STATES[options.state]
        if play is not None:
            await _play(window, play)
        await open_tabs(program, backend, folder, options.tabs)

    async def _play(window: MainWindow, play: Callable[[FakeRun], None]) -> None:
        await until(window.actions_["run"].isEnabled)
        window.actions_["run"].trigger()
        await until(window.actions_["stop"].isEnabled)
        play(backend.run)
        await turns(40)
        window.scene.choose_node(options.chosen)
        window.dock.show_tab(options.tab)

    return event_loop.run(open_window, start_work)


if __name__ == "__main__":
    raise SystemExit(main())
