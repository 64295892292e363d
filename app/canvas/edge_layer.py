"""All edges in one item, and the few that stand out or are moved along in others above it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPainterPathStroker
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem

from app.canvas.auto_layout import Place
from app.canvas.edge_shape import EdgeShape, edge_shape
from app.canvas.far_edges import FarEdges, joined
from app.canvas.geometry import DETAIL_BELOW, GROUND, in_port, out_port
from app.canvas.graph_sketch import Wire
from app.kit.guarded_paint import GuardedPaint
from app.kit.pens import solid_pen
from app.theme.theme import Theme

_CELL = 512
_HIT_WIDTH = 14.0

Cell = tuple[int, int]


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
        self._far = FarEdges()
        self._hidden = ""
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

    @property
    def hidden(self) -> str:
        """The id of an edge that is left out, since another is drawn in its place."""
        return self._hidden

    def leave_out(self, wire_id: str) -> None:
        """Leave out this edge and no other; an empty text means none."""
        before, self._hidden = self._hidden, wire_id
        for key in (before, wire_id):
            self._show_or_not(key)

    def lift(self, node_ids: Collection[str]) -> list[EdgeShape]:
        """Leave out, until `settle`, the edges that begin or end at these nodes.

        They are given back to be shown elsewhere, while their nodes are moved.
        """
        lifted = self.shapes_at(node_ids)
        self._lifted = {shape.wire.id: None for shape in lifted}
        for wire_id in self._lifted:
            self._show_or_not(wire_id)
        return lifted

    def settle(self) -> None:
        """Show again, where they were, the edges that were left out."""
        lifted, self._lifted = self._lifted, {}
        for wire_id in lifted:
            self._show_or_not(wire_id)

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
        if option.levelOfDetailFromTransform(painter.worldTransform()) < DETAIL_BELOW:
            paint_far_edges(painter, self._far.paths_in(option.exposedRect), color)
            return
        exposed = option.exposedRect
        shapes = [
            shape
            for shape in self._near(exposed)
            if exposed.intersects(shape.bounds) and self._is_shown(shape.wire.id)
        ]
        paint_edges(painter, shapes, color, 1.5)

    def _is_shown(self, wire_id: str) -> bool:
        return wire_id != self._hidden and wire_id not in self._lifted

    def _show_or_not(self, wire_id: str) -> None:
        if (shape := self._shapes.get(wire_id)) is not None:
            if self._is_shown(wire_id):
                self._far.put(shape)
            else:
                self._far.drop(wire_id)
            self.update(shape.bounds)

    def _lay(self, wire: Wire, start: QPointF, end: QPointF) -> None:
        if wire.id in self._shapes:
            self._drop(wire.id)
        shape = self._shapes[wire.id] = edge_shape(wire, start, end)
        bounds = shape.bounds
        for cell in _cells_of(bounds):
            self._cells.setdefault(cell, {})[wire.id] = None
        for node_id in (wire.source, wire.target):
            self._by_node.setdefault(node_id, {})[wire.id] = None
        if not self._bounds.contains(bounds):
            self._bounds = self._bounds.united(bounds)
        self._show_or_not(wire.id)

    def _drop(self, wire_id: str) -> None:
        shape = self._shapes.pop(wire_id)
        for cell in _cells_of(shape.bounds):
            del self._cells[cell][wire_id]
        for node_id in {shape.wire.source, shape.wire.target}:
            del self._by_node[node_id][wire_id]
        self._far.drop(wire_id)
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

    Another one has those whose two ends are moved alike; it is moved as a whole.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self._theme = theme
        self._groups: dict[str, list[EdgeShape]] = {}
        self._far: dict[str, QPainterPath] = {}
        self._bounds = QRectF()
        self.setZValue(0)

    def show_groups(self, groups: dict[str, list[EdgeShape]]) -> None:
        """Show these edges, each group in the token that is its key."""
        if groups == self._groups:
            return
        self.prepareGeometryChange()
        self._groups = groups
        self._far = {}
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
        is_far = option.levelOfDetailFromTransform(painter.worldTransform()) < DETAIL_BELOW
        exposed = option.exposedRect
        for token, shapes in self._groups.items():
            color = self._theme.tokens.color(token)
            if is_far:
                if token not in self._far:
                    self._far[token] = joined(shapes)
                paint_far_edges(painter, (self._far[token],), color)
            else:
                seen = [shape for shape in shapes if shape.bounds.intersects(exposed)]
                paint_edges(painter, seen, color, 2.0)


class LooseEdges(GuardedPaint, QGraphicsItem):
    """The edges with one end that is moved and one that stays, laid out anew with each step."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shapes: list[EdgeShape] = []
        self.setZValue(0)

    def show_shapes(self, shapes: list[EdgeShape]) -> None:
        """Show these edges and no others."""
        for shape in (*self._shapes, *shapes):
            self.update(shape.bounds)
        self._shapes = shapes

    def boundingRect(self) -> QRectF:
        """The whole ground, so that only what is different is painted anew."""
        return GROUND

    def paint_guarded(self, painter: QPainter, option: QStyleOptionGraphicsItem) -> None:
        """Paint them as edges of what is chosen."""
        if not self._shapes:
            return
        color = self._theme.tokens.color("accent")
        if option.levelOfDetailFromTransform(painter.worldTransform()) < DETAIL_BELOW:
            paint_far_edges(painter, (joined(self._shapes),), color)
        else:
            paint_edges(painter, self._shapes, color, 2.0)


def paint_edges(
    painter: QPainter, shapes: Iterable[EdgeShape], color: QColor, width: float
) -> None:
    """Paint edges with their arrows in one colour."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = solid_pen(color, width)
    for shape in shapes:
        painter.strokePath(shape.path, pen)
        painter.fillPath(shape.arrow, color)


def paint_far_edges(painter: QPainter, paths: Iterable[QPainterPath], color: QColor) -> None:
    """Paint edges as hair lines without arrows, which would be too small."""
    pen = solid_pen(color)
    pen.setCosmetic(True)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for path in paths:
        painter.strokePath(path, pen)


def _ends(shape: EdgeShape) -> tuple[QPointF, QPointF]:
    """Where the edge leaves one card and where it enters the other."""
    begin = shape.path.elementAt(0)
    tip = shape.arrow.elementAt(0)
    return QPointF(begin.x, begin.y), QPointF(tip.x, tip.y)


def _cells_of(rect: QRectF) -> Iterable[Cell]:
    for column in range(int(rect.left() // _CELL), int(rect.right() // _CELL) + 1):
        for row in range(int(rect.top() // _CELL), int(rect.bottom() // _CELL) + 1):
            yield column, row
