"""All cards in one item, seen from afar: plain blocks of colour, painted together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QStaticText
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem

from app.canvas.geometry import CARD_WIDTH, GROUND, card_rect
from app.canvas.static_text import fitted
from app.kit.guarded_paint import GuardedPaint
from app.kit.pens import solid_pen
from app.theme.statuses import paint_mark, status_style
from app.theme.theme import Theme

_BORDER = 6.0
_PLAIN_BORDER = 3.0
"""Of a card about which there is nothing to tell."""
_LEAST_BORDER = 1.0
"""In pixels of the screen, so that each side of a card is seen."""
_RING = 8.0
_MARK = 48.0
_NAMED_FROM = 0.25
"""Below this scale not even a name can be read."""
_NAME_SIZES = ((0.34, 28), (0.0, 38))
"""From which scale on a name has which size, in scene units."""
_NAME_LEFT = 18.0
_NAME_AFTER_MARK = 58.0
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

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to tell about it."""
        return self.status == "idle" and not self.has_problem


class FarCard(NamedTuple):
    """One card: its id, where it is, what can be told of it, and its name."""

    id: str
    place: QPointF
    look: FarLook
    name: str


class _Group:
    """Cards of one look that lie near to each other, ready to be painted."""

    def __init__(self, look: FarLook) -> None:
        self.look = look
        self.places: dict[str, QPointF] = {}
        self.names: dict[str, str] = {}
        self._border = _BORDER
        self.outer: list[QRectF] = []
        self.inner: list[QRectF] = []
        self.shift = QPointF()
        self._bounds = QRectF()

    def measure(self) -> None:
        """Work out what is painted and where, from the places."""
        corners = [(place.x(), place.y()) for place in self.places.values()]
        self.outer = [card_rect(x, y) for x, y in corners]
        self._line(self._border)
        left, top = min(x for x, _ in corners), min(y for _, y in corners)
        right, bottom = max(x for x, _ in corners), max(y for _, y in corners)
        around = card_rect(left, top).united(card_rect(right, bottom))
        self._bounds = around.adjusted(-_ROOM, -_ROOM, _ROOM, _ROOM)

    def show_border(self, width: float) -> None:
        """Have a border of so many scene units."""
        if width != self._border:
            self._line(width)

    def _line(self, width: float) -> None:
        self._border = width
        self.inner = [rect.adjusted(width, width, -width, -width) for rect in self.outer]

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
        self._texts: dict[tuple[str, int, float], QStaticText] = {}
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
        scale = option.levelOfDetailFromTransform(painter.worldTransform())
        for group in self._groups.values():
            if group.shown_bounds().intersects(option.exposedRect):
                width = _PLAIN_BORDER if group.look.is_plain else _BORDER
                group.show_border(max(width, _LEAST_BORDER / scale))
                painter.translate(group.shift)
                self._paint_group(painter, group, scale >= _NAMED_FROM)
                if scale >= _NAMED_FROM:
                    exposed = option.exposedRect.translated(-group.shift)
                    self._paint_names(painter, group, exposed, scale)
                painter.translate(-group.shift)

    def _paint_group(self, painter: QPainter, group: _Group, is_named: bool) -> None:
        tokens, look = self._theme.tokens, group.look
        style = status_style(look.status)
        color = tokens.color("failed" if look.has_problem else style.color)
        if look.is_plain:
            color = tokens.solid("line_strong", "raised")
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
                center = rect.center()
                if is_named:
                    center.setX(rect.left() + (_NAME_LEFT + _NAME_AFTER_MARK) / 2)
                size = _MARK * (0.7 if is_named else 1.0)
                paint_mark(painter, center, size, style.mark, color)

    def _paint_names(self, painter: QPainter, group: _Group, exposed: QRectF, scale: float) -> None:
        size = next(size for least, size in _NAME_SIZES if scale >= least)
        font = self._theme.sized_font(size, strong=True)
        left = _NAME_LEFT if group.look.status == "idle" else _NAME_AFTER_MARK
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font)
        painter.setPen(solid_pen(self._theme.tokens.color("text")))
        for rect, name in zip(group.outer, group.names.values(), strict=True):
            if exposed.intersects(rect):
                text = self._texts.get((name, size, left))
                if text is None:
                    room = CARD_WIDTH - left - _NAME_LEFT
                    text = self._texts[name, size, left] = fitted(name, font, room)[0]
                top = rect.center().y() - text.size().height() / 2
                painter.drawStaticText(QPointF(rect.left() + left, top), text)

    def _read(self) -> None:
        self._groups, self._group_of = {}, {}
        self._texts = {}
        for card_id, place, look, name in self._cards():
            key = (look, int(place.x() // _CELL), int(place.y() // _CELL))
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = _Group(look)
            group.places[card_id] = place
            group.names[card_id] = name
            self._group_of[card_id] = group
        for group in self._groups.values():
            group.measure()
        self._is_stale = False
