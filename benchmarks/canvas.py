"""What the canvas costs with 2,000 nodes and 4,000 edges, beside NodeGraphQt where it is there.

Run as `python -m benchmarks.canvas`, offscreen. Each figure is taken in this one process: how long
opening takes until the first picture, and a step of panning, zooming and dragging (one card, then
500) with the repaint that it causes. Both programs look at the same part of the same graph. To
measure NodeGraphQt too, install it beside this program.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QGraphicsView, QWidget

from app.canvas.document import WorkflowDocument
from app.canvas.scene import WorkflowScene
from app.canvas.view import CanvasView
from app.theme.theme import Theme
from engine.graph.serialization import workflow_from_document

NODES = 2_000
EDGES = 4_000
STEPS = 60
LEAST_STEPS = 4
PATIENCE_MS = 10_000.0
LIMIT_MS = 16.0
OPEN_LIMIT_MS = 1_500.0
FASTER = 3.0
SIZE = (1440, 900)
MIDDLE = QPointF(3600 + 124, 720 + 46)
"""A point in the midst of the graph that both look at."""
NEAR_ROW = 200
NEAR = "n205"
MANY = 500


class Steps(NamedTuple):
    """One kind of step in milliseconds: what the clock says, and what the processor worked.

    On a machine that does nothing else both are the same; on others the second one is the cost.
    """

    median: float
    p95: float
    work_median: float
    work_p95: float


Found = dict[str, "Steps | int"]


def graph() -> dict[str, Any]:
    """A workflow in columns of 20, each node with two children in the next columns."""
    nodes = [
        {
            "id": f"n{at}",
            "kind": "agent",
            "label": f"Node {at}",
            "position": {"x": (at // 20) * 360.0, "y": (at % 20) * 144.0},
            "agent": {
                "system_prompt": "s",
                "task_prompt": "t",
                "model": "a-model",
                "output_schema": {"type": "object"},
            },
        }
        for at in range(NODES)
    ]
    pairs = [(at, other) for at in range(NODES) for other in (at + 20, at + 21) if other < NODES]
    pairs += [(at, at + 40) for at in range(NODES - 40)]
    edges = [
        {"id": f"e{number}", "from": f"n{source}", "to": f"n{target}"}
        for number, (source, target) in enumerate(pairs[:EDGES])
    ]
    return {"id": "w", "name": "Large", "nodes": nodes, "edges": edges}


def measure(step: Callable[[int], None]) -> Steps:
    """Time `step` with the repaint that it causes; fewer of them where each takes a second."""
    taken: list[float] = []
    worked: list[float] = []
    for at in range(STEPS):
        if len(taken) >= LEAST_STEPS and sum(taken) > PATIENCE_MS:
            break
        begin, work = time.perf_counter(), time.process_time()
        step(at)
        QApplication.processEvents()
        worked.append((time.process_time() - work) * 1000)
        taken.append((time.perf_counter() - begin) * 1000)
    return Steps(
        statistics.median(taken),
        statistics.quantiles(taken, n=20)[-1],
        statistics.median(worked),
        statistics.quantiles(worked, n=20)[-1],
    )


def mouse(view: QGraphicsView, kind: QEvent.Type, at: QPointF, button: Qt.MouseButton) -> None:
    """Send one event of the mouse."""
    none = Qt.MouseButton.NoButton
    pressed = none if kind == QEvent.Type.MouseMove else button
    held = none if kind == QEvent.Type.MouseButtonRelease else button
    event = QMouseEvent(
        kind,
        at,
        QPointF(view.viewport().mapToGlobal(at.toPoint())),
        pressed,
        held,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(view.viewport(), event)


def panning(view: QGraphicsView, cards: Iterable[QRectF]) -> Steps:
    """Take hold of the ground, where no card is, and pan in steps of a few pixels.

    Raises:
        RuntimeError: The view has stayed where it was, so that nothing was measured.
    """
    button = Qt.MouseButton.MiddleButton
    start = free_spot(view, cards)
    before = view.mapToScene(0, 0)
    moved = False
    mouse(view, QEvent.Type.MouseButtonPress, start, button)

    def step(at: int) -> None:
        nonlocal moved
        way = QPointF(at * 5 % 300, at * 3 % 200)
        mouse(view, QEvent.Type.MouseMove, start + way, button)
        moved = moved or view.mapToScene(0, 0) != before

    taken = measure(step)
    mouse(view, QEvent.Type.MouseMove, start, button)
    mouse(view, QEvent.Type.MouseButtonRelease, start, button)
    if not moved:
        raise RuntimeError("the view was not panned")
    return taken


def free_spot(view: QGraphicsView, cards: Iterable[QRectF]) -> QPointF:
    """A point of the viewport, as near its middle as may be, that is well away from all cards."""
    reach = QPointF(24, 24)
    shown = [view.mapFromScene(rect).boundingRect() for rect in cards]
    middle = QPointF(view.viewport().rect().center())
    spots = [QPointF(x, y) for x in range(40, SIZE[0] - 40, 8) for y in range(40, SIZE[1] - 40, 8)]
    for spot in sorted(spots, key=lambda spot: (spot - middle).manhattanLength()):
        around = QRectF(spot - reach, spot + reach).toRect()
        if not any(around.intersects(rect) for rect in shown):
            return spot
    return QPointF(4, 4)


def dragging(view: QGraphicsView, card: Callable[[], QRectF]) -> Steps:
    """Drag a card about by its middle, with whatever is selected along with it.

    Raises:
        RuntimeError: The card has stayed where it was, so that nothing was measured.
    """
    left = Qt.MouseButton.LeftButton
    before = card()
    start = QPointF(view.mapFromScene(before.center()))
    mouse(view, QEvent.Type.MouseButtonPress, start, left)

    def step(at: int) -> None:
        mouse(view, QEvent.Type.MouseMove, start + QPointF(10 + at * 4, 10 + at * 3), left)

    taken = measure(step)
    has_moved = card() != before
    mouse(view, QEvent.Type.MouseMove, start, left)
    mouse(view, QEvent.Type.MouseButtonRelease, start, left)
    if not has_moved:
        raise RuntimeError("the card was not dragged")
    return taken


def wheeling(view: QGraphicsView) -> Steps:
    """Zoom in and out around the middle with the wheel."""
    middle = QPointF(view.viewport().rect().center())
    away = QPointF(view.viewport().mapToGlobal(middle.toPoint()))

    def step(at: int) -> None:
        turn = QPoint(0, 40 if at % 12 < 6 else -40)
        event = QWheelEvent(
            middle,
            away,
            QPoint(),
            turn,
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(view.viewport(), event)

    return measure(step)


def in_view(view: QGraphicsView, cards: Iterable[QRectF]) -> int:
    """How many cards have their middle in the view."""
    shown = view.mapToScene(view.viewport().rect()).boundingRect()
    return sum(shown.contains(rect.center()) for rect in cards)


def ours(owner: QObject) -> Found:
    """Our canvas: as it is opened, at 100 %, and with everything in view."""
    document = graph()
    begin, work = time.perf_counter(), time.process_time()
    model = WorkflowDocument()
    theme = Theme("light", owner)
    theme.set_reduced_motion(True)
    scene = WorkflowScene(model, theme)
    view = CanvasView(scene, model, theme)
    view.resize(*SIZE)
    model.show_workflow(None, workflow_from_document(document))
    view.show()
    view.grab()
    found: Found = {"open": _once(begin, work)}
    cards = scene.items_by_node

    def rects() -> list[QRectF]:
        return [item.shape_rect() for item in cards.values()]

    for name in ("100 %", "all"):
        if name == "100 %":
            view.zoom_by(1 / view.scale_now)
            view.look_around(MIDDLE)
        else:
            view.fit()
        found[f"cards {name}"] = in_view(view, rects())
        found[f"pan {name}"] = panning(view, rects())
        found[f"zoom {name}"] = wheeling(view)
        found[f"drag {name}"] = dragging(view, cards[NEAR].shape_rect)
        scene.choose(nodes=[f"n{at}" for at in range(NEAR_ROW, NEAR_ROW + MANY)])
        found[f"drag {MANY} {name}"] = dragging(view, cards[NEAR].shape_rect)
        scene.choose()
    view.close()
    view.deleteLater()
    return found


def node_graph_qt() -> Found | None:
    """The same with NodeGraphQt; `None` where it is not installed."""
    try:
        from NodeGraphQt import BaseNode, NodeGraph
    except ImportError:
        return None

    class Card(BaseNode):
        __identifier__ = "benchmark"
        NODE_NAME = "Card"

        def __init__(self) -> None:
            super().__init__()
            self.add_input("in", multi_input=True)
            self.add_output("out")

    document = graph()
    begin, work = time.perf_counter(), time.process_time()
    net = NodeGraph()
    net.set_acyclic(False)  # its check of each new edge does not end on such a graph
    net.register_node(Card)
    made = {}
    for node in document["nodes"]:
        place = [node["position"]["x"], node["position"]["y"]]
        made[node["id"]] = net.create_node(
            "benchmark.Card", name=node["label"], pos=place, selected=False, push_undo=False
        )
    for edge in document["edges"]:
        source, target = made[edge["from"]], made[edge["to"]]
        source.output(0).connect_to(target.input(0), push_undo=False, emit_signal=False)
    view = net.viewer()
    window: QWidget = net.widget
    window.resize(*SIZE)
    window.show()
    window.grab()
    found: Found = {"open": _once(begin, work)}

    def rects() -> list[QRectF]:
        return [node.view.sceneBoundingRect() for node in made.values()]

    for name in ("100 %", "all"):
        if name == "all":
            view.zoom_to_nodes([node.view for node in made.values()])
        else:
            view.reset_zoom(MIDDLE)
        found[f"cards {name}"] = in_view(view, rects())
        found[f"pan {name}"] = panning(view, rects())
        found[f"zoom {name}"] = wheeling(view)
        found[f"drag {name}"] = dragging(view, made[NEAR].view.sceneBoundingRect)
        for at in range(NEAR_ROW, NEAR_ROW + MANY):
            made[f"n{at}"].set_selected(True)
        found[f"drag {MANY} {name}"] = dragging(view, made[NEAR].view.sceneBoundingRect)
        net.clear_selection()
    window.close()
    return found


def _once(begin: float, work: float) -> Steps:
    """What was done once, since `begin`, as the only step of its kind."""
    taken, worked = (time.perf_counter() - begin) * 1000, (time.process_time() - work) * 1000
    return Steps(taken, taken, worked, worked)


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    application = QApplication.instance() or QApplication([])
    mine = ours(application)
    theirs = node_graph_qt() or {}
    print(
        "Milliseconds: median and 95th percentile by the clock, the same as work of the processor"
    )
    print(f"{'':15}{'ours':^32}{'NodeGraphQt':^36}{'times faster':>16}")
    for name, value in mine.items():
        other = theirs.get(name)
        ratio = ""
        if isinstance(value, Steps) and isinstance(other, Steps):
            ratio = f"{other.work_median / value.work_median:.1f}"
        print(f"{name:15}{_line(value):>32}{_line(other):>36}{ratio:>16}")
    print()
    for name, value in mine.items():
        if isinstance(value, Steps):
            limit = OPEN_LIMIT_MS if name == "open" else LIMIT_MS
            word = "ok  " if value.work_p95 <= limit else "MISS"
            print(f"{word} {name}: {value.work_p95:.1f} ms of work, limit {limit:.0f}")
            other = theirs.get(name)
            if isinstance(other, Steps):
                times = other.work_median / value.work_median
                word = "ok  " if times >= FASTER else "MISS"
                print(f"{word} {name}: {times:.1f} times as fast, at least {FASTER:.0f}")
    application.processEvents()


def _line(value: Steps | int | None) -> str:
    if isinstance(value, Steps):
        return "".join(f"{part:8.2f}" for part in value)
    return "-" if value is None else str(value)


if __name__ == "__main__":
    main()
