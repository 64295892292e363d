"""Many edges as few paths: to stroke a long path costs less than many short ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainterPath

from app.canvas.edge_shape import EdgeShape

_CELL = 4096

Cell = tuple[int, int]


class _Bundle(NamedTuple):
    path: QPainterPath
    bounds: QRectF


class FarEdges:
    """The paths of edges, joined by where they begin; only what was changed is joined anew."""

    def __init__(self) -> None:
        self._members: dict[Cell, dict[str, QPainterPath]] = {}
        self._cells: dict[str, Cell] = {}
        self._bundles: dict[Cell, _Bundle] = {}

    def put(self, shape: EdgeShape) -> None:
        """Have this edge as it lies now."""
        self.drop(shape.wire.id)
        begin = shape.path.elementAt(0)
        cell = (int(begin.x // _CELL), int(begin.y // _CELL))
        self._cells[shape.wire.id] = cell
        self._members.setdefault(cell, {})[shape.wire.id] = shape.path
        self._bundles.pop(cell, None)

    def drop(self, wire_id: str) -> None:
        """Have this edge no longer; one that is not there is left alone."""
        cell = self._cells.pop(wire_id, None)
        if cell is not None:
            del self._members[cell][wire_id]
            self._bundles.pop(cell, None)

    def paths_in(self, rect: QRectF) -> list[QPainterPath]:
        """Paths that have all edges in this part of the scene, and others."""
        found = []
        for cell, members in self._members.items():
            bundle = self._bundles.get(cell)
            if bundle is None:
                bundle = self._bundles[cell] = _bundle(members)
            if bundle.bounds.intersects(rect):
                found.append(bundle.path)
        return found


def joined(shapes: Iterable[EdgeShape]) -> QPainterPath:
    """One path for all of these edges."""
    path = QPainterPath()
    for shape in shapes:
        path.addPath(shape.path)
    return path


def _bundle(members: Mapping[str, QPainterPath]) -> _Bundle:
    path = QPainterPath()
    for member in members.values():
        path.addPath(member)
    # A hand's breadth wider: an edge that lies level has no height of its own.
    return _Bundle(path, path.controlPointRect().adjusted(-8, -8, 8, 8))
