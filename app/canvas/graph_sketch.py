"""What the canvas draws: cards and wires, read straight from a workflow file's JSON.

The first frame is painted from this light reading; the full model, with its checks, follows off
the UI thread and replaces it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple


class Card(NamedTuple):
    """One node as it is drawn; `x` and `y` are the file's, `None` where it has none."""

    id: str
    label: str
    kind: str
    model: str
    x: float | None
    y: float | None


class Wire(NamedTuple):
    """One edge, from node id to node id."""

    id: str
    source: str
    target: str


class Graph(NamedTuple):
    """All that is drawn of one workflow."""

    workflow_id: str
    name: str
    cards: tuple[Card, ...]
    wires: tuple[Wire, ...]


EMPTY_GRAPH = Graph("", "", (), ())


class SketchError(Exception):
    """The text is not a workflow; the message is one sentence about why."""


def read_sketch(text: bytes) -> Graph:
    """Read what can be drawn of a workflow file and leave everything else alone.

    Raises:
        SketchError: The text is not JSON, or no workflow.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SketchError(f"it is not valid JSON ({error})") from None
    if not isinstance(document, dict) or not isinstance(document.get("nodes"), list):
        raise SketchError("it has no list of nodes, so it is not a workflow")
    edges = document.get("edges")
    return drawable(
        _text(document.get("id")),
        _text(document.get("name")),
        [_card(node) for node in document["nodes"] if isinstance(node, dict)],
        [
            _wire(edge)
            for edge in (edges if isinstance(edges, list) else ())
            if isinstance(edge, dict)
        ],
    )


def drawable(workflow_id: str, name: str, cards: Iterable[Card], wires: Iterable[Wire]) -> Graph:
    """A graph of what can be drawn: one card an id, and wires between cards that are there."""
    first: dict[str, Card] = {}
    for card in cards:
        first.setdefault(card.id, card)
    return Graph(
        workflow_id,
        name,
        tuple(first.values()),
        tuple(wire for wire in wires if wire.source in first and wire.target in first),
    )


def _card(node: dict[str, Any]) -> Card:
    agent = node.get("agent")
    model = agent.get("model") if isinstance(agent, dict) else ""
    position = node.get("position")
    place = position if isinstance(position, dict) else {}
    node_id = _text(node.get("id"))
    return Card(
        id=node_id,
        label=_text(node.get("label")) or node_id,
        kind=_text(node.get("kind")).replace("Agent", "agent"),
        model=_text(model),
        x=_number(place.get("x")),
        y=_number(place.get("y")),
    )


def _wire(edge: dict[str, Any]) -> Wire:
    return Wire(_text(edge.get("id")), _text(edge.get("from")), _text(edge.get("to")))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
