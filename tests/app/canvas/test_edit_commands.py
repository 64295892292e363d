"""Every command over the document: what it does, what it is called, and that all of it undoes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from app.canvas import commands
from app.canvas.document import WorkflowDocument
from engine.graph import edits
from engine.graph.fragments import copied, fragment_text, read_fragment
from engine.graph.serialization import dump_workflow, load_workflow
from engine.graph.workflow import Annotation, Position
from orchestration.workflow_catalog import examples

TEXTS = [example.path.read_text("utf-8") for example in examples()]
UNPLACED = TEXTS[0].replace('"x":', '"x": 0, "old_x":').replace('"y":', '"y": 0, "old_y":')


def opened(text: str = TEXTS[0]) -> WorkflowDocument:
    document = WorkflowDocument()
    document.show_workflow(Path("a.workflow.json"), load_workflow(text))
    return document


def text_of(document: WorkflowDocument) -> str:
    assert document.workflow is not None
    return dump_workflow(document.workflow)


def ids(document: WorkflowDocument) -> list[str]:
    return [card.id for card in document.graph.cards]


def pairs(document: WorkflowDocument) -> set[tuple[str, str]]:
    return {(wire.source, wire.target) for wire in document.graph.wires}


def test_a_new_node_is_connected_in_the_same_step(qapp: QApplication) -> None:
    document = opened()
    first = ids(document)[0]
    new = commands.add_node(document, (37.0, 900.0), after=first)
    assert document.places[new] == (32.0, 896.0)
    assert (first, new) in pairs(document)
    assert document.undo_stack.count() == 1
    assert document.undo_stack.undoText() == "Add “New agent”"
    again = commands.add_node(document, (37.0, 900.0))
    assert document.label(again) == "New agent 2"
    assert document.places[again] != document.places[new]


def test_deleting_a_node_takes_its_edges_and_undo_brings_them_back(qapp: QApplication) -> None:
    document = opened()
    before, node_id = pairs(document), ids(document)[1]
    name = document.label(node_id)
    commands.delete(document, nodes=[node_id])
    assert node_id not in ids(document)
    assert not any(node_id in pair for pair in pairs(document))
    assert document.undo_stack.undoText() == f"Delete “{name}”"
    document.undo_stack.undo()
    assert pairs(document) == before


def test_a_circle_is_refused_and_changes_nothing(qapp: QApplication) -> None:
    document = opened()
    wire = document.graph.wires[0]
    with pytest.raises(edits.EditRefused, match="circle"):
        commands.connect(document, wire.target, wire.source)
    assert document.undo_stack.count() == 0
    assert wire.source in edits.reaches(load_workflow(TEXTS[0]).edges, wire.target)


def test_the_first_move_in_an_arranged_graph_leaves_the_others_where_they_are(
    qapp: QApplication,
) -> None:
    document = opened(UNPLACED)
    assert document.is_arranged
    shown = dict(document.places)
    moved = ids(document)[0]
    commands.move(document, {moved: (1600.0, 1600.0)})
    assert dict(document.places) == shown | {moved: (1600.0, 1600.0)}
    reopened = opened(text_of(document))
    assert (dict(reopened.places), reopened.is_arranged) == (dict(document.places), False)


def test_cards_line_up_and_keep_equal_gaps(qapp: QApplication) -> None:
    document = opened()
    chosen = ids(document)[:3]
    spots: dict[str, tuple[float, float]] = {
        chosen[0]: (0.0, 1000.0),
        chosen[1]: (100.0, 1400.0),
        chosen[2]: (900.0, 1900.0),
    }
    commands.move(document, spots)
    commands.align(document, chosen, "left")
    assert {document.places[key][0] for key in chosen} == {0.0}
    document.undo_stack.undo()
    commands.distribute(document, chosen, "across")
    assert [document.places[key] for key in chosen] == [
        (0.0, 1000.0),
        (450.0, 1400.0),
        (900.0, 1900.0),
    ]


def test_a_copy_is_readable_text_and_has_ids_of_its_own(qapp: QApplication) -> None:
    document, other = opened(), opened(TEXTS[1])
    assert document.workflow is not None
    chosen = ids(document)[:2]
    text = fragment_text(copied(document.workflow, chosen))
    assert document.label(chosen[0]) in text
    fragment = read_fragment(text)
    assert fragment is not None
    edge_count = len(other.graph.wires)
    new = commands.paste(other, fragment, at=(5000.0, 5000.0))
    assert len(new) == 2
    assert not new & set(chosen)
    assert min(other.places[key][0] for key in new) == 5000.0
    assert min(other.places[key][1] for key in new) == 5000.0
    assert len(other.graph.wires) == edge_count + len(fragment.edges)
    assert commands.duplicate(other, new).isdisjoint(new)


@pytest.mark.parametrize("text", ["", "hello", "[]", '{"nodes": 1}', '{"nodes": [{"id": 1}]}'])
def test_what_is_no_fragment_is_told_apart(text: str) -> None:
    assert read_fragment(text) is None


def test_notes_and_frames_live_in_the_file_and_are_no_nodes(qapp: QApplication) -> None:
    document = opened()
    note = Annotation(
        id="n1", kind="note", text="Mind this", position=Position(x=1, y=2), width=200, height=80
    )
    commands.add_annotation(document, note)
    assert document.workflow is not None
    again = load_workflow(text_of(document))
    assert again.annotations == (note,)
    assert len(again.nodes) == len(document.graph.cards)
    commands.move(document, {}, {"n1": (50.0, 60.0)})
    assert document.workflow.annotations[0].position == Position(x=50, y=60)
    commands.delete(document, annotations=["n1"])
    assert document.workflow.annotations == ()


def test_notes_of_another_program_are_kept_as_they_are(qapp: QApplication) -> None:
    text = TEXTS[0].replace("{", '{\n  "annotations": {"by": "somebody"},', 1)
    document = opened(text)
    assert document.workflow is not None
    assert document.workflow.annotations == ()
    commands.rename(document, ids(document)[0], "Another")
    assert '"annotations": {"by": "somebody"}' in text_of(document)


Step = Callable[[WorkflowDocument], Any]
index = st.integers(0, 50)
spot = st.tuples(st.integers(-3000, 3000).map(float), st.integers(-3000, 3000).map(float))


def pick(document: WorkflowDocument, at: int) -> list[str]:
    found = ids(document)
    return [found[at % len(found)]] if found else []


def try_to_connect(document: WorkflowDocument, a: int, b: int) -> None:
    for source in pick(document, a):
        for target in pick(document, b):
            try:
                commands.connect(document, source, target)
            except edits.EditRefused:
                assert source in edits.reaches(document_edges(document), source)


def document_edges(document: WorkflowDocument) -> Any:
    assert document.workflow is not None
    return document.workflow.edges


def rename_one(document: WorkflowDocument, at: int, label: str) -> None:
    for node_id in pick(document, at):
        commands.rename(document, node_id, label)


def delete_edge(document: WorkflowDocument, at: int) -> None:
    wires = document.graph.wires
    if wires:
        commands.delete(document, edges=[wires[at % len(wires)].id])


def undo_or_redo(document: WorkflowDocument, back: int, forth: int) -> None:
    for _ in range(back):
        document.undo_stack.undo()
    for _ in range(forth):
        document.undo_stack.redo()


def add_note(document: WorkflowDocument, at: tuple[float, float]) -> None:
    place = Position(x=at[0], y=at[1])
    note = Annotation(id=commands.new_id(), kind="note", position=place, width=100, height=50)
    commands.add_annotation(document, note)


steps: st.SearchStrategy[Step] = st.one_of(
    spot.map(lambda at: lambda d: commands.add_node(d, at)),
    st.tuples(spot, index).map(
        lambda v: lambda d: commands.add_node(d, v[0], after="".join(pick(d, v[1])))
    ),
    index.map(lambda at: lambda d: commands.delete(d, nodes=pick(d, at))),
    index.map(lambda at: lambda d: delete_edge(d, at)),
    st.tuples(index, index).map(lambda v: lambda d: try_to_connect(d, *v)),
    st.tuples(index, spot).map(
        lambda v: lambda d: commands.move(d, dict.fromkeys(pick(d, v[0]), v[1]))
    ),
    st.tuples(index, st.text(max_size=8)).map(lambda v: lambda d: rename_one(d, *v)),
    st.sampled_from(["left", "center", "right", "top", "middle", "bottom"]).map(
        lambda side: lambda d: commands.align(d, ids(d)[:3], side)  # type: ignore[arg-type]
    ),
    st.just(lambda d: commands.distribute(d, ids(d), "down")),
    st.just(commands.arrange),
    index.map(lambda at: lambda d: commands.duplicate(d, pick(d, at))),
    spot.map(lambda at: lambda d: add_note(d, at)),
    st.tuples(st.integers(1, 3), st.integers(0, 2)).map(lambda v: lambda d: undo_or_redo(d, *v)),
)


@settings(max_examples=40)
@given(text=st.sampled_from([*TEXTS, UNPLACED]), todo=st.lists(steps, max_size=10))
def test_any_steps_undone_give_the_same_file_and_redone_the_same_again(
    qapp: QApplication, text: str, todo: list[Step]
) -> None:
    document = opened(text)
    opening = text_of(document)
    for step in todo:
        step(document)
    stack = document.undo_stack
    reached, shown = text_of(document), dict(document.places)
    assert load_workflow(reached) == document.workflow
    at = stack.index()
    stack.setIndex(0)
    assert text_of(document) == opening
    stack.setIndex(at)
    assert text_of(document) == reached
    assert dict(document.places) == shown
