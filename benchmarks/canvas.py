"""What the canvas costs with 2,000 nodes and 4,000 edges, beside NodeGraphQt where it is there.

Run as `python -m benchmarks.canvas`, offscreen. Each figure is taken in this one process: how long
opening takes until the first picture, and a step of panning, dragging and zooming with the repaint
that it causes. To measure NodeGraphQt too, install it beside this program.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QMouseEvent
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
OPEN_LIMIT_S = 1.5
FASTER = 3.0
SIZE = (1440, 900)


class Steps(NamedTuple):
    """Milliseconds of one kind of step: median and 95th percentile."""

    median: float
    p95: float


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
    for at in range(STEPS):
        if len(taken) >= LEAST_STEPS and sum(taken) > PATIENCE_MS:
            break
        begin = time.perf_counter()
        step(at)
        QApplication.processEvents()
        taken.append((time.perf_counter() - begin) * 1000)
    return Steps(statistics.median(taken), statistics.quantiles(taken, n=20)[-1])


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


def panning(view: QGraphicsView, button: Qt.MouseButton) -> Steps:
    """Pan in steps of a few pixels."""
    mouse(view, QEvent.Type.MouseButtonPress, QPointF(400, 400), button)

    def step(at: int) -> None:
        mouse(view, QEvent.Type.MouseMove, QPointF(400 + at * 5 % 300, 400 + at * 3 % 200), button)

    taken = measure(step)
    mouse(view, QEvent.Type.MouseButtonRelease, QPointF(400, 400), button)
    return taken


def dragging(view: QGraphicsView, start: QPointF) -> Steps:
    """Drag one card about."""
    left = Qt.MouseButton.LeftButton
    mouse(view, QEvent.Type.MouseButtonPress, start, left)

    def step(at: int) -> None:
        mouse(view, QEvent.Type.MouseMove, start + QPointF(10 + at * 4, 10 + at * 3), left)

    taken = measure(step)
    mouse(view, QEvent.Type.MouseButtonRelease, start, left)
    return taken


def ours(owner: QObject) -> dict[str, Steps | float]:
    """Our canvas: as it is opened, at 100 %, and with everything in view."""
    document = graph()
    begin = time.perf_counter()
    model = WorkflowDocument()
    theme = Theme("light", owner)
    theme.set_reduced_motion(True)
    scene = WorkflowScene(model, theme)
    view = CanvasView(scene, model, theme)
    view.resize(*SIZE)
    model.show_workflow(None, workflow_from_document(document))
    view.show()
    view.grab()
    found: dict[str, Steps | float] = {"open s": time.perf_counter() - begin}
    for name, scale in (("100 %", 1.0), ("all", 0.0)):
        if scale:
            view.zoom_by(scale / view.scale_now)
            view.look_around(QPointF(3600, 700))
        else:
            view.fit()
        found[f"pan {name}"] = panning(view, Qt.MouseButton.MiddleButton)
        card = min(
            scene.items_by_node.values(),
            key=lambda item: (item.pos() - QPointF(3600, 700)).manhattanLength(),
        )
        start = QPointF(view.mapFromScene(card.shape_rect().center()))
        found[f"drag {name}"] = dragging(view, start)
    view.close()
    view.deleteLater()
    return found


def node_graph_qt() -> dict[str, Steps | float] | None:
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
    begin = time.perf_counter()
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
    found: dict[str, Steps | float] = {"open s": time.perf_counter() - begin}
    for name in ("100 %", "all"):
        if name == "all":
            net.fit_to_selection()
            view.zoom_to_nodes([node.view for node in made.values()])
        else:
            view.reset_zoom(QPointF(3600, 700))
        found[f"pan {name}"] = panning(view, Qt.MouseButton.MiddleButton)
        card = min(
            made.values(), key=lambda node: abs(node.x_pos() - 3600) + abs(node.y_pos() - 700)
        )
        center = card.view.sceneBoundingRect().center()
        found[f"drag {name}"] = dragging(view, QPointF(view.mapFromScene(center)))
    window.close()
    return found


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    application = QApplication.instance() or QApplication([])
    mine = ours(application)
    theirs = node_graph_qt()
    print(f"{'':14}{'ours':>18}{'NodeGraphQt':>18}{'times':>8}")
    for name, value in mine.items():
        other = theirs[name] if theirs else None
        if isinstance(value, Steps):
            line = f"{value.median:7.2f} {value.p95:7.2f} ms"
            right = f"{other.median:7.2f} {other.p95:7.2f} ms" if isinstance(other, Steps) else "-"
            ratio = f"{other.p95 / value.p95:.1f}" if isinstance(other, Steps) else ""
        else:
            line = f"{value:15.2f} s"
            right = f"{other:15.2f} s" if isinstance(other, float) else "-"
            ratio = f"{other / value:.1f}" if isinstance(other, float) else ""
        print(f"{name:14}{line:>18}{right:>18}{ratio:>8}")
    opening = mine["open s"]
    assert isinstance(opening, float)
    print(f"\n{'ok  ' if opening <= OPEN_LIMIT_S else 'MISS'} opening {opening:.2f} s")
    for name, value in mine.items():
        if isinstance(value, Steps):
            word = "ok  " if value.p95 <= LIMIT_MS else "MISS"
            print(f"{word} {name}: {value.p95:.1f} ms at the 95th percentile, limit {LIMIT_MS:.0f}")
    application.processEvents()


if __name__ == "__main__":
    main()
