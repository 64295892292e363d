"""What goes wrong between a model and its caller, as replies of a scripted server.

Each fault makes an answer out of the reply that was meant. `error` is what a node says that fails
because of it; a fault without one must not keep the reply from being understood.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from msgspec import Struct

from engine.vocabulary.tools import SUBMIT_TOOL
from providers.specs import Wire
from tests.support.loopback import Answer, Cut, html_answer, json_answer, sse
from tests.support.wire_scripts import Call, Event, WireScript, submit_arguments

ALL = frozenset(Wire)
CHAT = frozenset({Wire.CHAT})

Make = Callable[[WireScript, tuple[Call, ...], Random], Answer]


class Fault(Struct, frozen=True):
    """One thing that goes wrong on some wires; `weight` says how often it is drawn."""

    name: str
    make: Make
    error: str = ""
    wires: frozenset[Wire] = ALL
    weight: float = 1.0
    only_calls: bool = False
    only_submit: bool = False

    def fits(self, wire: Wire, calls: tuple[Call, ...]) -> bool:
        """Whether it can happen to this reply."""
        submits = calls[0][1] == SUBMIT_TOOL
        return (
            wire in self.wires
            and not (self.only_calls and submits)
            and (submits or not self.only_submit)
        )


def with_arguments(change: Callable[[str, Random], str]) -> Make:
    """All calls with another text of their arguments."""

    def make(script: WireScript, calls: tuple[Call, ...], random: Random) -> Answer:
        return script.answer(
            calls=tuple((i, name, change(arguments, random)) for i, name, arguments in calls)
        )

    return make


def with_last(change: Callable[[Call, Random], Call], **reply: Any) -> Make:
    """The last call changed, all before it as they were."""

    def make(script: WireScript, calls: tuple[Call, ...], random: Random) -> Answer:
        return script.answer(calls=(*calls[:-1], change(calls[-1], random)), **reply)

    return make


def with_chunks(change: Callable[[list[Event], Random], list[Any]], *, done: bool = True) -> Make:
    """The events of the reply, changed."""

    def make(script: WireScript, calls: tuple[Call, ...], random: Random) -> Answer:
        events = script.reply(calls=calls)
        return sse(*change(events, random), done=done and script.wire is Wire.CHAT)

    return make


def always(answer: Callable[[], Answer]) -> Make:
    """An answer that has nothing of the reply."""
    return lambda script, calls, random: answer()


def each_call(change: Callable[[Event, int], None]) -> Make:
    """Every piece of a call in a Chat Completions stream, changed; pieces count from 0."""

    def changed(events: list[Event], random: Random) -> list[Any]:
        count = 0
        for event in events:
            for choice in event["choices"]:
                for call in choice["delta"].get("tool_calls", ()):
                    change(call, count)
                    count += 1
        return events

    return with_chunks(changed)


def _cut(call: Call, random: Random) -> Call:
    call_id, name, arguments = call
    return call_id, name, arguments[: random.randint(1, len(arguments) - 1)]


def _python(arguments: str, random: Random) -> str:
    return repr(json.loads(arguments))


def _raw_breaks(arguments: str, random: Random) -> str:
    return arguments.replace("\\n", "\n")


def _without_end(events: list[Event], script: WireScript) -> list[Event]:
    return [event for event in events if not script.is_end(event)]


def _broken_off(end: tuple[Any, ...]) -> Make:
    def make(script: WireScript, calls: tuple[Call, ...], random: Random) -> Answer:
        events = _without_end(script.reply(calls=calls), script)
        first = next(at for at, event in enumerate(events) if calls[0][1] in str(event))
        return sse(*events[: random.randint(first + 1, len(events))], *end)

    return make


def _error_event(script: WireScript, calls: tuple[Call, ...], random: Random) -> Answer:
    return sse(script.error_event("Upstream request failed"))


def _whole(script: WireScript, calls: tuple[Call, ...], random: Random) -> Answer:
    """The reply in one piece of JSON."""
    if script.wire is Wire.CHAT:
        made = [{"id": i, "function": {"name": n, "arguments": a}} for i, n, a in calls]
        message = {"content": None, "tool_calls": made}
        return json_answer({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
    if script.wire is Wire.RESPONSES:
        output = [
            {"type": "function_call", "call_id": i, "name": n, "arguments": a} for i, n, a in calls
        ]
        return json_answer({"status": "completed", "output": output})
    content = [
        {"type": "tool_use", "id": i, "name": n, "input": json.loads(a)} for i, n, a in calls
    ]
    return json_answer({"content": content, "stop_reason": "tool_use"})


def _printed(script: WireScript, calls: tuple[Call, ...], random: Random) -> Answer:
    parts = [
        f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'
        for _, name, arguments in calls
    ]
    return script.answer(text="\n".join(parts))


def _glued(script: WireScript, calls: tuple[Call, ...], random: Random) -> Answer:
    """Calls of the same tool in one slot."""
    made: list[Call] = []
    for call_id, name, arguments in calls:
        if made and made[-1][1] == name:
            made[-1] = (made[-1][0], name, made[-1][2] + arguments)
        else:
            made.append((call_id, name, arguments))
    return script.answer(calls=tuple(made))


def _mixed(script: WireScript, calls: tuple[Call, ...], random: Random) -> Answer:
    extra = ("extra", SUBMIT_TOOL, submit_arguments({"summary": "too early"}))
    return script.answer(calls=(*calls, extra))


def _misnamed(call: Call, random: Random) -> Call:
    return call[0], f"{call[1][:-1]}x", call[2]


def _unquoted(call: Call, random: Random) -> Call:
    return call[0], call[1], call[2].replace('"path"', "path")


def _inner_quotes(call: Call, random: Random) -> Call:
    return call[0], call[1], call[2].replace('"path": "', '"path": "say "hi" ')


def _in_one_slot(call: Event, count: int) -> None:
    call["index"] = 0


def _without_index(call: Event, count: int) -> None:
    # Without an index only an id tells the calls apart.
    del call["index"]


def _from_one(call: Event, count: int) -> None:
    call["index"] += 1


def _new_ids(call: Event, count: int) -> None:
    call["id"] = f"id-{count}"


def _garbage(events: list[Event], random: Random) -> list[Any]:
    junk: list[Any] = [{"type": "martian", "x": 1}, {}, {"type": "ping"}, {"choices": None}]
    for _ in range(4):
        events.insert(random.randint(0, len(events) - 1), random.choice(junk))
    return events


def _counted(events: list[Event], random: Random) -> list[Any]:
    zero = {"prompt_tokens": 0, "completion_tokens": 0}
    return [{"usage": zero, **event} for event in events]


def _renamed(events: list[Event], random: Random) -> list[Any]:
    names: dict[int, str] = {}
    for event in events:
        for choice in event["choices"]:
            for call in choice["delta"].get("tool_calls", ()):
                name = names.setdefault(call["index"], call["function"].get("name", ""))
                call["function"]["name"] = name
                call["id"] = f"call-{call['index']}"
    return events


def _stopped(events: list[Event], random: Random) -> list[Any]:
    for event in events:
        for choice in event["choices"]:
            if choice["finish_reason"]:
                choice["finish_reason"] = "stop"
    return events


def _unfinished(events: list[Event], random: Random) -> list[Any]:
    return [e for e in events if not (e["choices"] and e["choices"][0]["finish_reason"])]


def _without_places(events: list[Event], random: Random) -> list[Any]:
    """Responses whose pieces have a new item id each, or Messages that count nothing."""
    for count, event in enumerate(events):
        if "item_id" in event:
            event["item_id"] = f"item-{count}"
        if event.get("type", "").startswith("content_block"):
            event.pop("index", None)
    return events


def _malformed(call: Call, random: Random) -> Call:
    output = {"text": json.loads(call[2])["output"]["summary"]}
    return call[0], call[1], json.dumps({"output": output, "assistant_message": None})


EVENTS = {"content-type": "text/event-stream"}
CUT_OFF = r"cut off \(%s\)"
UNREADABLE = "unreadable arguments"

HARMLESS = (
    Fault("stop although there are calls", with_chunks(_stopped), wires=CHAT),
    Fault("encoded twice", with_arguments(lambda text, random: json.dumps(text))),
    Fault("in Python's notation", with_arguments(_python)),
    Fault("a trailing comma", with_arguments(lambda text, random: text[:-1] + ",}")),
    Fault("raw line breaks", with_arguments(_raw_breaks)),
    Fault("an empty object first", with_arguments(lambda text, random: "{}" + text)),
    Fault("the object once more", with_arguments(lambda text, random: text + text)),
    Fault(
        "a decorated name",
        lambda script, calls, random: script.answer(
            calls=tuple((i, f"functions.{name}", arguments) for i, name, arguments in calls)
        ),
    ),
    Fault("in one piece of JSON", _whole),
    Fault("printed as text", _printed, only_calls=True),
    Fault("glued together", _glued, only_calls=True),
    Fault("one index for all", each_call(_in_one_slot), wires=CHAT),
    Fault("no index", each_call(_without_index), wires=CHAT),
    Fault("counted from one", each_call(_from_one), wires=CHAT),
    Fault("a new id for every piece", each_call(_new_ids), wires=CHAT),
    Fault("name and id in every piece", with_chunks(_renamed), wires=CHAT),
    Fault("counts in every chunk", with_chunks(_counted), wires=CHAT),
    Fault("no reason for the end", with_chunks(_unfinished), wires=CHAT),
    Fault("events of unknown kinds", with_chunks(_garbage)),
    Fault("no places", with_chunks(_without_places), wires=ALL - CHAT),
)
ASKED_AGAIN = (
    Fault("cut by the limit", with_last(_cut, cut_by_limit=True), CUT_OFF % "length"),
    Fault("cut in silence", with_last(_cut), CUT_OFF % "unterminated"),
    Fault("broken off", _broken_off(()), CUT_OFF % "stream"),
    Fault("cut off by the network", _broken_off((Cut(),)), CUT_OFF % "stream"),
    Fault("no quotes in a writing call", with_last(_unquoted), UNREADABLE, only_calls=True),
    Fault("quotes in a text", with_last(_inner_quotes), UNREADABLE, only_calls=True),
    Fault("a name like that of a tool", with_last(_misnamed), "kept calling", only_calls=True),
    Fault("a submit beside others", _mixed, "must be called alone|mixed in one turn"),
    Fault("nothing", lambda script, calls, random: script.answer(), "neither a call nor text"),
    Fault(
        "words only",
        lambda script, calls, random: script.answer(text="I am on it."),
        "kept talking",
    ),
    Fault("an output that does not fit", with_last(_malformed), "does not fit", only_submit=True),
)
RETRIED = (
    Fault(
        "too many requests",
        lambda script, calls, random: script.refusal(429, "Slow down.", retry_after="0"),
        "transient.*429",
    ),
    Fault(
        "overloaded",
        lambda script, calls, random: script.refusal(random.choice([500, 502, 503, 529]), "Busy."),
        "transient.*Busy",
    ),
    Fault("an error in the stream", _error_event, "transient.*Upstream"),
    Fault("no stream at all", always(lambda: sse(Cut())), "transient"),
)
FINAL = (
    Fault(
        "a bad request",
        lambda script, calls, random: script.refusal(400, "This is not allowed."),
        "400.*not allowed",
        weight=0.2,
    ),
    Fault(
        "a bad key",
        lambda script, calls, random: script.refusal(401, "No."),
        "permanent.*401",
        weight=0.2,
    ),
    Fault("a web page", always(html_answer), "permanent.*a web page", weight=0.2),
    Fault(
        "a broken event",
        always(
            lambda: Answer((b"data: {nope\n\n",), headers={"content-type": "text/event-stream"})
        ),
        "cannot be read",
        weight=0.2,
    ),
)
LEARNED = (
    Fault(
        "a refused choice",
        lambda script, calls, random: script.refusal(400, "tool_choice is not supported"),
        "tool_choice is not supported",
        weight=0.5,
    ),
)
FAULTS = (*HARMLESS, *ASKED_AGAIN, *RETRIED, *FINAL, *LEARNED)
