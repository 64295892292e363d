"""A program that carries one stored run through, however often it is killed.

Everything is imported once; an order is a line on standard input: a folder, and the number of the
step in which the program kills itself, 0 for never. The run is begun in the folder or taken up
there, in a fork for each order, and what came of it is in the folder's `end.json`. A step is
anything between which a kill can make a difference: a row that is handed to the storage thread, a
transaction before and after it, a tool before and after it does something. The answer is how the
fork ended.

Six nodes make 40 calls. For each call that may write, a line goes to the folder's `begun` at the
moment at which the tool begins.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from engine.vocabulary.messages import ModelTurn, ResultItem
from engine.vocabulary.recovery import Sign, UncertainChoice
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import (
    CALL_SUBAGENT_TOOL,
    DECLARE_SUBAGENTS_TOOL,
    JsonObject,
    ToolTier,
)
from orchestration.backend import Backend
from orchestration.runs.stored import RunQuery
from orchestration.settings.model import ToolSettings
from orchestration.storage import writer
from orchestration.storage.database import Database
from orchestration.tools.catalogue import builtin_tools
from orchestration.tools.tool import Tool, ToolContext, ToolOutput
from tests.support.engine_driver import workflow
from tests.support.run_rig import request_of, scripted_backend
from tests.support.scripted_model import ScriptedModel, submit, use

Call = tuple[str, dict[str, Any]]


def write(name: str) -> Call:
    """Write a file of a few lines that are told apart by its name."""
    lines = "".join(f"{name} line {number}\n" for number in range(5))
    return "write", {"path": f"{name}.txt", "content": lines}


def read(name: str) -> Call:
    """Read such a file."""
    return "read", {"path": f"{name}.txt"}


def edit(name: str, line: int = 3) -> Call:
    """Change one of its lines."""
    old, new = f"{name} line {line}\n", f"{name} line {line}, changed\n"
    return "edit", {"path": f"{name}.txt", "edits": [{"old_text": old, "new_text": new}]}


def bash(name: str) -> Call:
    """Write a file by a command."""
    return "bash", {"command": f"echo made by a command > {name}.made"}


DECLARE: Call = (
    DECLARE_SUBAGENTS_TOOL,
    {"subagents": [{"name": "Left", "purpose": "left"}, {"name": "Right", "purpose": "right"}]},
)


def delegate(number: int) -> Call:
    """Hand a part to a subagent."""
    return CALL_SUBAGENT_TOOL, {"subagent_id": f"four-subagent-{number}", "input": "do it"}


FLOW = workflow(
    [
        ("one", "two"),
        ("one", "three"),
        ("two", "four"),
        ("three", "four"),
        ("four", "five"),
        ("five", "six"),
    ],
    defaults={"tools": {"approvalMode": "yolo"}},
)
TURNS: Mapping[str, list[list[Call]]] = {
    "one": [
        [write("a0"), write("a1"), write("a2"), write("a3")],
        [read("a0"), read("a1")],
        [edit("a0"), edit("a1"), bash("a")],
    ],
    "two": [[write("b0"), write("b1"), write("b2"), read("a2")], [edit("b0"), bash("b")]],
    "three": [[write("c0"), write("c1"), write("c2"), read("a3")], [edit("a3"), bash("c")]],
    "four": [[DECLARE], [delegate(1), delegate(2)]],
    "four/four-subagent-1": [[write("d0")], [read("d0")]],
    "four/four-subagent-2": [[write("d1")], [edit("d1")]],
    "five": [[write("e0"), write("e1")], [edit("e0"), edit("e1"), bash("e"), read("e0")]],
    "six": [[bash("f")], [read(name) for name in ("a0", "a3", "b0", "d1", "e1")]],
}
CALLS = sum(len(turn) for turns in TURNS.values() for turn in turns)
assert CALLS == 40


def say(request: AgentRequest) -> ModelTurn:
    """The next turn of a node, which follows from what it has got back so far."""
    results = [item.result for item in request.transcript if isinstance(item, ResultItem)]
    left = len(results)
    for turn in TURNS[request.node_id]:
        if left == 0:
            return use(*turn, text=f"next: {len(turn)} calls")
        left -= len(turn)
    seen = [result.content for result in results if result.tool_name == "read"]
    return submit({"summary": "\n".join([request.node_id, *seen])})


class Steps:
    """Counts steps, from any thread, and kills the program in the one that is wanted."""

    def __init__(self) -> None:
        self.last = 0
        self._count = itertools.count(1)
        self._lock = threading.Lock()

    def step(self) -> None:
        """A step begins."""
        with self._lock:
            if next(self._count) == self.last:
                os.kill(os.getpid(), signal.SIGKILL)

    @property
    def so_far(self) -> int:
        """How many there were."""
        return next(self._count) - 1


STEPS = Steps()


def around(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with a step before and one after it."""

    def stepping(*args: Any, **kwargs: Any) -> Any:
        STEPS.step()
        result = function(*args, **kwargs)
        STEPS.step()
        return result

    return stepping


def noted(tool: Tool, begun: int) -> Tool:
    """A tool that may write, with a line for each time that it begins, and steps around it."""
    if tool.definition.tier is ToolTier.READ:
        return tool
    run: Callable[[JsonObject, ToolContext], Awaitable[ToolOutput]] = tool.run

    async def noting(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        STEPS.step()
        os.write(begun, f"{context.call_id}\n".encode())
        output = await run(arguments, context)
        STEPS.step()
        return output

    return msgspec.structs.replace(tool, run=noting)


async def carry_on(folder: Path) -> dict[str, Any]:
    """Begin the run, or take it up, and see it to its end."""
    begun = os.open(folder / "begun", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    tools = [noted(tool, begun) for tool in builtin_tools(ToolSettings())]
    backend = scripted_backend(ScriptedModel(say), folder / "data", tools=tools)
    try:
        stored = await backend.runs(RunQuery())
        if stored:
            if not stored[0].can_resume:
                return {"status": stored[0].status.value, "run_id": stored[0].run_id}
            run_id = await backend.resume_run(stored[0].run_id)
        else:
            run_id = await backend.start_run(request_of(FLOW, "go", cwd=folder / "project"))
        outcome = await settled(backend, run_id, folder)
        assert isinstance(outcome, RunCompleted), outcome
        return {"status": "completed", "run_id": run_id}
    finally:
        await backend.aclose()


async def settled(backend: Backend, run_id: str, folder: Path) -> Any:
    """The end of the run; calls of unknown end are judged by the evidence."""
    while True:
        outcome = await backend.settled(run_id)
        if not isinstance(outcome, NeedsInteraction):
            return outcome
        for call in outcome.uncertain:
            is_done = call.evidence.sign is Sign.CHANGED
            choice = UncertainChoice.DONE if is_done else UncertainChoice.REDO
            with (folder / "uncertain").open("a") as file:
                file.write(f"{call.call_id} {choice.value}\n")
            await backend.settle_uncertain(run_id, call.call_id, choice)


def main() -> None:
    """Serve orders until there are no more."""
    with TemporaryDirectory() as passing:  # whatever is imported late is there for all forks
        (Path(passing) / "project").mkdir()
        asyncio.run(carry_on(Path(passing)))
    for name in ("write", "collect"):
        setattr(Database, name, around(getattr(Database, name)))
    writer.GroupWriter.write = around(writer.GroupWriter.write)  # type: ignore[method-assign]
    for order in sys.stdin:
        folder, last = order.rsplit(maxsplit=1)
        pid = os.fork()
        if pid == 0:
            STEPS.last = int(last)
            (Path(folder) / "project").mkdir(parents=True, exist_ok=True)
            end = asyncio.run(carry_on(Path(folder)))
            text = json.dumps({**end, "steps": STEPS.so_far})
            (Path(folder) / "end.json").write_text(text)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
