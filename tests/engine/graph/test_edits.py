from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.graph import edits
from engine.graph.edits import EditRefused, UnknownEdge
from engine.graph.fragments import Fragment, copied, pasted
from engine.graph.layers import find_cycles
from engine.graph.serialization import dump_workflow, load_workflow
from engine.graph.validation import validate
from engine.graph.workflow import Edge, Node, Position, Workflow
from engine.vocabulary.errors import UnknownNode
from tests.support.graphs import agent_node, diamond, graph


def pairs(workflow: Workflow) -> list[tuple[str, str]]:
    return [(edge.source, edge.target) for edge in workflow.edges]


def ids(workflow: Workflow) -> list[str]:
    return [node.id for node in workflow.nodes]


def counter() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"id{next(numbers)}"


def test_removing_a_node_removes_its_edges_and_going_back_restores_them() -> None:
    before = diamond()
    after = edits.remove_nodes(before, ["a"])
    assert ids(after) == ["s", "b", "j"]
    assert pairs(after) == [("s", "b"), ("b", "j")]
    assert pairs(before) == [("s", "a"), ("s", "b"), ("a", "j"), ("b", "j")]
    with pytest.raises(UnknownNode, match="gone"):
        edits.remove_nodes(before, ["a", "gone"])


def test_adding_a_node() -> None:
    workflow = edits.add_node(diamond(), agent_node("new"))
    assert ids(workflow)[-1] == "new"
    with pytest.raises(EditRefused, match="already is a node 'new'"):
        edits.add_node(workflow, agent_node("new"))


def test_connecting() -> None:
    workflow = graph("abc", [("a", "b"), ("b", "c")])
    assert pairs(edits.connect(workflow, Edge(id="e", source="a", target="c")))[-1] == ("a", "c")
    again = edits.connect(workflow, Edge(id="e", source="a", target="b"))
    assert again is workflow
    with pytest.raises(EditRefused, match="itself"):
        edits.connect(workflow, Edge(id="e", source="a", target="a"))
    with pytest.raises(EditRefused, match="'a' already leads to 'c'"):
        edits.connect(workflow, Edge(id="e", source="c", target="a"))
    with pytest.raises(EditRefused, match="already is an edge 'a-b'"):
        edits.connect(workflow, Edge(id="a-b", source="a", target="c"))
    with pytest.raises(UnknownNode):
        edits.connect(workflow, Edge(id="e", source="a", target="gone"))


def test_disconnecting() -> None:
    assert pairs(edits.disconnect(diamond(), {"s-a", "b-j"})) == [("s", "b"), ("a", "j")]
    with pytest.raises(UnknownEdge, match="gone"):
        edits.disconnect(diamond(), {"gone"})


def test_reconnecting_an_end() -> None:
    workflow = graph("abcd", [("a", "b"), ("b", "c")])
    moved = edits.reconnect(workflow, "b-c", target="d")
    assert [(e.id, e.source, e.target) for e in moved.edges][1] == ("b-c", "b", "d")
    assert pairs(edits.reconnect(workflow, "b-c", source="a"))[1] == ("a", "c")
    turned = edits.reconnect(graph("ab", [("a", "b")]), "a-b", source="b", target="a")
    assert pairs(turned) == [("b", "a")]
    with pytest.raises(EditRefused, match="circle"):
        edits.reconnect(workflow, "b-c", target="a")
    with pytest.raises(EditRefused, match="connected already"):
        edits.reconnect(workflow, "b-c", source="a", target="b")
    with pytest.raises(UnknownEdge):
        edits.reconnect(workflow, "gone", target="a")
    with pytest.raises(UnknownNode):
        edits.reconnect(workflow, "b-c", target="gone")


def test_moving_renaming_and_changing_settings() -> None:
    workflow = edits.move_nodes(diamond(), {"a": Position(x=5, y=6), "j": Position(x=7, y=8)})
    assert [(node.position.x, node.position.y) for node in workflow.nodes] == [
        (0, 0),
        (5, 6),
        (0, 0),
        (7, 8),
    ]
    assert edits.rename_node(workflow, "a", "  Branch ").node("a").label == "Branch"
    assert edits.rename_node(workflow, "a", " ") is workflow
    assert edits.rename_workflow(workflow, "New").name == "New"
    assert edits.rename_workflow(workflow, "") is workflow
    changed = edits.change_config(workflow, "a", model="m", request_user_input=True)
    assert changed.node("a").agent != workflow.node("a").agent
    original = workflow.node("a").agent
    assert original is not None
    assert edits.replace_config(changed, "a", original).node("a") == workflow.node("a")
    assert edits.change_settings(workflow, fast_mode=True).settings.fast_mode
    with pytest.raises(ValueError, match="valid string"):
        edits.change_config(workflow, "a", model=3)
    with pytest.raises(UnknownNode):
        edits.move_nodes(workflow, {"gone": Position(x=0, y=0)})


def test_a_node_of_an_unknown_kind_has_no_settings_to_change() -> None:
    node = Node(id="n", label="", kind="timer", position=Position(x=0, y=0))
    with pytest.raises(EditRefused, match="no agent"):
        edits.change_config(graph([node]), "n", model="m")


def test_what_an_edit_does_not_touch_is_shared() -> None:
    workflow = diamond()
    moved = edits.move_nodes(workflow, {"a": Position(x=5, y=6)})
    assert [new is old for new, old in zip(moved.nodes, workflow.nodes, strict=True)] == [
        True,
        False,
        True,
        True,
    ]
    assert all(new is old for new, old in zip(moved.edges, workflow.edges, strict=True))


def test_a_workflow_can_get_another_id() -> None:
    text = dump_workflow(diamond())
    second = edits.with_workflow_id(load_workflow(text), "wf-2")
    assert dump_workflow(second) == text.replace('"id": "wf"', '"id": "wf-2"')


def test_pasting_gives_new_ids_and_keeps_inner_edges() -> None:
    workflow = graph("xab", [("x", "a"), ("a", "b")])
    result = pasted(workflow, copied(workflow, {"a", "b"}), counter(), offset=10.0)
    assert result.node_ids == {"a": "id1", "b": "id2"}
    assert ids(result.workflow) == ["x", "a", "b", "id1", "id2"]
    assert pairs(result.workflow) == [("x", "a"), ("a", "b"), ("id1", "id2")]
    assert result.workflow.node("id1").position == Position(x=10.0, y=10.0)
    assert result.workflow.node("id1").agent == workflow.node("a").agent
    assert validate(result.workflow) == ()
    twice = pasted(result.workflow, copied(workflow, {"a", "b"}), counter())
    assert len(set(ids(twice.workflow))) == 7
    assert len({edge.id for edge in twice.workflow.edges}) == 4


def test_what_is_unknown_is_pasted_too() -> None:
    document = dump_workflow(graph("a")).replace('"label": "A"', '"label": "A",\n      "note": 7')
    workflow = load_workflow(document)
    result = pasted(graph("z"), copied(workflow, {"a"}), counter())
    assert load_workflow(dump_workflow(result.workflow)).node("id1").unknown_keys == {"note": 7}


def test_pasting_nothing_changes_nothing() -> None:
    assert pasted(diamond(), Fragment((), ()), counter()).workflow == diamond()


def some_edit(
    data: st.DataObject, workflow: Workflow, fresh: Callable[[], str]
) -> Callable[[], Workflow]:
    nodes = st.sampled_from([*ids(workflow), "gone"])
    a, b = data.draw(nodes), data.draw(nodes)
    edge = data.draw(st.sampled_from([*(edge.id for edge in workflow.edges), "gone"]))
    choices: list[Callable[[], Workflow]] = [
        lambda: edits.add_node(workflow, agent_node(fresh())),
        lambda: edits.remove_nodes(workflow, {a, b}),
        lambda: edits.connect(workflow, Edge(id=fresh(), source=a, target=b)),
        lambda: edits.reconnect(workflow, edge, source=a),
        lambda: edits.reconnect(workflow, edge, target=b),
        lambda: edits.disconnect(workflow, {edge}),
        lambda: edits.rename_node(workflow, a, "Ä label"),
        lambda: edits.move_nodes(workflow, {a: Position(x=1, y=2)}),
        lambda: pasted(workflow, copied(workflow, {a, b}), fresh).workflow,
    ]
    return data.draw(st.sampled_from(choices))


@settings(max_examples=25)
@given(st.data())
def test_no_series_of_edits_makes_a_workflow_wrong(data: st.DataObject) -> None:
    workflow = load_workflow(dump_workflow(diamond()))
    fresh = counter()
    for _ in range(data.draw(st.integers(1, 8))):
        before = dump_workflow(workflow)
        try:
            changed = some_edit(data, workflow, fresh)()
        except (UnknownNode, UnknownEdge, EditRefused):
            changed = workflow
        assert dump_workflow(workflow) == before
        workflow = changed
        assert find_cycles(workflow) == ()
        assert {problem.code for problem in validate(workflow)} <= {"empty_workflow"}
        assert load_workflow(dump_workflow(workflow)) == workflow
