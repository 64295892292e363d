"""What of the canvas is at a point: a port, the end of an edge, a card, a note, or the ground."""

from __future__ import annotations

from typing import Literal, NamedTuple

from PySide6.QtCore import QLineF, QPointF, QRectF

from app.canvas.geometry import PORT_REACH, in_port, out_port
from app.canvas.node_item import NodeItem
from app.canvas.scene import WorkflowScene

_LARGEST_REACH = 36.0
"""In scene units: seen from afar, the better part of a card is still the card and not its ports."""
_PORTS_FROM = 0.25
"""Below this scale a card is so small that a hand on it means the card."""

Kind = Literal["port", "edge_end", "node", "note_handle", "note", "edge", "ground"]
End = Literal["source", "target"]


class Hit(NamedTuple):
    """What was hit. `id` is that of the node, note or edge; `end` says which port or end."""

    kind: Kind
    id: str = ""
    end: End = "target"


def hit(scene: WorkflowScene, at: QPointF, scale: float) -> Hit:
    """Find what is at a point of the scene, seen at this scale; small things come first."""
    reach = min(max(PORT_REACH, PORT_REACH / scale * 0.6), _LARGEST_REACH)
    if (end := _edge_end(scene, at, reach)) is not None:
        return end
    if scale >= _PORTS_FROM and (port := _port(scene, at, reach)) is not None:
        return port
    card = scene.card_at(at)
    if card is not None:
        return Hit("node", card.card.id)
    for note in scene.notes.values():
        if not note.is_frame and note.shape_rect().contains(at):
            handle = note.handle_rect().translated(note.pos())
            return Hit("note_handle" if handle.contains(at) else "note", note.annotation.id)
    edge = scene.edges.edge_at(at)
    if edge is not None:
        return Hit("edge", edge.wire.id)
    for note in scene.notes.values():
        if note.is_frame and note.shape().contains(at - note.pos()):
            handle = note.handle_rect().translated(note.pos())
            return Hit("note_handle" if handle.contains(at) else "note", note.annotation.id)
    return Hit("ground")


def _edge_end(scene: WorkflowScene, at: QPointF, reach: float) -> Hit | None:
    """An end of a selected edge: only those can be taken elsewhere, so that ports stay in reach."""
    for edge_id in scene.chosen_edges:
        shape = scene.edges.edge(edge_id)
        if shape is None:
            continue
        source, target = (scene.items_by_node[key].pos() for key in shape.wire[1:])
        if _distance(at, in_port(target.x(), target.y())) <= reach:
            return Hit("edge_end", edge_id, "target")
        if _distance(at, out_port(source.x(), source.y())) <= reach:
            return Hit("edge_end", edge_id, "source")
    return None


def _port(scene: WorkflowScene, at: QPointF, reach: float) -> Hit | None:
    around = QRectF(at.x() - reach, at.y() - reach, 2 * reach, 2 * reach)
    for item in scene.items(around):
        if not isinstance(item, NodeItem):
            continue
        place = item.pos()
        if _distance(at, out_port(place.x(), place.y())) <= reach:
            return Hit("port", item.card.id, "source")
        if _distance(at, in_port(place.x(), place.y())) <= reach:
            return Hit("port", item.card.id, "target")
    return None


def _distance(a: QPointF, b: QPointF) -> float:
    return QLineF(a, b).length()
