from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.graph.problems import Problem
from engine.graph.serialization import WorkflowFormatError, dump_workflow, load_workflow
from engine.graph.validation import validate
from engine.graph.workflow import Workflow

VALID: dict[str, Any] = {
    "id": "w",
    "name": "W",
    "nodes": [
        {
            "id": "a",
            "label": "A",
            "kind": "agent",
            "position": {"x": 0, "y": 0},
            "agent": {
                "system_prompt": "",
                "task_prompt": "t",
                "output_schema": {"type": "object"},
                "handoff": {"format": "json"},
                "tools": {},
                "mcpResources": [{"serverId": "s", "uri": "u"}],
                "mcpPrompts": [{"serverId": "s", "name": "n", "arguments": {"k": "v"}}],
            },
        },
        {"id": "b", "kind": "other"},
    ],
    "edges": [{"id": "e", "from": "a", "to": "b"}],
    "settings": {"schedule": {"cron": "* * * * *"}, "planMode": {"evidenceSourceNodeId": "a"}},
}

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "name", "nodes", "edges", "kind", "agent", "settings", "tools"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


def problems_of(text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(WorkflowFormatError) as caught:
        load_workflow(text)
    assert caught.value.problems
    assert all(problem.message in str(caught.value) for problem in caught.value.problems[:5])
    return caught.value.problems


def spoilt(change: Any) -> tuple[Problem, ...]:
    document = copy.deepcopy(VALID)
    change(document)
    return problems_of(json.dumps(document))


def load_or_refuse(text: str | bytes) -> Workflow | None:
    """Load, or be told why not; and what loads can be validated and written."""
    try:
        workflow = load_workflow(text)
    except WorkflowFormatError as error:
        problems = error.problems
    else:
        validate(workflow)
        assert load_workflow(dump_workflow(workflow)) == workflow
        return workflow
    assert problems
    return None


def test_json_that_is_no_workflow_names_what_is_missing() -> None:
    problems = problems_of('{"name":"hello"}')
    assert [(problem.code, problem.field) for problem in problems] == [
        ("missing_field", "id"),
        ("missing_field", "nodes"),
        ("missing_field", "edges"),
    ]
    assert "'id', 'name', 'nodes' and 'edges'" in problems[0].message


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (b"", "empty_file", "empty"),
        ("  \n\t", "empty_file", "empty"),
        (b"\0" * 4096, "damaged_file", "NUL"),
        ('{"id": "a\0"}', "damaged_file", "NUL"),
        (b"\xff\xfe{\0}\0", "not_utf8", "UTF-8"),
        ("[1]", "not_an_object", "a list"),
        ("null", "not_an_object", "null"),
        ('"text"', "not_an_object", "text"),
        ('{"id": }', "broken_json", "line 1, column 8"),
        ('{"id": "a",}', "broken_json", "not JSON"),
        ("{'id': 1}", "broken_json", "not JSON"),
        ('{"id": 1} x', "broken_json", "extra data"),
        ('{"n": ' + "9" * 5000 + "}", "broken_json", "digits"),
        ("[" * 100_000, "nested_too_deeply", "128"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "nested_too_deeply", "128"),
        ('{"a":' * 200 + "1" + "}" * 200, "nested_too_deeply", "flatter"),
        ('{"id": NaN}', "wrong_type", "id is NaN"),
        ('{"a": [{"b c": -1e999}]}', "wrong_type", 'a[0]["b c"] is -1e999'),
    ],
)
def test_a_text_that_cannot_be_read(text: str | bytes, code: str, words: str) -> None:
    (problem,) = problems_of(text)
    assert problem.code == code
    assert words in problem.message


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_file_that_breaks_off_says_so(share: float) -> None:
    text = json.dumps(VALID, indent=2)
    (problem,) = problems_of(text[: int(len(text) * share)])
    assert problem.code == "broken_json"
    assert "breaks off" in problem.message
    assert "backup" in problem.message


def test_every_key_that_stands_twice_is_named() -> None:
    text = '{"id":"a","nodes":[{"id":1},{"x":1,"y":2,"x":3}],"edges":[],"id":"b"}'
    assert [(problem.code, problem.field) for problem in problems_of(text)] == [
        ("duplicate_key", "nodes[1].x"),
        ("duplicate_key", "id"),
    ]


def test_depth_up_to_the_limit_is_read() -> None:
    schema: Any = {}
    for _ in range(61):
        schema = {"properties": {"a": schema}}
    document = copy.deepcopy(VALID)
    document["nodes"][0]["agent"]["output_schema"] = schema
    assert load_or_refuse(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "code", "field", "words"),
    [
        (lambda d: d.update(name=3), "wrong_type", "name", "a number, but must be text"),
        (lambda d: d.update(nodes={}), "wrong_type", "nodes", "an object, but must be a list"),
        (lambda d: d["edges"].append(7), "wrong_type", "edges[1]", "must be an object"),
        (
            lambda d: d["nodes"].append(None),
            "wrong_type",
            "nodes[2]",
            "null, but must be an object",
        ),
        (lambda d: d["edges"][0].pop("to"), "missing_field", "edges[0].to", "edge 'e'"),
        (lambda d: d["nodes"][0].pop("agent"), "missing_field", "nodes[0].agent", "node 'a'"),
        (lambda d: d["nodes"][0].pop("kind"), "missing_field", "nodes[0].kind", "node 'a'"),
        (lambda d: d["nodes"][1].pop("id"), "missing_field", "nodes[1].id", "add it"),
        (
            lambda d: d["nodes"][0]["position"].update(x="1"),
            "wrong_type",
            "nodes[0].position.x",
            "text, but must be a number",
        ),
        (
            lambda d: d["nodes"][0]["position"].update(y=10**400),
            "wrong_type",
            "nodes[0].position.y",
            "a huge number",
        ),
        (
            lambda d: d["nodes"][0]["agent"].pop("task_prompt"),
            "missing_field",
            "nodes[0].agent.task_prompt",
            "node 'a'",
        ),
        (
            lambda d: d["nodes"][0]["agent"].update(auto_start=1),
            "wrong_type",
            "nodes[0].agent.auto_start",
            "a number, but must be true or false",
        ),
        (
            lambda d: d["nodes"][0]["agent"].update(handoff={"format": "xml"}),
            "unknown_value",
            "nodes[0].agent.handoff",
            "'legacy', 'markdown', 'json'",
        ),
        (
            lambda d: d["nodes"][0]["agent"].update(handoff={"format": "markdown"}),
            "missing_field",
            "nodes[0].agent.handoff.template",
            "add it",
        ),
        (
            lambda d: d["nodes"][0]["agent"].update(handoff={}),
            "missing_field",
            "nodes[0].agent.handoff.format",
            "add it",
        ),
        (
            lambda d: d["nodes"][0]["agent"]["tools"].update(approvalMode="never"),
            "unknown_value",
            "nodes[0].agent.tools.approvalMode",
            "'yolo'",
        ),
        (
            lambda d: d["nodes"][0]["agent"]["mcpPrompts"][0]["arguments"].update(k=1),
            "wrong_type",
            "nodes[0].agent.mcpPrompts[0].arguments.k",
            "must be text",
        ),
        (
            lambda d: d["settings"].update(retry_policy={"max_attempts": 256}),
            "unknown_value",
            "settings.retry_policy.max_attempts",
            "255",
        ),
        (
            lambda d: d["settings"]["planMode"].clear(),
            "missing_field",
            "settings.planMode.evidenceSourceNodeId",
            "add it",
        ),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(
    change: Any, code: str, field: str, words: str
) -> None:
    (problem,) = spoilt(change)
    assert (problem.code, problem.field) == (code, field)
    assert words in problem.message
    assert field in problem.message


def test_everything_that_does_not_fit_is_named_at_once() -> None:
    def change(document: dict[str, Any]) -> None:
        del document["name"]
        document["nodes"][0]["label"] = None
        document["nodes"] += [{"id": "c", "kind": 1}] * 3
        document["edges"][0]["from"] = 1

    fields = [problem.field for problem in spoilt(change)]
    assert {"name", "nodes[0].label", "nodes[4].kind", "edges[0].from"} <= set(fields)
    owners = {(problem.node_id, problem.edge_id) for problem in spoilt(change)}
    assert owners == {(None, None), ("a", None), ("c", None), (None, "e")}


def test_many_problems_make_one_bearable_sentence() -> None:
    with pytest.raises(WorkflowFormatError, match="and 195 more problems") as caught:
        load_workflow(json.dumps({**VALID, "edges": [1] * 200}))
    assert len(caught.value.problems) == 200
    assert len(str(caught.value)) < 500


@settings(max_examples=30)
@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_text_is_loaded_or_refused(text: str | bytes) -> None:
    load_or_refuse(text)


@settings(max_examples=30)
@given(_JSON)
def test_any_json_is_loaded_or_refused(value: Any) -> None:
    load_or_refuse(json.dumps(value))


@settings(max_examples=30)
@given(st.data())
def test_a_workflow_with_anything_in_any_place_is_loaded_or_refused(data: st.DataObject) -> None:
    document = copy.deepcopy(VALID)
    part: Any = document
    while True:
        step = data.draw(
            st.sampled_from(list(part) if isinstance(part, dict) else range(len(part)))
        )
        below = part[step]
        if not (isinstance(below, dict | list) and below and data.draw(st.booleans())):
            break
        part = below
    if data.draw(st.booleans()):
        part[step] = data.draw(_JSON)
    else:
        del part[step]
    load_or_refuse(json.dumps(document, indent=data.draw(st.sampled_from([None, 2]))))


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.binary(max_size=3))
def test_a_damaged_file_is_loaded_or_refused(at: int, garbage: bytes) -> None:
    text = json.dumps(VALID, indent=2).encode()
    at %= len(text)
    load_or_refuse(text[:at] + garbage + text[at + len(garbage) :])
