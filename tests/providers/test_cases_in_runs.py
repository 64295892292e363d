"""Strange replies in whole runs: what runs, what the model is told, what ends up in its history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.tools import SUBMIT_TOOL, ToolTier
from providers.specs import Wire
from tests.support.engine_driver import workflow
from tests.support.loopback import Answer, LoopbackServer, json_answer, sse
from tests.support.loopback_runs import Played, Ran, closed, play_run, recording_tool, said_to_model
from tests.support.wire_runs import play
from tests.support.wire_scripts import SCRIPTS, Call, WireScript, submit_arguments

DONE: Call = ("s1", SUBMIT_TOOL, submit_arguments({"summary": "done"}))
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
CHAT = SCRIPTS[Wire.CHAT]


class Tools:
    """The tools of these runs, and what they ran with."""

    def __init__(self) -> None:
        self.ran: list[Ran] = []
        read, write = ToolTier.READ, ToolTier.WRITE
        make = recording_tool
        self.all = [
            make("list_todos", closed(), self.ran, read),
            make(
                "read", closed(["path"], path=TEXT, max_bytes={"type": "integer"}), self.ran, read
            ),
            make("link", closed(["a"], a=TEXT), self.ran, write),
            make(
                "edit",
                closed(["edits"], edits={"type": "array", "items": {"type": "object"}}, note=TEXT),
                self.ran,
                write,
            ),
            make("write", closed(["path", "content"], path=TEXT, content=TEXT), self.ran, write),
            make("bash", closed(["command"], command=TEXT), self.ran, write),
            make("ui", closed(["action"], action=TEXT), self.ran, write),
            make(
                "search",
                closed(
                    all={"type": "boolean"},
                    limit={"type": ["integer", "null"]},
                    tag=TEXT,
                    zip=TEXT,
                ),
                self.ran,
                read,
            ),
        ]


def run(
    script: WireScript, tmp_path: Path, *turns: Answer, calls: tuple[Call, ...] = ()
) -> tuple[Played, list[Ran]]:
    """A run whose first reply makes these calls, or has these turns, and then submits."""
    tools = Tools()
    folder = tmp_path / "work"
    folder.mkdir()
    first = (script.answer(calls=calls),) if calls else ()
    played = play_run(script, [*first, *turns, script.answer(calls=(DONE,))], tools.all, folder)
    return played, tools.ran


def chat_stream(*choices: dict[str, Any]) -> Answer:
    return sse(*[{"choices": [choice]} for choice in choices], done=True)


def chat_delta(reason: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": reason}


def chat_call(arguments: str, name: str | None = None, **where: Any) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return chat_delta(tool_calls=[{**where, "function": function}])


@pytest.mark.parametrize("arguments", ["", "  ", "null"])
def test_no_arguments_are_an_empty_object_in_the_call_and_in_the_history(
    script: WireScript, tmp_path: Path, arguments: str
) -> None:
    played, ran = run(script, tmp_path, calls=(("c1", "list_todos", arguments),))
    assert isinstance(played.outcome, RunCompleted)
    assert ran == [("list_todos", {})]
    sent = played.asked[1].body
    assert b'"arguments":"{}"' in sent or b'"input":{}' in sent
    assert b'"arguments":""' not in sent


def test_missing_fields_are_called_missing(script: WireScript, tmp_path: Path) -> None:
    played, ran = run(script, tmp_path, calls=(("c1", "read", ""),))
    assert ran == []
    assert "path" in said_to_model(played.asked[1])
    assert "not valid JSON" not in said_to_model(played.asked[1])


def test_arguments_that_are_an_object_go_into_the_history_as_the_wire_wants_them(
    tmp_path: Path,
) -> None:
    call = {"id": "c1", "function": {"name": "read", "arguments": {"path": "a.txt"}}}
    stream = chat_stream(chat_delta(tool_calls=[{"index": 0, **call}]), chat_delta("tool_calls"))
    played, ran = run(CHAT, tmp_path, stream)
    assert ran == [("read", {"path": "a.txt"})]
    message = next(m for m in played.asked[1].json["messages"] if m.get("tool_calls"))
    assert message["tool_calls"][0]["function"]["arguments"] == '{"path":"a.txt"}'


def test_a_text_becomes_an_array_only_where_the_schema_wants_one(
    script: WireScript, tmp_path: Path
) -> None:
    edits = [{"old_text": "a", "new_text": "b"}]
    arguments = json.dumps({"edits": json.dumps(edits), "note": "[1]"})
    _, ran = run(script, tmp_path, calls=(("c1", "edit", arguments),))
    assert ran == [("edit", {"edits": edits, "note": "[1]"})]


def test_a_text_becomes_a_number_only_where_the_schema_wants_one(
    script: WireScript, tmp_path: Path
) -> None:
    good = ("c1", "read", '{"path":"a","max_bytes":"200000"}')
    zipped = ("c2", "search", '{"zip":"02139"}')
    bad = tuple((f"c{n}", "read", f'{{"path":"a","max_bytes":"{n}"}}') for n in ("20.5", "1e3"))
    played, ran = run(script, tmp_path, calls=(good, zipped, *bad))
    assert ran == [("read", {"path": "a", "max_bytes": 200000}), ("search", {"zip": "02139"})]
    assert [is_error for _, is_error, _ in played.run.results()] == [False, False, True, True]
    assert isinstance(played.outcome, RunCompleted)


def test_two_objects_in_one_slot_are_two_calls_in_order(tmp_path: Path) -> None:
    played, ran = run(
        CHAT,
        tmp_path,
        chat_stream(
            chat_call('{"a":"X"}', "link", index=0, id="c1"),
            chat_call('{"a":"Y"}', index=0),
            chat_delta("tool_calls"),
        ),
    )
    assert ran == [("link", {"a": "X"}), ("link", {"a": "Y"})]
    message = next(m for m in played.asked[1].json["messages"] if m.get("tool_calls"))
    ids = [call["id"] for call in message["tool_calls"]]
    results = [m["tool_call_id"] for m in played.asked[1].json["messages"] if m["role"] == "tool"]
    assert len(set(ids)) == 2
    assert results == ids


def test_half_an_object_after_a_whole_one_runs_nothing(tmp_path: Path) -> None:
    _, ran = run(
        CHAT,
        tmp_path,
        chat_stream(
            chat_call('{"a":"X"}', "link", index=0, id="c1"),
            chat_call('{"a":', index=0),
            chat_delta("tool_calls"),
        ),
    )
    assert ran == []


def test_text_that_looks_like_two_objects_is_left_alone(script: WireScript, tmp_path: Path) -> None:
    _, ran = run(script, tmp_path, calls=(("c1", "write", '{"path":"r.txt","content":"}{"}'),))
    assert ran == [("write", {"path": "r.txt", "content": "}{"})]


@pytest.mark.parametrize(
    "chunks",
    [
        [
            chat_call('{"path":"a"}', "read", id="c1"),
            chat_call('{"path":', "read", id="c2"),
            chat_call('"b"}'),
        ],
        [
            chat_call('{"path":', "read", index=1, id="c1"),
            chat_call('"a"}', index=1),
            chat_call('{"path":"b"}', "read", index=2, id="c2"),
        ],
        [
            chat_call('{"path":', "read", index=0, id="c1"),
            chat_call('"a"}', "read", index=0, id="c1"),
            chat_call('{"path":"b"}', "read", index=0, id="c2"),
        ],
    ],
    ids=["no index", "counted from one", "one index and the name in every piece"],
)
@pytest.mark.parametrize("reason", ["tool_calls", "stop"])
def test_calls_are_told_apart_however_they_are_numbered(
    tmp_path: Path, chunks: list[dict[str, Any]], reason: str
) -> None:
    _, ran = run(CHAT, tmp_path, chat_stream(*chunks, chat_delta(reason)))
    assert ran == [("read", {"path": "a"}), ("read", {"path": "b"})]


def test_a_call_that_the_limit_cut_off_runs_nowhere_and_is_kept_nowhere(
    script: WireScript, tmp_path: Path
) -> None:
    cut = ("c1", "bash", '{"command":"rm -rf build && cp -r src ')
    played, ran = run(script, tmp_path, script.answer(calls=(cut,), cut_by_limit=True))
    assert ran == []
    assert isinstance(played.outcome, RunCompleted)
    told = said_to_model(played.asked[1])
    assert "rm -rf" not in told
    assert "the limit on the length of one reply" in told


def test_broken_arguments_are_called_broken_and_not_cut_off(
    script: WireScript, tmp_path: Path
) -> None:
    broken = ("c1", "ui", '{"action": list_windows"}')
    played, ran = run(script, tmp_path, calls=(broken,))
    assert ran == []
    told = said_to_model(played.asked[1])
    assert "not valid JSON at column 12" in told
    assert "list_windows" not in told
    assert isinstance(played.outcome, RunCompleted)


def test_python_notation_keeps_its_types(script: WireScript, tmp_path: Path) -> None:
    arguments = "{'all': True, 'limit': None, 'tag': 'None',}"
    _, ran = run(script, tmp_path, calls=(("c1", "search", arguments),))
    assert ran == [("search", {"all": True, "limit": None, "tag": "None"})]


def test_decorated_names_are_undecorated_and_no_name_is_guessed(
    script: WireScript, tmp_path: Path
) -> None:
    calls = (
        ("c1", "functions.read", '{"path":"a"}'),
        ("c2", "list_todos</arg_value>", "{}"),
        ("c3", "reed", "{}"),
        ("c4", "writ", '{"path":"a","content":"b"}'),
    )
    played, ran = run(script, tmp_path, calls=calls)
    assert ran == [("read", {"path": "a"}), ("list_todos", {})]
    errors = [content for _, is_error, content in played.run.results() if is_error]
    assert len(errors) == 2
    assert all("read" in error and "list_todos" in error for error in errors)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name":"read","arguments":{"path":"a"}}\n</tool_call>',
        "<function=read>\n<parameter=path>a</parameter>\n</function>",
        '{"name":"read","arguments":{"path":"a"}}',
    ],
)
def test_a_message_that_is_a_call_is_made_and_marked(
    script: WireScript, tmp_path: Path, text: str
) -> None:
    played, ran = run(script, tmp_path, script.answer(text=text))
    assert ran == [("read", {"path": "a"})]
    assert isinstance(played.outcome, RunCompleted)
    assert any("printed_call" in repr(event) for event in played.run.events)


def test_a_message_that_speaks_of_a_call_makes_none(script: WireScript, tmp_path: Path) -> None:
    text = 'Docs example: `<tool_call>{"name":"read"}</tool_call>` is how Qwen writes it.'
    played, ran = run(script, tmp_path, script.answer(text=text))
    assert ran == []
    assert isinstance(played.outcome, RunCompleted)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name":"no_such_tool","arguments":{}}</tool_call>',
        '<tool_call>{"name":"read","arguments":{"pa',
        json.dumps({"name": SUBMIT_TOOL, "arguments": {"output": {"summary": "x"}}}),
    ],
)
def test_a_printed_call_that_cannot_run_is_asked_for_again_at_most_twice(
    script: WireScript, tmp_path: Path, text: str
) -> None:
    printed = script.answer(text=text)
    played, _ = run(script, tmp_path, printed, printed)
    assert isinstance(played.outcome, RunCompleted)

    (tmp_path / "again").mkdir()
    played, _ = run(script, tmp_path / "again", printed, printed, printed)
    assert isinstance(played.outcome, NeedsInteraction)
    assert len(played.asked) == 3


@pytest.mark.parametrize(
    "calls",
    [
        (("c1", "write", '{"path":"a","content":"b"}'), DONE),
        (DONE, ("s2", SUBMIT_TOOL, submit_arguments({"summary": "second"}))),
    ],
    ids=["with another", "twice"],
)
def test_a_submit_that_does_not_stand_alone_runs_nothing(
    script: WireScript, tmp_path: Path, calls: tuple[Call, ...]
) -> None:
    played, ran = run(script, tmp_path, calls=calls)
    assert ran == []
    assert isinstance(played.outcome, RunCompleted)
    assert len(played.asked) == 2
    assert "must be called alone" in said_to_model(played.asked[1])


def test_a_refused_choice_is_a_record_and_a_request_in_the_accepted_form(
    tmp_path: Path,
) -> None:
    words = "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"
    refusal = json_answer({"error": {"message": words}}, 400)
    played, ran = run(CHAT, tmp_path, refusal, calls=())
    assert isinstance(played.outcome, RunCompleted)
    assert [asked.json["tool_choice"] for asked in played.asked] == ["required", "auto"]
    assert ran == []


def test_a_server_that_cuts_the_prompt_is_not_trusted(tmp_path: Path) -> None:
    tools, folder = Tools(), tmp_path / "work"
    folder.mkdir()
    long = {"system_prompt": "word " * 15_750}
    flow = workflow(nodes=["a"], defaults=long)
    cut = CHAT.answer(calls=(DONE,), counts=(2051, 30, 0))
    played = play_run(CHAT, [cut], tools.all, folder, flow)
    assert "has cut the prompt" in played.error
    assert "2051" in played.error


def test_counts_in_every_chunk_are_counted_once(tmp_path: Path) -> None:
    zero = {"prompt_tokens": 0, "completion_tokens": 0}
    real = {"prompt_tokens": 10, "completion_tokens": 2}
    stream = sse(
        {"choices": [chat_delta(content="a")], "usage": zero},
        {"choices": [chat_delta(content="b")], "usage": real},
        {"choices": [{"delta": {}, "finish_reason": "stop", "usage": real}]},
        done=True,
    )
    with LoopbackServer() as server:
        usage = play(CHAT, server, stream).usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (10, 2)
