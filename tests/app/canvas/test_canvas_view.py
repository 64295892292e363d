"""Looking at the canvas: zoom, pan, fit, keys, and painting that cannot take the window down."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QGraphicsRectItem, QGraphicsScene
from pytestqt.qtbot import QtBot

from app.canvas.graph_sketch import Card, Graph, Wire
from app.canvas.node_look import NodeRunInfo
from app.canvas.view import CanvasView
from app.first_window import window_with
from app.kit.guarded_paint import GuardedPaint
from app.kit.window_state import WindowState
from app.main_window import MainWindow


@pytest.fixture
def window(qapp: QApplication, workflow_file: Path) -> MainWindow:
    window = window_with(workflow_file, WindowState(None))
    window.theme.set_reduced_motion(True)
    window.resize(1280, 900)
    window.show()
    qapp.processEvents()
    return window


@pytest.fixture
def view(window: MainWindow) -> CanvasView:
    return window.canvas


def wheel(view: CanvasView, at: QPointF, steps: int) -> None:
    event = QWheelEvent(
        at,
        view.viewport().mapToGlobal(at),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)


def mouse(view: CanvasView, kind: QEvent.Type, at: QPoint, button: Qt.MouseButton) -> None:
    event = QMouseEvent(
        kind,
        QPointF(at),
        QPointF(view.viewport().mapToGlobal(at)),
        button,
        button,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(view.viewport(), event)


def test_the_whole_graph_is_in_view_at_first(window: MainWindow, view: CanvasView) -> None:
    shown = view.mapToScene(view.viewport().rect()).boundingRect()
    assert shown.contains(window.scene.content_rect())
    assert view.scale_now <= 1.0


def test_the_wheel_zooms_at_the_pointer(view: CanvasView) -> None:
    at = QPointF(200, 150)
    before = view.mapToScene(at.toPoint())
    scale = view.scale_now

    wheel(view, at, 2)

    assert view.scale_now == pytest.approx(scale * 1.44)
    after = view.mapToScene(at.toPoint())
    assert abs(after.x() - before.x()) < 2
    assert abs(after.y() - before.y()) < 2


def test_zooming_by_key_is_a_movement_unless_there_is_to_be_none(
    window: MainWindow, view: CanvasView, qtbot: QtBot
) -> None:
    before = view.scale_now
    view.glide_by(0.5)
    assert view.scale_now == pytest.approx(before * 0.5)
    view.glide_to_fit()
    assert view.scale_now == pytest.approx(before)

    window.theme.set_reduced_motion(False)
    middle = view._middle()
    steps: list[float] = []
    view.zoomed.connect(steps.append)
    view.glide_by(0.5)
    qtbot.waitUntil(lambda: steps[-1:] == [pytest.approx(before * 0.5)])
    assert len(steps) > 2
    assert steps == sorted(steps, reverse=True)
    after = view._middle()
    assert abs(after.x() - middle.x()) < 3
    assert abs(after.y() - middle.y()) < 3
    window.theme.set_reduced_motion(True)


def test_zoom_has_limits(view: CanvasView) -> None:
    wheel(view, QPointF(10, 10), 100)
    assert view.scale_now == pytest.approx(3.0)
    wheel(view, QPointF(10, 10), -100)
    assert view.scale_now == pytest.approx(0.05)
    QTest.keyClick(view, Qt.Key.Key_F)
    assert 0.3 < view.scale_now <= 1.0


@pytest.mark.parametrize("with_space", [False, True])
def test_the_middle_button_and_space_pan(view: CanvasView, with_space: bool) -> None:
    button = Qt.MouseButton.LeftButton if with_space else Qt.MouseButton.MiddleButton
    if with_space:
        QTest.keyPress(view, Qt.Key.Key_Space)
    before = view.mapToScene(QPoint(0, 0))
    scale = view.scale_now

    mouse(view, QEvent.Type.MouseButtonPress, QPoint(300, 200), button)
    mouse(view, QEvent.Type.MouseMove, QPoint(340, 220), button)
    mouse(view, QEvent.Type.MouseButtonRelease, QPoint(340, 220), button)
    if with_space:
        QTest.keyRelease(view, Qt.Key.Key_Space)

    moved = before - view.mapToScene(QPoint(0, 0))
    assert moved.x() * scale == pytest.approx(40, abs=1)
    assert moved.y() * scale == pytest.approx(20, abs=1)


def test_arrow_keys_choose_nodes(window: MainWindow, view: CanvasView) -> None:
    chosen: list[str] = []
    window.scene.node_chosen.connect(chosen.append)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Escape):
        QTest.keyClick(view, key)
    assert chosen == ["idea", "plan", "brief", ""]
    assert view.accessibleDescription() == "4 nodes"


def test_a_chosen_node_is_told_to_those_who_cannot_see_it(
    window: MainWindow, view: CanvasView
) -> None:
    window.scene.show_run({"plan": NodeRunInfo("awaiting_input", waiting=1)})
    window.scene.choose_node("plan")
    assert view.accessibleDescription() == "4 nodes; selected: Create plan, Waiting for Input"
    item = window.scene.items_by_node["plan"]
    assert item.toolTip().split("\n")[-1] == "Waiting for Input"


def test_an_edge_is_found_by_its_place(window: MainWindow) -> None:
    places = window.document.places
    start, end = places["idea"], places["plan"]
    middle = QPointF((start[0] + 248 + end[0]) / 2, (start[1] + end[1]) / 2 + 46)
    found = window.scene.hover(middle)
    assert found is not None
    assert (found.wire.source, found.wire.target) == ("idea", "plan")
    assert window.scene.hover(QPointF(-500, -500)) is None


def test_where_one_looked_is_remembered(window: MainWindow, view: CanvasView) -> None:
    assert view.looking_at() == ""
    view.glide_by(0.5 / view.scale_now)
    remembered = view.looking_at()
    view.fit()
    view.look_at(remembered)
    assert view.scale_now == pytest.approx(0.5)
    view.fit()
    view.look_at("0.5 1 2 /another/file")
    view.look_at("nonsense")
    assert view.looking_at() == ""


@pytest.mark.parametrize("scale", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("status", ["idle", "started", "awaiting_input", "completed", "odd"])
def test_every_status_is_painted_at_every_scale(
    window: MainWindow, view: CanvasView, scale: float, status: str
) -> None:
    infos = {key: NodeRunInfo(status, 3.0, 1200, 2) for key in window.scene.items_by_node}
    window.scene.show_run(infos)
    window.scene.choose_node("plan")
    view.zoom_by(scale / view.scale_now)
    image = QImage(view.viewport().size(), QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.magenta)
    painter = QPainter(image)
    view.render(painter)
    painter.end()
    assert not any(item._is_broken for item in window.scene.items_by_node.values())


def test_a_large_graph_is_laid_out_and_drawn(window: MainWindow, view: CanvasView) -> None:
    cards = tuple(Card(f"n{i}", f"<b>Node</b> {i}", "agent", "m", None, None) for i in range(300))
    wires = tuple(Wire(f"e{i}", f"n{i // 2}", f"n{i}") for i in range(1, 300))
    window.document.show_sketch(Path("large.json"), Graph("w", "Large", cards, wires))
    assert len(window.scene.items_by_node) == 300
    shown = view.mapToScene(view.viewport().rect()).boundingRect()
    assert shown.contains(window.scene.content_rect())


class Failing(GuardedPaint, QGraphicsRectItem):
    def paint_guarded(self, painter: QPainter, option: object) -> None:
        raise ZeroDivisionError


def test_an_item_that_cannot_be_painted_is_reported_once(
    qapp: QApplication, caplog: pytest.LogCaptureFixture
) -> None:
    scene = QGraphicsScene()
    scene.addItem(Failing(0, 0, 10, 10))
    image = QImage(20, 20, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    for _ in range(3):
        scene.render(painter)
    painter.end()
    told = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert [record.getMessage() for record in told] == ["Failing cannot be painted and is left out"]
