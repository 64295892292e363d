"""All edges in one item, and the few that stand out in a second one above it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPainterPathStroker
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem

from app.canvas.auto_layout import Place
from app.canvas.geometry import DETAIL_BELOW, arrow, edge_path, in_port, out_port
from app.canvas.graph_sketch import Wire
from app.kit.guarded_paint import GuardedPaint
from app.kit.pens import solid_pen
from app.theme.theme import Theme

_CELL = 512
_HIT_WIDTH = 14.0


class EdgeShape(NamedTuple):
    """One edge as it lies on the canvas."""

    wire: Wire
    path: QPainterPath
    arrow: QPainterPath
    bounds: QRectF


class EdgeLayer(GuardedPaint, QGraphicsItem):
    """Every edge, with a coarse grid of its own for painting and for finding one by its place."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shapes: list[EdgeShape] = []
        self._cells: dict[tuple[int, int], list[int]] = {}
        self._bounds = QRectF()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.setZValue(-1)

    def show_wires(self, wires: Iterable[Wire], places: Mapping[str, Place]) -> None:
        """Lay out all edges anew."""
        self.prepareGeometryChange()
        self._shapes = [_shape(wire, places) for wire in wires]
        self._cells = {}
        self._bounds = QRectF()
        for index, shape in enumerate(self._shapes):
            self._bounds = self._bounds.united(shape.bounds)
            for cell in _cells_of(shape.bounds):
                self._cells.setdefault(cell, []).append(index)
        self.update()

    def shapes_at(self, node_ids: frozenset[str]) -> list[EdgeShape]:
        """The edges that begin or end at one of these nodes."""
        return [
            shape
            for shape in self._shapes
            if shape.wire.source in node_ids or shape.wire.target in node_ids
        ]

    def shapes(self) -> Iterable[EdgeShape]:
        """All edges."""
        return self._shapes

    def edge_at(self, point: QPointF) -> EdgeShape | None:
        """The edge at a point of the scene, with room for a hand that is not quite steady."""
        stroker = QPainterPathStroker()
        stroker.setWidth(_HIT_WIDTH)
        cell = (int(point.x() // _CELL), int(point.y() // _CELL))
        for index in self._cells.get(cell, ()):
            shape = self._shapes[index]
            if shape.bounds.contains(point) and stroker.createStroke(shape.path).contains(point):
                return shape
        return None

    def boundingRect(self) -> QRectF:
        """What the item may paint on, in its own coordinates."""
        return self._bounds

    def paint_guarded(self, painter: QPainter, option: QStyleOptionGraphicsItem) -> None:
        """Paint what lies in the exposed part."""
        color = self._theme.tokens.color("line_strong")
        scale = option.levelOfDetailFromTransform(painter.worldTransform())
        exposed = option.exposedRect
        paint_edges(painter, self._exposed(exposed), color, 1.5, scale)

    def _exposed(self, rect: QRectF) -> Iterable[EdgeShape]:
        if rect.contains(self._bounds):
            return self._shapes
        found: set[int] = set()
        for cell in _cells_of(rect.intersected(self._bounds)):
            found.update(self._cells.get(cell, ()))
        return [self._shapes[index] for index in sorted(found)]


class EdgeHighlights(GuardedPaint, QGraphicsItem):
    """The edges that stand out: of the selection, under the pointer, on the way to a live node."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
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
        for token, shapes in self._groups.items():
            paint_edges(painter, shapes, self._theme.tokens.color(token), 2.0, scale)


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


def _shape(wire: Wire, places: Mapping[str, Place]) -> EdgeShape:
    end = in_port(*places[wire.target])
    path = edge_path(out_port(*places[wire.source]), end)
    bounds = path.controlPointRect().adjusted(-8, -8, 16, 8)
    return EdgeShape(wire, path, arrow(end), bounds)


def _cells_of(rect: QRectF) -> Iterable[tuple[int, int]]:
    for column in range(int(rect.left() // _CELL), int(rect.right() // _CELL) + 1):
        for row in range(int(rect.top() // _CELL), int(rect.bottom() // _CELL) + 1):
            yield column, row
