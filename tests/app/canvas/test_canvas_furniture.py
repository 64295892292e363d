"""What lies on and around the graph: notes, frames, menus, ports, the map."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit

from engine.graph.serialization import load_workflow
from engine.graph.workflow import Annotation, Position
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
        empty.add(f"N{column}", column * 900.0)
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
    ids = [empty.add(f"N{column}", column * 900.0) for column in range(6)]
    empty.window.scene.choose(nodes=ids[1:3])
    empty.trigger("zoom_chosen")
    view = empty.window.canvas
    shown = view.mapToScene(view.viewport().rect()).boundingRect()
    assert shown.contains(empty.window.scene.bounds_of(ids[1:3]))
    assert not shown.contains(empty.window.scene.content_rect())
