"""The document: every change is one step, can be undone, and is told to whoever draws it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from app.canvas.document import NotEditable, WorkflowDocument
from app.canvas.graph_sketch import EMPTY_GRAPH
from app.canvas.snapshot import Snapshot
from engine.graph import edits
from engine.graph.serialization import dump_workflow, load_workflow
from engine.graph.workflow import Edge, Position
from orchestration.workflow_catalog import examples

TEXT = examples()[0].path.read_text("utf-8")


def opened() -> WorkflowDocument:
    document = WorkflowDocument()
    document.show_workflow(Path("a.workflow.json"), load_workflow(TEXT))
    return document


def rename(document: WorkflowDocument, label: str, merge: str = "") -> bool:
    node_id = document.graph.cards[0].id
    return document.edit("Rename", lambda w: edits.rename_node(w, node_id, label), merge=merge)


def text_of(document: WorkflowDocument) -> str:
    assert document.workflow is not None
    return dump_workflow(document.workflow)


def test_an_edit_is_one_step_and_undoing_it_gives_the_very_same_file(qapp: QApplication) -> None:
    document = opened()
    told: list[tuple[Snapshot, Snapshot]] = []
    document.edited.connect(lambda before, after: told.append((before, after)))

    assert rename(document, "Another")
    assert document.undo_stack.undoText() == "Rename"
    assert (document.is_changed, document.graph.cards[0].label) == (True, "Another")
    assert text_of(document) != TEXT

    document.undo_stack.undo()
    assert (document.is_changed, text_of(document)) == (False, TEXT)
    (before, after), (again, back) = told
    assert after.graph.cards[0].label == "Another"
    assert (before, after) == (back, again)


def test_what_changes_nothing_is_no_step(qapp: QApplication) -> None:
    document = opened()
    assert not rename(document, document.graph.cards[0].label)
    assert not document.edit("Nothing", lambda workflow: workflow)
    assert document.undo_stack.count() == 0


def test_what_only_python_takes_for_equal_is_a_change(qapp: QApplication) -> None:
    document = opened()
    node_id = document.graph.cards[0].id
    for value in (1, True, 1.0):
        schema = {"type": "object", "properties": {"x": {"default": value}}}
        change = partial(edits.change_config, node_id=node_id, output_schema=schema)
        assert document.edit("Change schema", change)
        assert not document.edit("Change schema", change)


def test_typing_is_one_step_until_it_ends(qapp: QApplication) -> None:
    document = opened()
    for text in ("A", "Ab", "Abc"):
        rename(document, text, merge="label")
    assert document.undo_stack.count() == 1
    document.end_typing()
    rename(document, "Abcd", merge="label")
    assert document.undo_stack.count() == 2
    document.undo_stack.undo()
    assert document.graph.cards[0].label == "Abc"
    document.undo_stack.undo()
    assert text_of(document) == TEXT


def test_typing_back_to_the_beginning_leaves_no_step(qapp: QApplication) -> None:
    document = opened()
    before = document.graph.cards[0].label
    rename(document, "Abc", merge="label")
    rename(document, before, merge="label")
    assert document.undo_stack.count() == 0
    assert not document.is_changed


def test_a_sketch_cannot_be_edited(qapp: QApplication) -> None:
    document = WorkflowDocument()
    document.show_sketch(Path("a"), EMPTY_GRAPH)
    with pytest.raises(NotEditable):
        document.edit("Rename", lambda workflow: workflow)


def test_a_refused_change_leaves_everything_as_it_was(qapp: QApplication) -> None:
    document = opened()
    node_id = document.graph.cards[0].id
    loop = Edge(id="loop", source=node_id, target=node_id)
    with pytest.raises(edits.EditRefused):
        document.edit("Connect", lambda workflow: edits.connect(workflow, loop))
    assert document.undo_stack.count() == 0
    assert text_of(document) == TEXT


def test_another_workflow_has_a_list_of_its_own(qapp: QApplication) -> None:
    document = opened()
    rename(document, "Another")
    document.show_workflow(Path("b.workflow.json"), load_workflow(TEXT))
    assert document.undo_stack.count() == 0
    assert not document.is_changed


@given(
    spots=st.lists(
        st.tuples(st.integers(0, 3), st.integers(-2000, 2000), st.integers(-2000, 2000)),
        max_size=8,
    )
)
def test_cards_are_where_they_were_put(
    qapp: QApplication, spots: list[tuple[int, int, int]]
) -> None:
    document = opened()
    shown = dict(document.places)
    ids = [card.id for card in document.graph.cards]
    for index, x, y in spots:
        node_id = ids[index % len(ids)]
        change = partial(edits.move_nodes, positions={node_id: Position(x=x, y=y)})
        if document.edit("Move", change):
            shown[node_id] = (float(x), float(y))
        assert dict(document.places) == shown
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    assert text_of(document) == TEXT
