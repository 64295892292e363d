"""All edges in one item, and the few that stand out or are moved along in others above it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPainterPathStroker
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem

from app.canvas.auto_layout import Place
from app.canvas.geometry import DETAIL_BELOW, GROUND, arrow, edge_path, in_port, out_port
from app.canvas.graph_sketch import Wire
from app.kit.guarded_paint import GuardedPaint
from app.kit.pens import solid_pen
from app.theme.theme import Theme

_CELL = 512
_HIT_WIDTH = 14.0

Cell = tuple[int, int]


class EdgeShape(NamedTuple):
    """One edge as it lies on the canvas."""

    wire: Wire
    path: QPainterPath
    arrow: QPainterPath
    bounds: QRectF


class EdgeLayer(GuardedPaint, QGraphicsItem):
    """Every edge, with a coarse grid of its own for painting and for finding one by its place.

    To move a node costs what its own edges cost.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shapes: dict[str, EdgeShape] = {}
        self._cells: dict[Cell, dict[str, None]] = {}
        self._by_node: dict[str, dict[str, None]] = {}
        self._bounds = QRectF()
        self._lifted: dict[str, None] = {}
        self.hidden = ""
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.setZValue(-1)

    def show_wires(self, wires: Iterable[Wire], places: Mapping[str, Place]) -> None:
        """Lay out these edges; those that are as they were are left alone."""
        wanted = {wire.id: wire for wire in wires}
        for wire_id in [key for key in self._shapes if key not in wanted]:
            self._drop(wire_id)
        for wire in wanted.values():
            known = self._shapes.get(wire.id)
            start, end = out_port(*places[wire.source]), in_port(*places[wire.target])
            if known is None or known.wire != wire or _ends(known) != (start, end):
                self._lay(wire, start, end)

    def follow(self, node_ids: Iterable[str], places: Mapping[str, Place]) -> None:
        """Lay out the edges of these nodes anew; `places` has them and their neighbours."""
        touched = {key for node_id in node_ids for key in self._by_node.get(node_id, ())}
        for wire_id in touched - self._lifted.keys():
            wire = self._shapes[wire_id].wire
            self._lay(wire, out_port(*places[wire.source]), in_port(*places[wire.target]))

    def lift(self, node_ids: Collection[str]) -> list[EdgeShape]:
        """Leave out, until `settle`, the edges that move along as they are with these nodes.

        Those are the edges with both ends among them; they are given back to be shown elsewhere.
        """
        among = set(node_ids)
        lifted = [
            shape
            for shape in self.shapes_at(among)
            if shape.wire.source in among and shape.wire.target in among
        ]
        self._lifted = {shape.wire.id: None for shape in lifted}
        for shape in lifted:
            self.update(shape.bounds)
        return lifted

    def settle(self) -> None:
        """Show again, where they were, the edges that were left out."""
        for wire_id in self._lifted:
            if (shape := self._shapes.get(wire_id)) is not None:
                self.update(shape.bounds)
        self._lifted = {}

    def is_lifted(self, wire_id: str) -> bool:
        """Whether an edge is shown elsewhere for now."""
        return wire_id in self._lifted

    def shapes_at(self, node_ids: Collection[str]) -> list[EdgeShape]:
        """The edges that begin or end at one of these nodes."""
        found = {key: None for node_id in node_ids for key in self._by_node.get(node_id, ())}
        return [self._shapes[key] for key in found]

    def edge(self, wire_id: str) -> EdgeShape | None:
        """One edge, by its id."""
        return self._shapes.get(wire_id)

    def shapes(self) -> Collection[EdgeShape]:
        """All edges."""
        return self._shapes.values()

    def edge_at(self, point: QPointF) -> EdgeShape | None:
        """The edge at a point of the scene, with room for a hand that is not quite steady."""
        stroker = QPainterPathStroker()
        stroker.setWidth(_HIT_WIDTH)
        cell = (int(point.x() // _CELL), int(point.y() // _CELL))
        for wire_id in self._cells.get(cell, ()):
            shape = self._shapes[wire_id]
            if shape.bounds.contains(point) and stroker.createStroke(shape.path).contains(point):
                return shape
        return None

    def edges_in(self, rect: QRectF) -> list[EdgeShape]:
        """The edges that lie in a part of the scene as a whole."""
        return [shape for shape in self._near(rect) if rect.contains(shape.path.boundingRect())]

    def boundingRect(self) -> QRectF:
        """The whole ground: bounds that grew with the edges would be painted anew as a whole."""
        return GROUND

    def paint_guarded(self, painter: QPainter, option: QStyleOptionGraphicsItem) -> None:
        """Paint what lies in the exposed part."""
        color = self._theme.tokens.solid("line_strong", "ground")
        scale = option.levelOfDetailFromTransform(painter.worldTransform())
        shapes = self._near(option.exposedRect)
        if self.hidden or self._lifted:
            lifted, hidden = self._lifted, self.hidden
            shapes = [s for s in shapes if s.wire.id not in lifted and s.wire.id != hidden]
        paint_edges(painter, shapes, color, 1.5, scale)

    def _lay(self, wire: Wire, start: QPointF, end: QPointF) -> None:
        if wire.id in self._shapes:
            self._drop(wire.id)
        path = edge_path(start, end)
        bounds = path.controlPointRect().adjusted(-8, -8, 16, 8)
        self._shapes[wire.id] = EdgeShape(wire, path, arrow(end), bounds)
        for cell in _cells_of(bounds):
            self._cells.setdefault(cell, {})[wire.id] = None
        for node_id in (wire.source, wire.target):
            self._by_node.setdefault(node_id, {})[wire.id] = None
        if not self._bounds.contains(bounds):
            self._bounds = self._bounds.united(bounds)
        self.update(bounds)

    def _drop(self, wire_id: str) -> None:
        shape = self._shapes.pop(wire_id)
        for cell in _cells_of(shape.bounds):
            del self._cells[cell][wire_id]
        for node_id in {shape.wire.source, shape.wire.target}:
            del self._by_node[node_id][wire_id]
        self.update(shape.bounds)

    def _near(self, rect: QRectF) -> Iterable[EdgeShape]:
        if rect.contains(self._bounds):
            return self._shapes.values()
        found: dict[str, None] = {}
        cells = self._cells
        for cell in _cells_of(rect.intersected(self._bounds)):
            if (near := cells.get(cell)) is not None:
                found.update(near)
        return [self._shapes[wire_id] for wire_id in found]


class EdgeHighlights(GuardedPaint, QGraphicsItem):
    """The edges that stand out: of the selection, under the pointer, on the way to a live node.

    A second one has those that are moved along with their nodes; it is moved as a whole.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self._theme = theme
        self._groups: dict[str, list[EdgeShape]] = {}
        self._bounds = QRectF()
        self.setZValue(0)

    def show_groups(self, groups: dict[str, list[EdgeShape]]) -> None:
        """Show these edges, each group in the token that is its key."""
        if groups == self._groups:
            return
        self.prepareGeometryChange()
        self._groups = groups
        self._bounds = QRectF()
        for shapes in groups.values():
            for shape in shapes:
                self._bounds = self._bounds.united(shape.bounds)
        self.update()

    def boundingRect(self) -> QRectF:
        """What the item may paint on, in its own coordinates."""
        return self._bounds

    def paint_guarded(self, painter: QPainter, option: QStyleOptionGraphicsItem) -> None:
        """Paint group by group, the last one on top."""
        scale = option.levelOfDetailFromTransform(painter.worldTransform())
        exposed = option.exposedRect
        for token, shapes in self._groups.items():
            seen = [shape for shape in shapes if shape.bounds.intersects(exposed)]
            paint_edges(painter, seen, self._theme.tokens.color(token), 2.0, scale)


def paint_edges(
    painter: QPainter, shapes: Iterable[EdgeShape], color: QColor, width: float, scale: float
) -> None:
    """Paint edges in one colour; as hair lines without arrows where they would be too small."""
    if scale < DETAIL_BELOW:
        pen = solid_pen(color)
        pen.setCosmetic(True)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, scale > 0.2)
        for shape in shapes:
            painter.strokePath(shape.path, pen)
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = solid_pen(color, width)
    for shape in shapes:
        painter.strokePath(shape.path, pen)
        painter.fillPath(shape.arrow, color)


def _ends(shape: EdgeShape) -> tuple[QPointF, QPointF]:
    """Where the edge leaves one card and where it enters the other."""
    begin = shape.path.elementAt(0)
    tip = shape.arrow.elementAt(0)
    return QPointF(begin.x, begin.y), QPointF(tip.x, tip.y)


def _cells_of(rect: QRectF) -> Iterable[Cell]:
    for column in range(int(rect.left() // _CELL), int(rect.right() // _CELL) + 1):
        for row in range(int(rect.top() // _CELL), int(rect.bottom() // _CELL) + 1):
            yield column, row
