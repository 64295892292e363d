"""One node on the canvas: a rounded card, painted in one pass."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath
from PySide6.QtWidgets import QGraphicsItem, QGraphicsRectItem, QStyleOptionGraphicsItem

from app.canvas.card_pictures import CardPictures
from app.canvas.far_cards import FarLook
from app.canvas.geometry import (
    CARD_HEIGHT,
    CARD_MARGIN,
    CARD_RADIUS,
    CARD_WIDTH,
    PORT_RADIUS,
    card_rect,
    in_port,
    out_port,
)
from app.canvas.graph_sketch import Card
from app.canvas.node_look import IDLE, PADDING, NodeRunInfo, NodeTexts, model_line
from app.kit.formats import duration_text, plural
from app.kit.guarded_paint import GuardedPaint
from app.kit.pens import solid_pen
from app.kit.visible import visible
from app.theme.statuses import WAITING, WORKING, paint_mark, status_style
from app.theme.theme import Theme

_CARD = card_rect(0, 0)


class NodeItem(GuardedPaint, QGraphicsRectItem):
    """A card; its rectangle lives in C++, only `paint_guarded` is Python."""

    def __init__(self, card: Card, theme: Theme, pictures: CardPictures) -> None:
        super().__init__(_CARD.adjusted(-CARD_MARGIN, -CARD_MARGIN, CARD_MARGIN, CARD_MARGIN))
        self.card = card
        self.info = IDLE
        self.problems: tuple[str, ...] = ()
        self._is_dimmed = False
        self._is_target = False
        self._shows_ports = False
        self._theme = theme
        self._pictures = pictures
        self._texts = NodeTexts(card, IDLE, theme)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setZValue(1)
        self._describe()

    def show_info(self, info: NodeRunInfo) -> None:
        """Show how the node stands now."""
        if info != self.info:
            self.info = info
            self.restyle()
            self._describe()

    def show_card(self, card: Card) -> None:
        """Show another text or model of the same node."""
        self.card = card
        self.restyle()
        self._describe()

    def restyle(self) -> None:
        """Make the texts anew, for other contents or another font, and paint again."""
        self._texts = NodeTexts(self.card, self.info, self._theme)
        self._paint_anew()

    def spoken(self) -> str:
        """The node in words, for a tooltip or a screen reader."""
        parts = [visible(self.card.label), status_style(self.info.status).label]
        if self.info.seconds is not None:
            parts.append(duration_text(self.info.seconds))
        if self.problems:
            parts.append(plural(len(self.problems), "problem"))
        return ", ".join(parts)

    def paint_guarded(self, painter: QPainter, option: QStyleOptionGraphicsItem) -> None:
        """Show the picture of the card, which is made where there is none yet."""
        is_chosen = self.isSelected()
        self._pictures.show(painter, self.card.id, is_chosen, self.rect(), self._paint_card)

    def far_look(self) -> FarLook:
        """What of it can be told from afar."""
        return FarLook(
            self.info.status,
            self.isSelected() or self._is_target,
            self._is_dimmed,
            bool(self.problems) and self.info.status == "idle",
        )

    def show_problems(self, problems: tuple[str, ...]) -> None:
        """Say what is wrong with the node, in sentences."""
        if problems != self.problems:
            self.problems = problems
            self._describe()
            self._paint_anew()

    def set_dimmed(self, is_dimmed: bool) -> None:
        """Stand back, as a card that an edge cannot go to."""
        if is_dimmed != self._is_dimmed:
            self._is_dimmed = is_dimmed
            self.setOpacity(0.35 if is_dimmed else 1.0)

    def set_target(self, is_target: bool) -> None:
        """Stand out, as the card that an edge would go to."""
        if is_target != self._is_target:
            self._is_target = is_target
            self._paint_anew()

    def show_ports(self, shown: bool) -> None:
        """Show where edges can be drawn from."""
        if shown != self._shows_ports:
            self._shows_ports = shown
            self._paint_anew()

    def shape_rect(self) -> QRectF:
        """The visible card, in scene coordinates."""
        return _CARD.translated(self.pos())

    def _edge(self) -> tuple[QColor, float]:
        tokens = self._theme.tokens
        status = self.info.status
        if status == "idle":
            return tokens.solid("line_strong", "raised"), 1.0
        width = 2.0 if status in WORKING or status in WAITING else 1.5
        return tokens.color(status_style(status).color), width

    def _paint_anew(self) -> None:
        self._pictures.forget(self.card.id)
        self.update()

    def _paint_card(self, painter: QPainter) -> None:
        tokens = self._theme.tokens
        style = status_style(self.info.status)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isSelected() or self._is_target:
            ring = QPainterPath()
            ring.addRoundedRect(_CARD.adjusted(-4, -4, 4, 4), CARD_RADIUS + 4, CARD_RADIUS + 4)
            painter.strokePath(ring, solid_pen(tokens.color("accent"), 2))
        color, width = self._edge()
        inset = width / 2
        body = QPainterPath()
        rounding = CARD_RADIUS - inset
        body.addRoundedRect(_CARD.adjusted(inset, inset, -inset, -inset), rounding, rounding)
        painter.fillPath(body, tokens.color("raised"))
        painter.strokePath(body, solid_pen(color, width))
        mark = QPointF(PADDING + 6, PADDING + 8)
        paint_mark(painter, mark, 13, style.mark, tokens.color(style.color))
        texts = self._texts
        right = CARD_WIDTH - PADDING
        painter.setFont(self._theme.sized_font(12))
        painter.setPen(solid_pen(tokens.color("text_second")))
        painter.drawStaticText(QPointF(PADDING + 18, PADDING), texts.status)
        painter.drawStaticText(QPointF(right - texts.time_width, PADDING), texts.time)
        bottom = CARD_HEIGHT - PADDING - 15
        painter.drawStaticText(QPointF(PADDING, bottom), texts.model)
        painter.drawStaticText(QPointF(right - texts.tokens_width, bottom), texts.tokens)
        painter.setFont(self._theme.sized_font(14, strong=True))
        painter.setPen(solid_pen(tokens.color("text")))
        painter.drawStaticText(QPointF(PADDING, PADDING + 23), texts.title)
        if self._shows_ports:
            self._paint_ports(painter)
        if self.info.waiting:
            self._paint_badge(painter, style.mark)
        elif self.problems and self.info.status == "idle":
            self._paint_problem(painter)

    def _paint_problem(self, painter: QPainter) -> None:
        tokens = self._theme.tokens
        center = QPointF(CARD_WIDTH - 3, 3)
        ground = QPainterPath()
        ground.addEllipse(center, 12.5, 12.5)
        painter.fillPath(ground, tokens.color("ground"))
        disc = QPainterPath()
        disc.addEllipse(center, 10.5, 10.5)
        painter.fillPath(disc, tokens.color("failed"))
        painter.setPen(solid_pen(tokens.color("raised")))
        painter.setFont(self._theme.sized_font(13, strong=True))
        box = QRectF(center.x() - 10, center.y() - 10, 20, 20)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "!")

    def _paint_ports(self, painter: QPainter) -> None:
        tokens = self._theme.tokens
        for point in (in_port(0, 0), out_port(0, 0)):
            port = QPainterPath()
            port.addEllipse(point, PORT_RADIUS, PORT_RADIUS)
            painter.fillPath(port, tokens.color("raised"))
            painter.strokePath(port, solid_pen(tokens.color("accent"), 2))

    def _paint_badge(self, painter: QPainter, mark: str) -> None:
        tokens = self._theme.tokens
        center = QPointF(CARD_WIDTH - 3, 3)
        ground = QPainterPath()
        ground.addEllipse(center, 12.5, 12.5)
        painter.fillPath(ground, tokens.color("ground"))
        color = tokens.color("waiting")
        if self.info.waiting == 1:
            paint_mark(painter, center, 21, mark, color)
            return
        disc = QPainterPath()
        disc.addEllipse(center, 10.5, 10.5)
        painter.fillPath(disc, color)
        painter.setPen(solid_pen(tokens.color("raised")))
        painter.setFont(self._theme.sized_font(12, strong=True))
        box = QRectF(center.x() - 10, center.y() - 10, 20, 20)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(self.info.waiting))

    def _describe(self) -> None:
        lines = [
            visible(self.card.label),
            model_line(self.card, self.info),
            status_style(self.info.status).label,
        ]
        if self.info.detail:
            lines.append(self.info.detail)
        lines += self.problems
        self.setToolTip("\n".join(lines))
