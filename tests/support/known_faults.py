"""Cases of known faults by their ids, and runs in which a model makes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.vocabulary.tools import SUBMIT_TOOL, JsonObject
from orchestration.tools.tool import Tool
from providers.specs import Wire
from tests.support.engine_driver import workflow
from tests.support.loopback import Answer, Asked, sse
from tests.support.loopback_runs import YOLO, Played, Ran, play_run, recording_tool
from tests.support.wire_scripts import SCRIPTS, Call, submit_arguments

CHAT = SCRIPTS[Wire.CHAT]
DONE: Call = ("s1", SUBMIT_TOOL, submit_arguments({"summary": "done"}))
TEXT: JsonObject = {"type": "string"}

Case = Callable[[Path], None]


class Cases:
    """A table of cases; each is entered once, under its id."""

    def __init__(self) -> None:
        self._by_id: dict[str, Case] = {}

    @property
    def ids(self) -> list[str]:
        """Those that were entered."""
        return sorted(self._by_id)

    def case(self, case_id: str) -> Callable[[Case], Case]:
        """Enter a function."""

        def enter(function: Case) -> Case:
            assert case_id not in self._by_id
            self._by_id[case_id] = function
            return function

        return enter

    def check(self, case_id: str, folder: Path) -> None:
        """See that the right thing happens."""
        self._by_id[case_id](folder)


class Bench:
    """A run of one node that may do everything, with tools of these names and schemas."""

    def __init__(self, tmp_path: Path, **schemas: JsonObject) -> None:
        self.ran: list[Ran] = []
        self._folder = tmp_path
        self._tools: list[Tool] = [
            recording_tool(name, schema, self.ran) for name, schema in schemas.items()
        ]
        self._runs = 0

    def play(
        self, *turns: Answer, script: Any = CHAT, flow: Any = None, server: Any = None
    ) -> Played:
        """The run whose replies are these, and then a submit."""
        self.ran.clear()
        self._runs += 1
        folder = self._folder / f"run{self._runs}" / "work"
        folder.mkdir(parents=True)
        answers = server or [*turns, script.answer(calls=(DONE,))]
        flow = flow or workflow(nodes=["a"], defaults=YOLO)
        return play_run(script, answers, self._tools, folder, flow)


def reply(*deltas: JsonObject, reason: str = "tool_calls", **last: Any) -> Answer:
    """A stream of these deltas and its end."""
    chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": reason}
    return sse(*({"choices": [chunk]} for chunk in (*chunks, end)), done=True)


def part(arguments: Any, name: str | None = None, **where: Any) -> JsonObject:
    """One piece of one call."""
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"tool_calls": [{**where, "function": function}]}


def called(*calls: tuple[str, str, Any], reason: str = "tool_calls") -> Answer:
    """A stream with whole calls: id, name and arguments."""
    numbered = enumerate(calls)
    return reply(
        *(part(args, name, index=index, id=call_id) for index, (call_id, name, args) in numbered),
        reason=reason,
    )


def history(asked: Asked) -> list[JsonObject]:
    """The calls in a request, as they were sent."""
    return [call for m in asked.json["messages"] for call in m.get("tool_calls", ())]


def errors(played: Played) -> list[str]:
    return [content for _, is_error, content in played.run.results() if is_error]


def properties(**each: Any) -> JsonObject:
    return {"type": "object", "properties": each}
