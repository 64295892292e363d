"""What is different between two workflows: all of it, in words, and places not counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.graph import edits
from engine.graph.difference import differences
from engine.graph.node_config import JsonHandoff, MarkdownHandoff
from engine.graph.serialization import load_workflow
from engine.graph.templates import new_agent_config
from engine.graph.workflow import Annotation, Edge, Node, Position, Workflow
from engine.vocabulary.tools import ApprovalMode


def node(node_id: str, label: str = "") -> Node:
    return Node(
        id=node_id,
        label=label or node_id.title(),
        kind="agent",
        position=Position(x=0, y=0),
        agent=new_agent_config(),
    )


FLOW = Workflow(
    id="w",
    name="Flow",
    nodes=(node("a"), node("b")),
    edges=(Edge(id="e", source="a", target="b"),),
)


def told(after: Workflow, before: Workflow = FLOW) -> list[str]:
    return [each.sentence for each in differences(before, after)]


def test_the_same_workflow_has_no_differences_wherever_its_nodes_are() -> None:
    assert told(edits.move_nodes(FLOW, {"a": Position(x=500, y=5)})) == []


def test_each_change_is_told_by_the_name_that_a_person_knows() -> None:
    assert told(edits.rename_workflow(FLOW, "Other")) == ["workflow: name “Flow” → “Other”"]
    assert told(edits.rename_node(FLOW, "a", "First")) == ["node “A”: name “A” → “First”"]
    assert told(edits.change_config(FLOW, "a", model="m-1")) == ["node “A”: model nothing → “m-1”"]
    agent = FLOW.node("a").agent
    assert agent is not None
    tools = agent.tools.model_copy(update={"approval_mode": ApprovalMode.YOLO})
    assert told(edits.change_config(FLOW, "a", tools=tools)) == [
        "node “A”: approval mode nothing → “yolo”"
    ]
    assert told(edits.change_settings(FLOW, fast_mode=True)) == ["workflow: fast mode off → on"]


def test_nodes_and_connections_that_come_and_go() -> None:
    without = edits.remove_nodes(FLOW, ["b"])
    assert told(without) == ["node “B” removed", "connection “A” → “B” removed"]
    assert told(FLOW, without) == ["node “B” added", "connection “A” → “B” added"]
    again = FLOW.model_copy(update={"edges": (Edge(id="other", source="a", target="b"),)})
    assert told(again) == []


def test_long_texts_are_told_line_by_line() -> None:
    before = edits.change_config(FLOW, "a", system_prompt="one\ntwo\nthree")
    after = edits.change_config(FLOW, "a", system_prompt="one\n2\nthree")
    (found,) = differences(before, after)
    assert found.sentence == "node “A”: system prompt changed"
    assert found.lines() == (" one", "-two", "+2", " three")


def test_another_kind_of_handoff_and_a_schema_are_told() -> None:
    before = edits.change_config(FLOW, "a", handoff=JsonHandoff())
    after = edits.change_config(FLOW, "a", handoff=MarkdownHandoff(template="# Result"))
    assert told(after, before) == ["node “A”: handoff changed"]
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    (found,) = differences(FLOW, edits.change_config(FLOW, "a", output_schema=schema))
    assert found.field == "output schema"
    assert any(line.startswith("+") for line in found.lines())


def test_notes_and_keys_of_others_count() -> None:
    note = Annotation(
        id="n", kind="note", text="Mind", position=Position(x=0, y=0), width=100, height=60
    )
    noted = edits.add_annotation(FLOW, note)
    assert told(noted) == ["note “Mind” added"]
    assert told(edits.change_annotation(noted, "n", text="Care"), noted) == [
        "note “Mind”: text “Mind” → “Care”"
    ]
    assert told(edits.change_annotation(noted, "n", width=300), noted) == []
    text = '{"id": "w", "name": "n", "nodes": [], "edges": [], "extra": %s}'
    assert told(load_workflow(text % "2"), load_workflow(text % "1")) == [
        "workflow: 'extra' “1” → “2”"
    ]


@given(
    labels=st.lists(st.text(min_size=1, max_size=5).filter(str.strip), min_size=1, max_size=4),
    other=st.lists(st.text(min_size=1, max_size=5).filter(str.strip), min_size=1, max_size=4),
)
def test_there_is_a_difference_exactly_where_the_workflows_differ(
    labels: list[str], other: list[str]
) -> None:
    def flow(names: list[str]) -> Workflow:
        nodes = tuple(node(f"n{at}", name) for at, name in enumerate(names))
        return Workflow(id="w", name="w", nodes=nodes, edges=())

    assert bool(differences(flow(labels), flow(other))) == (labels != other)
