"""Places for cards: layers become columns from left to right, rows are chosen to cross little."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from app.canvas.geometry import CARD_HEIGHT, CARD_WIDTH, COLUMN_GAP, GRID_STEP, ROW_GAP
from app.canvas.graph_sketch import Card, Graph, Wire

Place = tuple[float, float]

_ROOM = 12.0
_STEP_X = CARD_WIDTH + COLUMN_GAP
_STEP_Y = CARD_HEIGHT + ROW_GAP
_LONE_FROM = 6
_WIDE = 1.8
"""How much wider than high a field of cards is, as the canvas is on most screens."""


def places(graph: Graph) -> dict[str, Place]:
    """Where each card is shown: where the file says, or laid out if those places are no use.

    They are no use when one is missing or two cards would touch each other.
    """
    given = {card.id: (card.x, card.y) for card in graph.cards}
    known = {key: (x, y) for key, (x, y) in given.items() if x is not None and y is not None}
    if len(known) == len(given) and not _any_touch(known.values()):
        return known
    return laid_out(graph)


def laid_out(graph: Graph) -> dict[str, Place]:
    """Lay the whole graph out from left to right, each card right of all that lead to it.

    Many cards that no edge joins to anything are no column: they stand below, in rows.
    """
    joined = {end for wire in graph.wires for end in (wire.source, wire.target)}
    lone = [card.id for card in graph.cards if card.id not in joined]
    if len(lone) < _LONE_FROM:
        return _in_layers(graph.cards, graph.wires)
    placed = _in_layers([card for card in graph.cards if card.id in joined], graph.wires)
    widest = max((x for x, _ in placed.values()), default=0.0)
    top = max((y + 2 * _STEP_Y for _, y in placed.values()), default=0.0)
    in_row = max(round(widest / _STEP_X) + 1, round((len(lone) * _WIDE * _STEP_Y / _STEP_X) ** 0.5))
    for at, card_id in enumerate(lone):
        row, column = divmod(at, in_row)
        placed[card_id] = (_snap(column * _STEP_X), _snap(top + row * _STEP_Y))
    return placed


def _in_layers(cards: Sequence[Card], wires: Sequence[Wire]) -> dict[str, Place]:
    columns = _columns(cards, wires)
    before, after = _neighbours(wires)
    for _ in range(2):
        _sweep(columns, before)
        _sweep(columns[::-1], after)
    _sweep(columns, before)
    tallest = max((len(column) for column in columns), default=0)
    placed: dict[str, Place] = {}
    for index, column in enumerate(columns):
        top = (tallest - len(column)) * _STEP_Y / 2
        for row, card_id in enumerate(column):
            placed[card_id] = (_snap(index * _STEP_X), _snap(top + row * _STEP_Y))
    return placed


def _any_touch(spots: Iterable[Place]) -> bool:
    """Whether two cards at these places would overlap or nearly touch."""
    width, height = CARD_WIDTH + _ROOM, CARD_HEIGHT + _ROOM
    cells: dict[tuple[int, int], list[Place]] = {}
    for x, y in spots:
        column, row = int(x // width), int(y // height)
        for near_column in (column - 1, column, column + 1):
            for near_row in (row - 1, row, row + 1):
                for other_x, other_y in cells.get((near_column, near_row), ()):
                    if abs(other_x - x) < width and abs(other_y - y) < height:
                        return True
        cells.setdefault((column, row), []).append((x, y))
    return False


def _columns(cards: Sequence[Card], wires: Sequence[Wire]) -> list[list[str]]:
    """The longest way from a root decides the column; cards of a circle follow at the end."""
    waiting_for = {card.id: 0 for card in cards}
    targets: dict[str, list[str]] = {card.id: [] for card in cards}
    for wire in wires:
        waiting_for[wire.target] += 1
        targets[wire.source].append(wire.target)
    layer = {card.id: 0 for card in cards}
    ready = [card.id for card in cards if not waiting_for[card.id]]
    done = 0
    while done < len(ready):
        source = ready[done]
        done += 1
        for target in targets[source]:
            layer[target] = max(layer[target], layer[source] + 1)
            waiting_for[target] -= 1
            if not waiting_for[target]:
                ready.append(target)
    in_circle = set(layer) - set(ready)
    last = max((layer[card_id] for card_id in ready), default=-1) + 1
    columns: list[list[str]] = [[] for _ in range(last + bool(in_circle))]
    for card in cards:
        columns[last if card.id in in_circle else layer[card.id]].append(card.id)
    return columns


def _neighbours(wires: Sequence[Wire]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for wire in wires:
        before.setdefault(wire.target, []).append(wire.source)
        after.setdefault(wire.source, []).append(wire.target)
    return before, after


def _sweep(columns: Sequence[list[str]], neighbours: Mapping[str, list[str]]) -> None:
    """Sort every column by the mean place of what its cards are joined to."""
    place: dict[str, float] = {}
    for column in columns:
        middle = (len(column) - 1) / 2
        means: dict[str, float] = {}
        for row, card_id in enumerate(column):
            near = [place[other] for other in neighbours.get(card_id, ()) if other in place]
            means[card_id] = sum(near) / len(near) if near else row - middle
        column.sort(key=means.__getitem__)
        for row, card_id in enumerate(column):
            place[card_id] = row - middle


def _snap(value: float) -> float:
    return round(value / GRID_STEP) * GRID_STEP
