"""All cards in one item, seen from afar: plain blocks of colour, painted together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem

from app.canvas.geometry import CARD_HEIGHT, CARD_WIDTH, GROUND, card_rect
from app.kit.guarded_paint import GuardedPaint
from app.theme.statuses import paint_mark, status_style
from app.theme.theme import Theme

_BORDER = 6.0
_RING = 8.0
_MARK = 48.0
_DIMMED = 0.35
_CELL = 4096
_ROOM = 48.0
"""Around a card, in scene units: for its ring and for what is rounded to whole pixels."""


class FarLook(NamedTuple):
    """What of a card can be told from afar."""

    status: str = "idle"
    has_ring: bool = False
    is_dimmed: bool = False
    has_problem: bool = False


FarCard = tuple[str, QPointF, FarLook]


class _Group:
    """Cards of one look that lie near to each other, ready to be painted."""

    def __init__(self, look: FarLook) -> None:
        self.look = look
        self.places: dict[str, QPointF] = {}
        self.outer: list[QRectF] = []
        self.inner: list[QRectF] = []
        self.shift = QPointF()
        self._bounds = QRectF()

    def measure(self) -> None:
        """Work out what is painted and where, from the places."""
        corners = [(place.x(), place.y()) for place in self.places.values()]
        self.outer = [card_rect(x, y) for x, y in corners]
        width, height = CARD_WIDTH - 2 * _BORDER, CARD_HEIGHT - 2 * _BORDER
        self.inner = [QRectF(x + _BORDER, y + _BORDER, width, height) for x, y in corners]
        left, top = min(x for x, _ in corners), min(y for _, y in corners)
        right, bottom = max(x for x, _ in corners), max(y for _, y in corners)
        around = card_rect(left, top).united(card_rect(right, bottom))
        self._bounds = around.adjusted(-_ROOM, -_ROOM, _ROOM, _ROOM)

    def shown_bounds(self) -> QRectF:
        """What they are painted on, as far as they have been moved."""
        return self._bounds.translated(self.shift)


class FarCards(GuardedPaint, QGraphicsItem):
    """Stands for the cards while these are too small to read; hidden otherwise.

    `cards` gives all of them; it is asked when they are painted after something was changed.
    """

    def __init__(self, theme: Theme, cards: Callable[[], Iterable[FarCard]]) -> None:
        super().__init__()
        self._theme = theme
        self._cards = cards
        self._is_stale = True
        self._groups: dict[tuple[FarLook, int, int], _Group] = {}
        self._group_of: dict[str, _Group] = {}
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.setZValue(1)
        self.setVisible(False)

    def refresh(self) -> None:
        """Something about some cards is different."""
        self._is_stale = True
        self.update()

    def move(self, places: Mapping[str, QPointF]) -> None:
        """Show all cards that are chosen elsewhere, each moved by the same way."""
        if self._is_stale or not self.isVisible():
            self._is_stale = True
            return
        moved = {id(self._group_of[card_id]): card_id for card_id in places}
        for card_id in moved.values():
            group = self._group_of[card_id]
            self.update(group.shown_bounds())
            group.shift = places[card_id] - group.places[card_id]
            self.update(group.shown_bounds())

    def boundingRect(self) -> QRectF:
        """The whole ground: bounds that grew with the cards would be painted anew as a whole."""
        return GROUND

    def paint_guarded(self, painter: QPainter, option: QStyleOptionGraphicsItem) -> None:
        """Paint the cards in the exposed part, those of one look together."""
        if self._is_stale:
            self._read()
        for group in self._groups.values():
            if group.shown_bounds().intersects(option.exposedRect):
                painter.translate(group.shift)
                self._paint_group(painter, group)
                painter.translate(-group.shift)

    def _paint_group(self, painter: QPainter, group: _Group) -> None:
        tokens, look = self._theme.tokens, group.look
        style = status_style(look.status)
        color = tokens.color("failed" if look.has_problem else style.color)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setOpacity(_DIMMED if look.is_dimmed else 1.0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if look.has_ring:
            painter.setBrush(tokens.color("accent"))
            painter.drawRects([r.adjusted(-_RING, -_RING, _RING, _RING) for r in group.outer])
        painter.setBrush(color)
        painter.drawRects(group.outer)
        painter.setBrush(tokens.color("raised"))
        painter.drawRects(group.inner)
        if look.status != "idle":
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for rect in group.outer:
                paint_mark(painter, rect.center(), _MARK, style.mark, color)

    def _read(self) -> None:
        self._groups, self._group_of = {}, {}
        for card_id, place, look in self._cards():
            key = (look, int(place.x() // _CELL), int(place.y() // _CELL))
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = _Group(look)
            group.places[card_id] = place
            self._group_of[card_id] = group
        for group in self._groups.values():
            group.measure()
        self._is_stale = False
