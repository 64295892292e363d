"""The edges of cards that are being moved, shown in items of their own until the move is over."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QGraphicsScene

from app.canvas.edge_layer import EdgeHighlights, EdgeLayer, LooseEdges
from app.canvas.edge_shape import EdgeShape, edge_shape
from app.canvas.geometry import in_port, out_port
from app.canvas.node_item import NodeItem
from app.theme.theme import Theme


class MovingEdges:
    """Edges between moved cards move as one picture, whose cost is the same for any number.

    Those to cards that stay are laid out anew with each step; all others are left alone.
    """

    def __init__(self, scene: QGraphicsScene, edges: EdgeLayer, theme: Theme) -> None:
        self._edges = edges
        self._inner = EdgeHighlights(theme)
        self._loose = LooseEdges(theme)
        self._stretched: list[EdgeShape] = []
        self._anchor: tuple[str, QPointF] | None = None
        self.is_active = False
        for item in (self._inner, self._loose):
            scene.addItem(item)

    def begin(self, node_ids: Collection[str], cards: Mapping[str, NodeItem]) -> None:
        """These cards are going to be moved together, until `end`."""
        among = set(node_ids)
        inner: list[EdgeShape] = []
        self._stretched = []
        for shape in self._edges.lift(among):
            moves_whole = shape.wire.source in among and shape.wire.target in among
            (inner if moves_whole else self._stretched).append(shape)
        if inner:
            anchor = inner[0].wire.source
            self._anchor = (anchor, cards[anchor].pos())
        self._inner.show_groups({"accent": inner} if inner else {})
        self._loose.show_shapes(self._stretched)
        self.is_active = True

    def follow(self, cards: Mapping[str, NodeItem]) -> None:
        """Show them as the cards lie now."""
        if self._anchor is not None:
            anchor, start = self._anchor
            self._inner.setPos(cards[anchor].pos() - start)
        if self._stretched:
            shapes = []
            for wire in (shape.wire for shape in self._stretched):
                source, target = cards[wire.source].pos(), cards[wire.target].pos()
                start, end = out_port(source.x(), source.y()), in_port(target.x(), target.y())
                shapes.append(edge_shape(wire, start, end))
            self._loose.show_shapes(shapes)

    def end(self) -> None:
        """Nothing is moved any more: show them again where the document has them."""
        if self.is_active:
            self.is_active = False
            self._anchor = None
            self._stretched = []
            self._edges.settle()
            self._inner.show_groups({})
            self._inner.setPos(0, 0)
            self._loose.show_shapes([])

    def restyle(self) -> None:
        """Paint anew in other colours."""
        self._inner.update()
        self._loose.update()
