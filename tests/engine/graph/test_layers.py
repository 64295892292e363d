from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.graph.layers import (
    WorkflowCycle,
    ancestors,
    execution_layers,
    find_cycles,
    parents_by_node,
)
from engine.graph.workflow import Workflow
from tests.support.graphs import diamond, graph


@st.composite
def _acyclic(draw: st.DrawFn) -> Workflow:
    ids = draw(st.lists(st.text("abcdefgh", min_size=1, max_size=3), unique=True, max_size=12))
    pairs = [(a, b) for i, a in enumerate(ids) for b in ids[i + 1 :]]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return graph(draw(st.permutations(ids)), edges)


def test_a_diamond_has_root_then_branches_then_join() -> None:
    assert execution_layers(diamond()) == (("s",), ("a", "b"), ("j",))


def test_parents_are_sorted_and_named_once() -> None:
    workflow = graph("jba", [("b", "j"), ("a", "j")])
    twice = workflow.model_copy(
        update={"edges": (*workflow.edges, workflow.edges[0].model_copy(update={"id": "again"}))}
    )
    assert parents_by_node(twice) == {"j": ("a", "b"), "b": (), "a": ()}
    assert execution_layers(twice) == (("a", "b"), ("j",))


def test_edges_that_lead_nowhere_are_left_out() -> None:
    workflow = graph("ab", [("a", "b"), ("a", "gone"), ("gone", "b")])
    assert parents_by_node(workflow) == {"a": (), "b": ("a",)}
    assert execution_layers(workflow) == (("a",), ("b",))


def test_a_cycle_is_named_from_its_smallest_id_on() -> None:
    workflow = graph("xcab", [("x", "c"), ("c", "a"), ("a", "b"), ("b", "c")])
    with pytest.raises(WorkflowCycle, match="a → b → c → a") as caught:
        execution_layers(workflow)
    assert caught.value.node_ids == ("a", "b", "c")


def test_every_knot_is_found() -> None:
    workflow = graph("abcdx", [("a", "b"), ("b", "a"), ("b", "x"), ("c", "d"), ("d", "c")])
    assert find_cycles(workflow) == (("a", "b"), ("c", "d"))


@settings(max_examples=30)
@given(_acyclic())
def test_layers_hold_each_node_once_and_after_its_parents(workflow: Workflow) -> None:
    layers = execution_layers(workflow)
    layer_of = {node_id: i for i, layer in enumerate(layers) for node_id in layer}
    assert sorted(node_id for layer in layers for node_id in layer) == sorted(
        node.id for node in workflow.nodes
    )
    assert all(list(layer) == sorted(layer) for layer in layers)
    for node_id, parents in parents_by_node(workflow).items():
        depths = [layer_of[parent] for parent in parents]
        assert layer_of[node_id] == max(depths, default=-1) + 1
    assert find_cycles(workflow) == ()


@settings(max_examples=30)
@given(_acyclic())
def test_ancestors_are_what_parents_lead_to(workflow: Workflow) -> None:
    parents = parents_by_node(workflow)
    for node_id in parents:
        expected = set(parents[node_id])
        for parent in parents[node_id]:
            expected.update(ancestors(parent, parents))
        assert ancestors(node_id, parents) == tuple(sorted(expected))
