"""Editing by hand: what a person does with the mouse and the keys, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit

from app.canvas import commands
from app.canvas.document import WorkflowDocument
from app.editing import Editing
from app.first_window import window_with
from app.kit.window_state import WindowState
from app.main_window import MainWindow
from engine.graph.serialization import dump_workflow, load_workflow
from engine.graph.workflow import Annotation, Position, Workflow
from tests.support.canvas_hand import CanvasHand

SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier
EMPTY = Workflow(id="empty", name="Empty", nodes=(), edges=())


class Canvas:
    def __init__(self, qapp: QApplication, workflow: Workflow) -> None:
        self.window: MainWindow = window_with(None, WindowState(None))
        self.window.theme.set_reduced_motion(True)
        self.window.resize(1400, 1000)
        self.window.furnish()
        self.window.wished.connect(self._wish)
        self.editing = Editing(self.window)
        self.document: WorkflowDocument = self.window.document
        self.document.show_workflow(Path("a.workflow.json"), workflow)
        self.window.show()
        self.window.activateWindow()
        qapp.processEvents()
        self.window.canvas.fit()
        self.window.canvas.setFocus()
        self.hand = CanvasHand(self.window)

    def _wish(self, action_id: str) -> None:
        assert self.editing.act(action_id), action_id

    def ids(self) -> list[str]:
        return [card.id for card in self.document.graph.cards]

    def labels(self) -> list[str]:
        return [card.label for card in self.document.graph.cards]

    def id_of(self, label: str) -> str:
        return next(card.id for card in self.document.graph.cards if card.label == label)

    def pairs(self) -> set[tuple[str, str]]:
        label = self.document.label
        return {(label(wire.source), label(wire.target)) for wire in self.document.graph.wires}

    def chosen(self) -> set[str]:
        return {item.card.id for item in self.window.scene.chosen_items()}

    def steps(self) -> int:
        return self.document.undo_stack.count()

    def text(self) -> str:
        assert self.document.workflow is not None
        return dump_workflow(self.document.workflow)

    def trigger(self, action_id: str) -> None:
        self.window.actions_[action_id].trigger()


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
    first, second = _add(empty, "A", 0.0), _add(empty, "B", 320.0, 320.0)
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
    ids = [_add(empty, label, at) for label, at in (("A", 0.0), ("B", 400.0), ("C", 800.0))]
    empty.window.canvas.fit()
    hand.drag(hand.out_of(ids[0]), hand.at(ids[1]))
    assert empty.pairs() == {("A", "B")}
    shape = empty.window.scene.edges.shapes_at({ids[0]})[0]
    hand.click(shape.path.pointAtPercent(0.5))
    hand.drag(hand.into(ids[1]), hand.at(ids[2]))
    assert empty.pairs() == {("A", "C")}
    assert empty.document.undo_stack.undoText() == "Reconnect"


def _add(canvas: Canvas, label: str, x: float, y: float = 0.0) -> str:
    node_id = commands.add_node(canvas.document, (x, y))
    commands.rename(canvas.document, node_id, label)
    return node_id


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


def test_a_note_is_written_moved_sized_and_deleted(canvas: Canvas) -> None:
    hand, scene = canvas.hand, canvas.window.scene
    canvas.trigger("add_note")
    field = canvas.editing.inline.field
    assert isinstance(field, QPlainTextEdit)
    field.setPlainText("Mind **this**")
    hand.click(scene.content_rect().topLeft() - QPointF(10, 10))
    (note,) = scene.notes.values()
    assert note.annotation.text == "Mind **this**"
    start = note.shape_rect().center()
    hand.drag(start, start + QPointF(-40, 300))
    corner = note.handle_rect().center() + note.pos()
    hand.drag(corner, corner + QPointF(64, 32))
    assert note.annotation.width == pytest.approx(320, abs=16)
    hand.click(note.shape_rect().center())
    hand.key(Qt.Key.Key_Delete)
    assert not scene.notes
    canvas.trigger("undo")
    assert len(scene.notes) == 1


def test_a_frame_encloses_what_is_chosen_and_lets_cards_be_clicked(canvas: Canvas) -> None:
    hand, scene = canvas.hand, canvas.window.scene
    scene.choose(nodes=canvas.ids()[:2])
    around = scene.bounds_of(canvas.ids()[:2])
    canvas.trigger("add_frame")
    hand.key(Qt.Key.Key_Escape)
    (frame,) = scene.notes.values()
    assert frame.shape_rect().contains(around)
    hand.click(hand.at(canvas.ids()[0]))
    assert canvas.chosen() == {canvas.ids()[0]}


def test_what_cannot_be_done_now_is_not_offered(canvas: Canvas) -> None:
    actions = canvas.window.actions_

    def on(*ids: str) -> list[bool]:
        return [actions[each].isEnabled() for each in ids]

    assert on("undo", "delete", "rename", "align_left") == [False] * 4
    canvas.window.scene.choose(nodes=canvas.ids()[:2])
    assert on("delete", "rename", "align_left", "distribute_down") == [True, False, True, False]
    canvas.trigger("align_top")
    assert on("undo", "redo") == [True, False]
    assert actions["undo"].text() == "Undo Align top"


def test_hovering_shows_the_ports_of_a_card(canvas: Canvas) -> None:
    hand, node_id = canvas.hand, canvas.ids()[0]
    hand.hover(hand.out_of(node_id))
    assert canvas.window.canvas.viewport().cursor().shape() is Qt.CursorShape.CrossCursor
    hand.hover(canvas.window.scene.content_rect().topLeft() - QPointF(30, 30))
    assert canvas.window.canvas.viewport().cursor().shape() is Qt.CursorShape.ArrowCursor


def test_the_menu_of_a_place_has_what_can_be_done_there(canvas: Canvas) -> None:
    hand, pointer = canvas.hand, canvas.window.canvas.pointer
    view = canvas.window.canvas
    node_id = canvas.ids()[0]
    pointer.ask_for_menu(view.mapFromScene(hand.at(node_id)))
    assert canvas.chosen() == {node_id}
    menu = canvas.editing.menu
    assert menu is not None
    assert {"Rename…", "Duplicate", "Delete"} <= {action.text() for action in menu.actions()}
    menu.close()
    pointer.ask_for_menu(view.mapFromScene(canvas.window.scene.content_rect().topLeft()))
    menu = canvas.editing.menu
    assert menu is not None
    assert "Add Node Here…" in {action.text() for action in menu.actions()}
    menu.close()


def test_notes_keep_their_place_in_the_file(qapp: QApplication, workflow_file: Path) -> None:
    note = Annotation(
        id="n", kind="note", text="x", position=Position(x=0, y=-300), width=200, height=100
    )
    workflow = load_workflow(workflow_file.read_bytes())
    canvas = Canvas(qapp, workflow.model_copy(update={"annotations": (note,)}))
    assert canvas.window.scene.notes["n"].pos() == QPointF(0, -300)
    assert canvas.window.scene.content_rect().top() < -290


def test_the_map_shows_where_one_is_and_leads_elsewhere(empty: Canvas) -> None:
    for column in range(8):
        _add(empty, f"N{column}", column * 900.0)
    view, minimap = empty.window.canvas, empty.window.minimap
    view.fit()
    minimap.redraw_now()
    assert not minimap.isVisible()
    view.zoom_by(1.0 / view.scale_now)
    minimap.redraw_now()
    assert minimap.isVisible()
    before = view.mapToScene(view.viewport().rect().center()).x()
    QTest.mouseClick(minimap, Qt.MouseButton.LeftButton, pos=minimap.rect().center())
    QTest.mouseClick(
        minimap, Qt.MouseButton.LeftButton, pos=QPoint(minimap.width() - 14, minimap.height() // 2)
    )
    assert view.mapToScene(view.viewport().rect().center()).x() > before + 900
    empty.trigger("minimap")
    assert not minimap.isVisible()


def test_zooming_to_the_selection_shows_it_whole(empty: Canvas) -> None:
    ids = [_add(empty, f"N{column}", column * 900.0) for column in range(6)]
    empty.window.scene.choose(nodes=ids[1:3])
    empty.trigger("zoom_chosen")
    view = empty.window.canvas
    shown = view.mapToScene(view.viewport().rect()).boundingRect()
    assert shown.contains(empty.window.scene.bounds_of(ids[1:3]))
    assert not shown.contains(empty.window.scene.content_rect())
