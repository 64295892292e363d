"""Known faults of what models send, each by the id of its case.

Everything goes through the real adapters against a scripted server. What each fault is a kind of
has tests of its own; here stands its first example, and the list says that none is missing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.tools import SUBMIT_TOOL
from providers.specs import Wire
from tests.support.engine_driver import workflow
from tests.support.known_faults import (
    CHAT,
    DONE,
    TEXT,
    Bench,
    Cases,
    called,
    errors,
    history,
    part,
    properties,
    reply,
)
from tests.support.loopback_runs import closed, said_to_model
from tests.support.wire_scripts import SCRIPTS, submit_arguments

IDS = (
    *("T01", "T02", "T04", "T05", "T06", "T08", "T09", "T11", "T13", "T14", "T16", "T18", "T20"),
    *("T21", "T23", "T25"),
)
CASES = Cases()
case = CASES.case


@pytest.mark.parametrize("case_id", IDS)
def test_the_right_thing_happens(case_id: str, tmp_path: Path) -> None:
    CASES.check(case_id, tmp_path)


def test_every_case_is_there() -> None:
    assert CASES.ids == sorted(IDS)


@case("T01")
def no_arguments(tmp_path: Path) -> None:
    bench = Bench(tmp_path, list_todos=properties(), read=closed(["path"], path=TEXT))
    for nothing in ("", " \n", "null"):
        played = bench.play(called(("c1", "list_todos", nothing)))
        assert bench.ran == [("list_todos", {})]
        assert [each["function"]["arguments"] for each in history(played.asked[1])] == ["{}"]
    (error,) = errors(bench.play(called(("c1", "read", ""))))
    assert "path" in error
    assert "JSON" not in error


@case("T02")
def arguments_as_an_object(tmp_path: Path) -> None:
    bench = Bench(tmp_path, read=closed(["path"], path=TEXT))
    played = bench.play(called(("c1", "read", {"path": "a.txt"})))
    assert bench.ran == [("read", {"path": "a.txt"})]
    (sent,) = history(played.asked[1])
    assert sent["function"]["arguments"] == '{"path":"a.txt"}'
    messages = SCRIPTS[Wire.MESSAGES]
    played = bench.play(
        messages.answer(calls=(("c1", "read", '{"path":"a.txt"}'),)), script=messages
    )
    assert b'"input":{"path":"a.txt"}' in played.asked[1].body


@case("T04")
def an_array_in_a_text(tmp_path: Path) -> None:
    edits = {"type": "array", "items": {"type": "object"}}
    bench = Bench(tmp_path, edit=properties(edits=edits, note=TEXT) | {"required": ["edits"]})
    text = r'{"edits":"[{\"old_text\":\"a\",\"new_text\":\"b\"}]","note":"[1]"}'
    bench.play(called(("c1", "edit", text)))
    assert bench.ran == [
        ("edit", {"edits": [{"old_text": "a", "new_text": "b"}], "note": "[1]"}),
    ]


@case("T05")
def a_number_in_a_text(tmp_path: Path) -> None:
    bench = Bench(tmp_path, look=properties(max_bytes={"type": "integer"}, zip=TEXT))
    bench.play(called(("c1", "look", '{"max_bytes":"200000","zip":"02139"}')))
    ((_, arguments),) = bench.ran
    assert arguments == {"max_bytes": 200000, "zip": "02139"}
    assert type(arguments["max_bytes"]) is int
    for odd in ("20.5", "1e3"):
        played = bench.play(called(("c1", "look", json.dumps({"max_bytes": odd}))))
        assert not bench.ran
        assert "max_bytes" in errors(played)[0]


@case("T06")
def two_objects_in_one_slot(tmp_path: Path) -> None:
    bench = Bench(tmp_path, link=closed(["a"], a=TEXT))
    first = part('{"a":"X"}', "link", index=0, id="c1")
    played = bench.play(reply(first, part('{"a":"Y"}', index=0)))
    assert bench.ran == [("link", {"a": "X"}), ("link", {"a": "Y"})]
    assert len({each["id"] for each in history(played.asked[1])}) == 2
    bench.play(reply(first, part('{"a":', index=0)))
    assert not bench.ran


@case("T08")
def a_text_like_two_objects(tmp_path: Path) -> None:
    bench = Bench(tmp_path, write=closed(["path", "content"], path=TEXT, content=TEXT))
    bench.play(called(("c1", "write", '{"path":"r.txt","content":"}{"}')))
    assert bench.ran == [("write", {"path": "r.txt", "content": "}{"})]


@case("T09")
def no_index(tmp_path: Path) -> None:
    bench = Bench(tmp_path, read=closed(["path"], path=TEXT))
    a, b = part('{"path":"a"}', "read", id="c1"), part('{"path":"b"}', "read", id="c2")
    bench.play(reply(a, b))
    assert bench.ran == [("read", {"path": "a"}), ("read", {"path": "b"})]
    bench.play(reply(a, part('{"path":', "read", id="c2"), part('"b"}')))
    assert bench.ran == [("read", {"path": "a"}), ("read", {"path": "b"})]


@case("T11")
def counted_from_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path, read=closed(["path"], path=TEXT))
    played = bench.play(
        reply(part('{"pa', "read", index=1, id="c1"), part('th":"a"}', index=1)),
    )
    assert bench.ran == [("read", {"path": "a"})]
    assert len(history(played.asked[1])) == 1


@case("T13")
def the_name_in_every_piece(tmp_path: Path) -> None:
    place = closed(["path"], path=TEXT)
    bench = Bench(tmp_path, read=place, get_weather=place)
    whole = [part(piece, "read", index=0, id="c1") for piece in ('{"pa', 'th":"a"}')]
    bench.play(reply(*whole))
    assert bench.ran == [("read", {"path": "a"})]
    halves = [part('{"pa', "get_", index=0, id="c1"), part('th":"a"}', "weather", index=0, id="c1")]
    bench.play(reply(*halves))
    assert bench.ran == [("get_weather", {"path": "a"})]


@case("T14")
def cut_off_by_the_limit(tmp_path: Path) -> None:
    bench = Bench(tmp_path, bash=closed(["command"], command=TEXT))
    cut = '{"command":"rm -rf build && cp -r src '
    played = bench.play(called(("c1", "bash", cut), reason="length"))
    assert not bench.ran
    assert "the limit on the length of one reply" in said_to_model(played.asked[1])
    assert "rm -rf" not in said_to_model(played.asked[1])


@case("T16")
def broken_and_not_cut_off(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ui=closed(["action"], action=TEXT))
    played = bench.play(called(("c1", "ui", '{"action": list_windows"}')))
    assert not bench.ran
    told = said_to_model(played.asked[1])
    assert "not valid JSON at column 12" in told
    assert "limit" not in errors(played)[0]


@case("T18")
def python_notation(tmp_path: Path) -> None:
    limit = {"type": ["integer", "null"]}
    bench = Bench(tmp_path, find=properties(all={"type": "boolean"}, limit=limit, tag=TEXT))
    bench.play(called(("c1", "find", "{'all': True, 'limit': None, 'tag': 'None',}")))
    assert bench.ran == [("find", {"all": True, "limit": None, "tag": "None"})]


@case("T20")
def decorated_names(tmp_path: Path) -> None:
    bench = Bench(tmp_path, read=closed(["path"], path=TEXT), list_todos=properties())
    played = bench.play(
        called(
            ("c1", "functions.read", '{"path":"a"}'),
            ("c2", "list_todos</arg_value>", "{}"),
            ("c3", "reed", "{}"),
        )
    )
    assert bench.ran == [("read", {"path": "a"}), ("list_todos", {})]
    (error,) = errors(played)
    assert "'reed'" in error
    assert "read, " in error
    assert "list_todos" in error


@case("T21")
def a_call_printed_as_text(tmp_path: Path) -> None:
    bench = Bench(tmp_path, read=closed(["path"], path=TEXT))
    flow = workflow(nodes=["a"], defaults={"tools": {"approvalMode": "always_ask"}})
    for text in (
        '<tool_call>\n{"name":"read","arguments":{"path":"a"}}\n</tool_call>',
        "<function=read>\n<parameter=path>a</parameter>\n</function>",
        '{"name":"read","arguments":{"path":"a"}}',
    ):
        played = bench.play(CHAT.answer(text=text))
        assert bench.ran == [("read", {"path": "a"})]
        assert any("printed_call" in repr(event) for event in played.run.events)
        asked = bench.play(CHAT.answer(text=text), flow=flow).outcome
        assert isinstance(asked, NeedsInteraction)
        assert [each.tool_call.arguments for each in asked.approvals] == [{"path": "a"}]
    bench.play(
        CHAT.answer(
            text='Docs example: `<tool_call>{"name":"read"}</tool_call>` is how Qwen writes it.'
        )
    )
    assert not bench.ran
    unknown = CHAT.answer(text='<tool_call>{"name":"nope","arguments":{}}</tool_call>')
    assert isinstance(bench.play(unknown, unknown).outcome, RunCompleted)
    played = bench.play(unknown, unknown, unknown)
    assert isinstance(played.outcome, NeedsInteraction)
    assert len(played.asked) == 3


@case("T23")
def calls_with_the_reason_stop(tmp_path: Path) -> None:
    bench = Bench(tmp_path, read=closed(["path"], path=TEXT))
    bench.play(called(("c1", "read", '{"path":"a"}'), reason="stop"))
    assert bench.ran == [("read", {"path": "a"})]


@case("T25")
def a_submit_in_company(tmp_path: Path) -> None:
    bench = Bench(tmp_path, write=closed(["path", "content"], path=TEXT, content=TEXT))
    write = ("c1", "write", '{"path":"a","content":"b"}')
    second = ("s2", SUBMIT_TOOL, submit_arguments({"summary": "second"}))
    for calls in ((write, DONE), (DONE, second)):
        played = bench.play(called(*calls))
        assert not bench.ran
        assert isinstance(played.outcome, RunCompleted)
        assert played.outcome.report.outputs[0].output == {"summary": "done"}
        assert len(played.asked) == 2
        assert said_to_model(played.asked[1]).count("must be called alone") >= 1
