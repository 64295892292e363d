"""Walking over the graph with the arrow keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.canvas.auto_layout import Place
from app.canvas.graph_sketch import Wire

Direction = str
"""`left`, `right`, `up` or `down`."""


def neighbour(
    start: str, direction: Direction, wires: Iterable[Wire], places: Mapping[str, Place]
) -> str:
    """The node that an arrow key leads to; `start` itself where there is none.

    Left and right follow edges, to the node nearest in height. Up and down go to the nearest node
    above or below, whether or not an edge leads there.
    """
    if start not in places:
        return min(places, key=lambda key: (places[key], key), default="")
    x, y = places[start]
    if direction in ("left", "right"):
        if direction == "right":
            near = {wire.target for wire in wires if wire.source == start}
        else:
            near = {wire.source for wire in wires if wire.target == start}
        near.discard(start)
        return min(near, key=lambda key: (abs(places[key][1] - y), places[key], key), default=start)
    sign = 1 if direction == "down" else -1
    beyond = [key for key, (_, other) in places.items() if (other - y) * sign > 0]
    return min(
        beyond,
        key=lambda key: (
            abs(places[key][1] - y) + 2 * abs(places[key][0] - x),
            places[key],
            key,
        ),
        default=start,
    )
