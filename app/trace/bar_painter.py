"""Paints the parts of a timeline: the axis, names with their status, bars, and what is marked."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from app.kit.pens import solid_pen
from app.theme.statuses import paint_mark
from app.theme.theme import Theme
from app.trace.span_words import short_figures, span_name
from app.trace.timeline_rows import Moment, TimelineRow, TimeScale, pieces
from orchestration.runs.spans import MarkKind, Span, SpanKind, SpanStatus

ROW = 26
BAR = 12
_THINNEST = 3.0
_WORD_GAP = 6.0
_MARKS = {
    SpanStatus.QUEUED: ("dots", "idle"),
    SpanStatus.RUNNING: ("disc", "running"),
    SpanStatus.WAITING: ("question", "waiting"),
    SpanStatus.COMPLETED: ("check", "done"),
    SpanStatus.FAILED: ("cross", "failed"),
    SpanStatus.STOPPED: ("square", "idle"),
}
_COLORS = {
    SpanKind.NODE: "idle",
    SpanKind.SUBAGENT: "idle",
    SpanKind.TURN: "running",
    SpanKind.TOOL: "done",
    SpanKind.REPAIR: "waiting",
    SpanKind.RUN: "idle",
}
_MARK_COLORS = {
    MarkKind.RETRY: "waiting",
    MarkKind.REPAIR: "waiting",
    MarkKind.FAILURE: "failed",
    MarkKind.NOTE: "text_second",
}


class BarPainter:
    """Paints with the colours that the theme has at the moment."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._name_font = theme.sized_font(13)
        self._node_font = theme.sized_font(13, strong=True)
        self._small_font = theme.sized_font(11)
        self._small = QFontMetricsF(self._small_font)

    def paint_axis(
        self, painter: QPainter, lines: Iterable[Moment], scale: TimeScale, room: QRectF
    ) -> None:
        """Paint even lines through `room`, with their times at its top."""
        tokens = self._theme.tokens
        painter.setFont(self._small_font)
        for line in lines:
            x = round(room.left() + scale.x(scale.first + line.seconds, room.width())) + 0.5
            painter.setPen(solid_pen(tokens.color("hairline"), 1))
            painter.drawLine(QPointF(x, 22), QPointF(x, room.bottom()))
            width = self._small.horizontalAdvance(line.words)
            if x + 4 + width < room.right() + 10:
                painter.setPen(tokens.color("text_second"))
                painter.drawText(QPointF(x + 4, 15), line.words)
        painter.setPen(solid_pen(tokens.color("hairline"), 1))
        painter.drawLine(QPointF(0, 25.5), QPointF(room.right() + 12, 25.5))

    def paint_name(self, painter: QPainter, row: TimelineRow, room: QRectF, focused: bool) -> None:
        """Paint a row's triangle, the mark of its status, and its name."""
        tokens, span = self._theme.tokens, row.span
        middle = room.center().y()
        if row.has_children:
            _paint_triangle(
                painter, QPointF(room.left() + 6, middle), row.is_open, tokens.color("text_second")
            )
        mark, color = _MARKS[span.status]
        center = QPointF(room.left() + 22, middle)
        paint_mark(painter, center, 11, mark, tokens.color(color))
        is_strong = span.kind in (SpanKind.NODE, SpanKind.RUN)
        font = self._node_font if is_strong else self._name_font
        painter.setFont(font)
        quiet = span.kind in (SpanKind.TURN, SpanKind.REPAIR)
        painter.setPen(tokens.color("text_second" if quiet else "text"))
        metrics = QFontMetricsF(font)
        left = room.left() + 34
        text = metrics.elidedText(
            span_name(span), Qt.TextElideMode.ElideRight, max(0.0, room.right() - left)
        )
        base = middle + (metrics.ascent() - metrics.descent()) / 2
        painter.drawText(QPointF(left, base), text)
        if focused:
            painter.setPen(solid_pen(tokens.color("accent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            edge = QRectF(room.left() - 3, room.top() + 1.5, room.width() + 6, room.height() - 3)
            painter.drawRoundedRect(edge, 6, 6)

    def paint_bar(
        self, painter: QPainter, span: Span, scale: TimeScale, room: QRectF, now: float
    ) -> None:
        """Paint the bar of a span, what is marked on it, and its figures beside it."""
        tokens = self._theme.tokens
        color = tokens.color("failed" if self._is_red(span) else _COLORS[span.kind])
        right = room.left()
        for piece in pieces(span, now):
            start = room.left() + scale.x(piece.start, room.width())
            end = room.left() + scale.x(piece.end, room.width())
            shown = QRectF(start, room.top(), max(end - start, _THINNEST), room.height())
            right = max(right, shown.right())
            if shown.right() < room.left() or shown.left() > room.right():
                continue
            # What lies far outside is cut off: there are limits to what can be painted.
            shown.setLeft(max(shown.left(), room.left() - 20))
            shown.setRight(min(shown.right(), room.right() + 20))
            if piece.reason:
                is_queue = piece.reason == "its turn"
                self._paint_wait(painter, shown, tokens.color("idle" if is_queue else "waiting"))
            else:
                self._paint_work(painter, shown, color, span)
        for mark in span.marks:
            x = room.left() + scale.x(mark.time, room.width())
            if room.left() - 8 <= x <= room.right() + 8:
                self._paint_event(painter, QPointF(x, room.center().y()), mark.kind)
        words = short_figures(span, now)
        painter.setFont(self._small_font)
        width = self._small.horizontalAdvance(words)
        x = right + _WORD_GAP
        if x + width > room.right():
            x = room.left() + scale.x(span.start, room.width()) - width - _WORD_GAP
        if x >= room.left() + 2:
            painter.setPen(tokens.color("text_second"))
            base = room.center().y() + (self._small.ascent() - self._small.descent()) / 2
            painter.drawText(QPointF(x, base), words)

    def _is_red(self, span: Span) -> bool:
        return span.status is SpanStatus.FAILED

    def _paint_work(self, painter: QPainter, shown: QRectF, color: QColor, span: Span) -> None:
        is_holder = span.kind in (SpanKind.NODE, SpanKind.SUBAGENT)
        fill = QColor(color)
        fill.setAlphaF(0.45 if is_holder else 0.85)
        if is_holder:
            shown = shown.adjusted(0, 3, 0, -3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawRoundedRect(shown, 3, 3)

    def _paint_wait(self, painter: QPainter, shown: QRectF, color: QColor) -> None:
        """Waiting is an open bar with slanted lines: told apart without any colour."""
        inside = shown.adjusted(0.5, 1.5, -0.5, -1.5)
        if inside.width() < 1:
            return
        edge = QPen(color)
        edge.setWidthF(1.0)
        painter.setPen(edge)
        hatch = QColor(color)
        hatch.setAlphaF(0.5)
        painter.setBrush(QBrush(hatch, Qt.BrushStyle.BDiagPattern))
        painter.drawRoundedRect(inside, 3, 3)

    def _paint_event(self, painter: QPainter, center: QPointF, kind: MarkKind) -> None:
        tokens = self._theme.tokens
        color, size = tokens.color(_MARK_COLORS[kind]), 5.0
        painter.setPen(solid_pen(tokens.color("ground"), 1.5))
        painter.setBrush(color)
        if kind is MarkKind.REPAIR:  # a diamond
            corners = [(0, -size), (size, 0), (0, size), (-size, 0)]
        elif kind is MarkKind.RETRY:  # a triangle that points on
            corners = [(-size * 0.8, -size), (size, 0), (-size * 0.8, size)]
        elif kind is MarkKind.FAILURE:
            paint_mark(painter, center, 11, "cross", color)
            return
        else:
            painter.drawEllipse(center, 3.2, 3.2)
            return
        painter.drawPolygon(QPolygonF([center + QPointF(*corner) for corner in corners]))


def _paint_triangle(painter: QPainter, center: QPointF, is_open: bool, color: QColor) -> None:
    path = QPainterPath()
    if is_open:
        path.moveTo(center + QPointF(-3.5, -1.8))
        path.lineTo(center + QPointF(0, 1.8))
        path.lineTo(center + QPointF(3.5, -1.8))
    else:
        path.moveTo(center + QPointF(-1.8, -3.5))
        path.lineTo(center + QPointF(1.8, 0))
        path.lineTo(center + QPointF(-1.8, 3.5))
    pen = solid_pen(color, 1.4)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.strokePath(path, pen)
