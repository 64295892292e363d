"""Editing by hand: what a person does with the mouse and the keys, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit

from app.canvas import commands
from engine.graph.serialization import dump_workflow, load_workflow
from tests.support.edited_canvas import EMPTY, Canvas

SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def canvas(qapp: QApplication, workflow_file: Path) -> Canvas:
    return Canvas(qapp, load_workflow(workflow_file.read_bytes()))


@pytest.fixture
def empty(qapp: QApplication) -> Canvas:
    return Canvas(qapp, EMPTY)


def test_a_card_is_dragged_to_the_grid_in_one_step(canvas: Canvas) -> None:
    hand, node_id = canvas.hand, canvas.ids()[0]
    before = canvas.document.places[node_id]
    hand.drag(hand.at(node_id), hand.at(node_id) + QPointF(-105, 317))
    x, y = canvas.document.places[node_id]
    assert (x % 16, y % 16) == (0, 0)
    assert abs(x - before[0] + 105) <= 16
    assert canvas.steps() == 1
    assert canvas.chosen() == {node_id}
    assert canvas.window.scene.overlay.guides == ()
    canvas.trigger("undo")
    assert canvas.document.places[node_id] == before


def test_cards_snap_to_each_other_and_a_guide_says_so(empty: Canvas) -> None:
    hand = empty.hand
    first, second = empty.add("A", 0.0), empty.add("B", 320.0, 320.0)
    commands.move(empty.document, {first: (0.0, 7.0)})
    empty.window.canvas.fit()
    start = hand.at(second)
    way = QPointF(0, 7.0 - 320.0 + 3)
    hand.press(start)
    hand.move(start + way * 0.5)
    hand.move(start + way)
    assert empty.window.scene.overlay.guides
    hand.release(start + way)
    assert empty.document.places[second][1] == 7.0
    assert not empty.window.scene.overlay.guides


def test_with_alt_nothing_snaps_and_with_shift_it_goes_straight(canvas: Canvas) -> None:
    hand, node_id = canvas.hand, canvas.ids()[0]
    x, y = canvas.document.places[node_id]
    hand.drag(hand.at(node_id), hand.at(node_id) + QPointF(-101, -203), ALT)
    moved = canvas.document.places[node_id]
    assert moved[0] - x == pytest.approx(-101, abs=3)
    assert moved[1] - y == pytest.approx(-203, abs=3)
    hand.press(hand.at(node_id))
    hand.move(hand.at(node_id) + QPointF(10, 0), SHIFT)
    target = QPointF(x + 124 - 101 - 300, y - 203 + 46 + 40)
    hand.move(target, SHIFT)
    hand.release(target, SHIFT)
    assert canvas.document.places[node_id][1] == moved[1]


def test_several_cards_are_chosen_with_a_band_and_moved_together(canvas: Canvas) -> None:
    hand, scene = canvas.hand, canvas.window.scene
    rect = scene.content_rect().adjusted(-20, -20, 20, 20)
    hand.drag(rect.topLeft(), rect.bottomRight())
    assert canvas.chosen() == set(canvas.ids())
    before = dict(canvas.document.places)
    first = canvas.ids()[0]
    hand.drag(hand.at(first), hand.at(first) + QPointF(64, 48))
    ways = {
        (x - before[key][0], y - before[key][1]) for key, (x, y) in canvas.document.places.items()
    }
    assert len(ways) == 1
    assert canvas.steps() == 1
    hand.click(hand.at(first))
    assert canvas.chosen() == {first}
    hand.click(hand.at(canvas.ids()[1]), SHIFT)
    assert len(canvas.chosen()) == 2
    hand.click(rect.topLeft())
    assert not canvas.chosen()


def test_escape_leaves_a_gesture_without_a_trace(canvas: Canvas) -> None:
    hand, node_id = canvas.hand, canvas.ids()[0]
    before = canvas.text()
    item = canvas.window.scene.items_by_node[node_id]
    start, place = hand.at(node_id), item.pos()
    hand.press(start)
    hand.move(start + QPointF(200, 200))
    assert item.pos() != place
    hand.key(Qt.Key.Key_Escape)
    assert item.pos() == place
    hand.release(start + QPointF(200, 200))
    assert (canvas.steps(), canvas.text()) == (0, before)


def test_edges_follow_the_cards_that_are_moved_together(canvas: Canvas) -> None:
    hand, scene = canvas.hand, canvas.window.scene
    first, *others = canvas.ids()
    lonely = canvas.document.graph.wires[-1].target
    scene.choose(nodes=[key for key in (first, *others) if key != lonely])
    way = QPointF(160, -96)

    def ends() -> set[tuple[float, float]]:
        elements = [(shape.path.elementAt(0), shape) for shape in scene.edges.shapes()]
        return {(element.x, element.y) for element, _ in elements}

    def ports() -> set[tuple[float, float]]:
        sources = {wire.source for wire in canvas.document.graph.wires}
        return {(hand.out_of(key).x(), hand.out_of(key).y()) for key in sources}

    hand.press(hand.at(first))
    hand.move(hand.at(first) + way)
    lifted = [shape for shape in scene.edges.shapes() if scene.edges.is_lifted(shape.wire.id)]
    moved = {item.card.id for item in scene.chosen_items()}
    assert all({shape.wire.source, shape.wire.target} & moved for shape in lifted)
    assert {shape.wire.target for shape in lifted} > {lonely}
    hand.key(Qt.Key.Key_Escape)
    hand.release(hand.at(first))
    assert ends() == ports()
    assert not any(scene.edges.is_lifted(shape.wire.id) for shape in lifted)
    before = dict(canvas.document.places)
    hand.drag(hand.at(first), hand.at(first) + way)
    assert canvas.document.places != before
    assert ends() == ports()


def test_what_is_brought_back_by_undo_is_chosen_again(canvas: Canvas) -> None:
    first, second, *_ = canvas.ids()
    canvas.window.scene.choose(nodes=[first, second])
    canvas.window.canvas.setFocus()
    canvas.hand.key(Qt.Key.Key_Delete)
    assert canvas.chosen() == set()
    canvas.document.undo_stack.undo()
    assert canvas.chosen() == {first, second}


def test_seen_from_afar_a_card_is_moved_wherever_it_is_taken(canvas: Canvas) -> None:
    hand, node_id = canvas.hand, canvas.ids()[0]
    canvas.window.canvas.zoom_by(0.1 / canvas.window.canvas.scale_now)
    before = canvas.document.places[node_id]
    start = hand.at(node_id) + QPointF(-90, 0)
    hand.drag(start, start + QPointF(-900, 900))
    assert canvas.document.places[node_id] != before
    assert canvas.chosen() == {node_id}


def test_undoing_in_the_midst_of_a_gesture_ends_it(canvas: Canvas) -> None:
    hand, before = canvas.hand, canvas.text()
    node_id = canvas.add("New", 300.0, 700.0)
    canvas.window.canvas.fit()
    for start in (hand.at(node_id), hand.out_of(node_id)):
        hand.press(start)
        hand.move(start + QPointF(120, 120))
        while canvas.document.undo_stack.canUndo():
            canvas.trigger("undo")
        hand.move(start + QPointF(160, 160))
        hand.release(start + QPointF(160, 160))
        assert canvas.text() == before
        canvas.document.undo_stack.setIndex(canvas.steps())
    canvas.window.scene.choose_node(canvas.ids()[0])
    hand.key(Qt.Key.Key_C)
    assert canvas.window.canvas.keyboard.is_connecting
    canvas.trigger("undo")
    assert not canvas.window.canvas.keyboard.is_connecting


def test_a_node_is_added_though_that_before_it_is_deleted_meanwhile(canvas: Canvas) -> None:
    hand, node_id = canvas.hand, canvas.ids()[-1]
    out = hand.out_of(node_id)
    hand.drag(out, out + QPointF(60, 120))
    assert canvas.editing.picker.isVisible()
    commands.delete(canvas.document, nodes=[node_id])
    edges = canvas.pairs()
    hand.key(Qt.Key.Key_Return)
    assert node_id not in canvas.ids()
    assert len(canvas.chosen()) == 1
    assert canvas.pairs() == edges


def test_an_edge_is_drawn_from_a_port_and_a_circle_is_refused(canvas: Canvas) -> None:
    hand, scene = canvas.hand, canvas.window.scene
    wire = canvas.document.graph.wires[0]
    items = scene.items_by_node
    hand.press(hand.out_of(wire.target))
    hand.move(hand.out_of(wire.target) + QPointF(30, 0))
    hand.move(hand.at(wire.source))
    assert items[wire.source].opacity() < 1
    hand.release(hand.at(wire.source))
    assert canvas.steps() == 0
    assert {item.opacity() for item in items.values()} == {1.0}
    assert scene.overlay.edge is None


def test_an_edge_is_deleted_and_drawn_again_backwards(canvas: Canvas) -> None:
    hand, scene = canvas.hand, canvas.window.scene
    wire = canvas.document.graph.wires[0]
    pair = (canvas.document.label(wire.source), canvas.document.label(wire.target))
    shape = scene.edges.edge(wire.id)
    assert shape is not None
    hand.click(shape.path.pointAtPercent(0.5))
    assert scene.chosen_edges == {wire.id}
    hand.key(Qt.Key.Key_Delete)
    assert pair not in canvas.pairs()
    hand.drag(hand.into(wire.target), hand.at(wire.source))
    assert pair in canvas.pairs()
    assert canvas.steps() == 2


def test_the_end_of_a_chosen_edge_is_taken_elsewhere(empty: Canvas) -> None:
    hand = empty.hand
    ids = [empty.add(label, at) for label, at in (("A", 0.0), ("B", 400.0), ("C", 800.0))]
    empty.window.canvas.fit()
    hand.drag(hand.out_of(ids[0]), hand.at(ids[1]))
    assert empty.pairs() == {("A", "B")}
    shape = empty.window.scene.edges.shapes_at({ids[0]})[0]
    hand.click(shape.path.pointAtPercent(0.5))
    hand.drag(hand.into(ids[1]), hand.at(ids[2]))
    assert empty.pairs() == {("A", "C")}
    assert empty.document.undo_stack.undoText() == "Reconnect"


def pick(canvas: Canvas, title: str) -> None:
    """Click on an entry of the list of kinds of nodes."""
    picker = canvas.editing.picker
    assert picker.isVisible()
    row = picker.titles().index(title)
    index = picker.list.model().index(row, 0)
    picker.list.clicked.emit(index)


def test_a_graph_is_built_with_the_mouse_alone(empty: Canvas) -> None:
    hand = empty.hand
    spots = {"Idea": (0.0, 0.0), "Plan": (360.0, -120.0), "Risk": (360.0, 160.0)}
    for label, (x, y) in spots.items():
        hand.double_click(QPointF(x, y))
        pick(empty, "Simple Agent")
        name = empty.editing.inline.field
        assert isinstance(name, QLineEdit)
        name.setText(label)
        hand.click(QPointF(-300, 400))
    assert empty.labels() == ["Idea", "Plan", "Risk"]
    for target in ("Plan", "Risk"):
        hand.drag(hand.out_of(empty.id_of("Idea")), hand.at(empty.id_of(target)))
    plan = empty.id_of("Plan")
    start = hand.out_of(plan)
    hand.drag(start, start + QPointF(120, 60))
    pick(empty, "Simple Agent")
    field = empty.editing.inline.field
    assert isinstance(field, QLineEdit)
    field.setText("Brief")
    hand.click(QPointF(-300, 400))
    hand.drag(hand.out_of(empty.id_of("Risk")), hand.at(empty.id_of("Brief")))
    assert empty.pairs() == {
        ("Idea", "Plan"),
        ("Idea", "Risk"),
        ("Plan", "Brief"),
        ("Risk", "Brief"),
    }
    while empty.document.undo_stack.canUndo():
        empty.trigger("undo")
    assert empty.text() == dump_workflow(EMPTY)


def test_a_graph_is_built_with_the_keys_alone(empty: Canvas) -> None:
    hand = empty.hand
    for label in ("Idea", "Plan", "Brief"):
        hand.key(Qt.Key.Key_Tab)
        hand.key(Qt.Key.Key_Return)
        assert isinstance(hand.focused(), QLineEdit)
        hand.type(label)
        hand.key(Qt.Key.Key_Return)
    assert empty.pairs() == {("Idea", "Plan"), ("Plan", "Brief")}
    hand.key(Qt.Key.Key_Left)
    hand.key(Qt.Key.Key_Left)
    assert empty.chosen() == {empty.id_of("Idea")}
    hand.key(Qt.Key.Key_C)
    hand.key(Qt.Key.Key_Return)
    assert ("Idea", "Brief") in empty.pairs()
    hand.key(Qt.Key.Key_F2)
    hand.type("Result")
    hand.key(Qt.Key.Key_Return)
    assert "Result" in empty.labels()
    node_id = empty.id_of("Result")
    x, y = empty.document.places[node_id]
    steps = empty.steps()
    for _ in range(3):
        hand.key(Qt.Key.Key_Down, SHIFT)
    assert empty.document.places[node_id] == (x, y + 48)
    assert empty.steps() == steps + 1
    hand.key(Qt.Key.Key_Delete)
    assert "Result" not in empty.labels()
    hand.key(Qt.Key.Key_Z, CONTROL)
    assert "Result" in empty.labels()


def test_keys_lead_an_edge_only_where_it_may_go(canvas: Canvas) -> None:
    last = canvas.document.graph.wires[-1].target
    leaders = {wire.source for wire in canvas.document.graph.wires if wire.target == last}
    canvas.window.scene.choose_node(last)
    canvas.hand.key(Qt.Key.Key_C)
    keyboard = canvas.window.canvas.keyboard
    if keyboard.is_connecting:
        assert not leaders & set(keyboard.candidates)
        canvas.hand.key(Qt.Key.Key_Escape)
    assert not keyboard.is_connecting
    assert canvas.steps() == 0


def test_copy_cut_and_paste_go_through_readable_text(canvas: Canvas) -> None:
    ids = canvas.ids()
    canvas.window.scene.choose(nodes=ids[:2])
    canvas.trigger("copy")
    assert canvas.document.label(ids[0]) in QGuiApplication.clipboard().text()
    canvas.trigger("paste")
    assert len(canvas.ids()) == len(ids) + 2
    assert not canvas.chosen() & set(ids)
    canvas.trigger("cut")
    assert canvas.ids() == ids
    canvas.trigger("paste")
    canvas.trigger("duplicate")
    assert len(canvas.ids()) == len(ids) + 4
    QGuiApplication.clipboard().setText("no nodes at all")
    canvas.trigger("paste")
    assert canvas.window.toasts.texts() == ["There are no nodes on the clipboard"]
