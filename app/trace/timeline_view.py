"""The timeline of a run: a row for each span, bars along an axis of time.

Only what is in view is painted, so a run may have any number of them.
"""

from __future__ import annotations

import logging
import time as clock
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from app.theme.theme import Theme
from app.trace.bar_painter import BAR, ROW, BarPainter
from app.trace.span_words import row_words, tip_words
from app.trace.timeline_rows import (
    TimelineRow,
    TimeScale,
    extent,
    moments,
    opens_itself,
    visible_rows,
)
from orchestration.runs.spans import Span

logger = logging.getLogger(__name__)

AXIS = 26
_INDENT = 14
_LEAST_NAMES, _MOST_NAMES, _NAMES_SHARE = 150, 300, 0.3
_GROW_MS = 100
_ZOOM = 1.25
_ANGLE_STEP = 120


class TimelineView(QAbstractScrollArea):
    """Shows spans; which one is chosen is told.

    Signals:
        chosen: A span was chosen, by keys or the mouse; `None` if none is any more.
        activated: The chosen span is to be shown in the conversation.
    """

    chosen = Signal(object)
    activated = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._bars = BarPainter(theme)
        self._roots: Sequence[Span] = ()
        self._run_id = ""
        self._moment: Callable[[], float] = clock.time
        self._is_live = False
        self._is_broken = False
        self._folded: set[str] = set()
        self._opened: set[str] = set()
        self.rows: list[TimelineRow] = []
        self.scale = TimeScale()
        self.current: Span | None = None
        self._dragged_from: QPointF | None = None
        self.setAccessibleName("Timeline")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        self.verticalScrollBar().setSingleStep(ROW)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self._beat = QTimer(self)
        self._beat.setSingleShot(True)
        self._beat.setInterval(_GROW_MS)
        self._beat.timeout.connect(self._grow)
        theme.changed.connect(self._restyle)

    def follow(
        self, run_id: str, roots: Sequence[Span], moment: float | None, *, is_live: bool
    ) -> None:
        """Show a run's spans as they are now; `moment` is the time of a replay that stands."""
        is_other, self._run_id = run_id != self._run_id, run_id
        if roots is not self._roots:
            self._roots = roots
            if self.current is not None and not is_other:
                # Another moment of the same run: its spans have the same ids.
                self.current = _found(roots, self.current.id)
        if is_other:
            self._folded.clear()
            self._opened.clear()
            self.scale = TimeScale()
            self.current = None
            self.verticalScrollBar().setValue(0)
        self._is_live = is_live and moment is None
        at = moment if moment is not None else None
        self._moment = clock.time if at is None else lambda: at
        self.refresh()

    def refresh(self) -> None:
        """Bring rows and axis in line with what happened."""
        bar = self.verticalScrollBar()
        was_at_end = self._is_live and bar.value() >= bar.maximum() - 2
        self.rows = visible_rows(self._roots, self._folded, self._opened)
        self.scale.take(*extent(self._roots, self.now))
        self._measure()
        if was_at_end and self.current is None:
            bar.setValue(bar.maximum())
        if self._is_live and self.isVisible() and not self._beat.isActive():
            self._beat.start()
        self.viewport().update()

    @property
    def now(self) -> float:
        """The moment that what goes on has come to."""
        return self._moment()

    def fit(self) -> None:
        """Have all of the run in view."""
        self.scale.fit()
        self.viewport().update()

    def zoom(self, factor: float, x: float | None = None) -> None:
        """Show less or more time around the middle, or around `x` of the viewport."""
        left, width = self._chart()
        at = left + width / 2 if x is None else x
        self.scale.zoom(factor, self.scale.time(at - left, width))
        self.viewport().update()

    def choose(self, span: Span | None) -> None:
        """Choose a span, and have it in view."""
        if span is not self.current:
            self.current = span
            self.chosen.emit(span)
            if span is not None:
                self.setAccessibleDescription(row_words(span, self.now))
        if span is not None:
            self.scale.show_around(span.start, span.end or self.now)
            self._reveal(span)
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Measure anew."""
        super().resizeEvent(event)
        self._measure()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is in view; a failure is told once and leaves the view empty."""
        if self._is_broken:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        try:
            self._paint(painter)
        except Exception:
            self._is_broken = True
            logger.exception("the timeline cannot be painted")
        finally:
            painter.end()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer with Ctrl, or over the axis; pan with Shift; else scroll."""
        modifiers, delta = event.modifiers(), event.angleDelta()
        over_axis = event.position().y() < AXIS
        if modifiers & Qt.KeyboardModifier.ControlModifier or over_axis:
            self.zoom(_ZOOM ** (delta.y() / _ANGLE_STEP), event.position().x())
        elif modifiers & Qt.KeyboardModifier.ShiftModifier or delta.x():
            sideways = delta.x() or delta.y()
            self.scale.pan(-sideways / _ANGLE_STEP * self.scale.length * 0.1)
            self.viewport().update()
        else:
            super().wheelEvent(event)
            return
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose a row, fold it at its triangle, or begin to pan."""
        row = self._row_at(event.position())
        if row is not None and event.button() == Qt.MouseButton.LeftButton:
            left = self._names_x(row)
            if row.has_children and left <= event.position().x() < left + _INDENT + 4:
                self._set_open(row, not row.is_open)
                return
            self.choose(row.span)
        if event.position().x() > self._chart()[0]:
            self._dragged_from = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan."""
        if self._dragged_from is not None and event.buttons() & (
            Qt.MouseButton.LeftButton | Qt.MouseButton.MiddleButton
        ):
            moved = event.position() - self._dragged_from
            self._dragged_from = event.position()
            self.scale.pan(-moved.x() / max(1, self._chart()[1]) * self.scale.length)
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Pan no more."""
        self._dragged_from = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Have a bar fill the view, or all of the run again."""
        row = self._row_at(event.position())
        if row is not None and event.position().x() > self._chart()[0]:
            span = row.span
            length = max((span.end or self.now) - span.start, 0.001) * 1.2
            middle = span.start + length / 2.4
            self.scale.zoom(self.scale.length / length, middle)
            self.scale.pan(middle - (self.scale.start + self.scale.end) / 2)
            self.viewport().update()
        elif row is not None:
            self.activated.emit(row.span)
        else:
            self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk through the rows, fold and unfold, zoom and pan."""
        if not self._walk(event) and not self._look(event):
            super().keyPressEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """Say what a bar is while the pointer rests on it."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            row = self._row_at(QPointF(event.pos()))
            if row is not None:
                QToolTip.showText(event.globalPos(), tip_words(row.span, self.now), self)
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def _walk(self, event: QKeyEvent) -> bool:
        key, index = event.key(), self._index()
        row = self.rows[index] if 0 <= index < len(self.rows) else None
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        page = max(1, (self.viewport().height() - AXIS) // ROW - 1)
        jumps = {
            Qt.Key.Key_Up: index - 1,
            Qt.Key.Key_Down: index + 1,
            Qt.Key.Key_PageUp: index - page,
            Qt.Key.Key_PageDown: index + page,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: len(self.rows) - 1,
        }
        if key in jumps and self.rows:
            wanted = jumps[Qt.Key(key)] if index >= 0 or key == Qt.Key.Key_End else 0
            self.choose(self.rows[min(max(wanted, 0), len(self.rows) - 1)].span)
        elif row is None or control:
            return False
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.activated.emit(row.span)
        elif key == Qt.Key.Key_Space and row.has_children:
            self._set_open(row, not row.is_open)
        elif key == Qt.Key.Key_Right and row.has_children and not row.is_open:
            self._set_open(row, True)
        elif key == Qt.Key.Key_Right and row.is_open:
            self.choose(self.rows[index + 1].span)
        elif key == Qt.Key.Key_Left and row.is_open:
            self._set_open(row, False)
        elif key == Qt.Key.Key_Left:
            parents = [each for each in self.rows[:index] if each.depth < row.depth]
            if parents:
                self.choose(parents[-1].span)
        else:
            return False
        return True

    def _look(self, event: QKeyEvent) -> bool:
        key = event.key()
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(_ZOOM)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / _ZOOM)
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            step = -0.15 if key == Qt.Key.Key_Left else 0.15
            self.scale.pan(step * self.scale.length)
            self.viewport().update()
        else:
            return False
        return True

    def _paint(self, painter: QPainter) -> None:
        left, width = self._chart()
        height = self.viewport().height()
        tokens, now = self._theme.tokens, self.now
        offset = self.verticalScrollBar().value()
        first = offset // ROW
        last = min(len(self.rows), (offset + height - AXIS) // ROW + 1)
        painter.save()
        painter.setClipRect(QRect(0, AXIS, self.viewport().width(), height - AXIS))
        for index in range(first, last):
            row, y = self.rows[index], AXIS + index * ROW - offset
            if row.span is self.current:
                shade = QRectF(4, y + 1, self.viewport().width() - 8, ROW - 2)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(tokens.color("selected"))
                painter.drawRoundedRect(shade, 6, 6)
        painter.restore()
        lines = moments(self.scale, width)
        self._bars.paint_axis(painter, lines, self.scale, QRectF(left, 0, width, height))
        painter.save()
        painter.setClipRect(QRect(0, AXIS, self.viewport().width(), height - AXIS))
        for index in range(first, last):
            row, y = self.rows[index], AXIS + index * ROW - offset
            x = self._names_x(row)
            is_last = row.span is self.current and self.hasFocus()
            self._bars.paint_name(painter, row, QRectF(x, y, left - x - 10, ROW), is_last)
            painter.save()
            painter.setClipRect(QRectF(left, y, width, ROW), Qt.ClipOperation.IntersectClip)
            bar = QRectF(left, y + (ROW - BAR) / 2, width, BAR)
            self._bars.paint_bar(painter, row.span, self.scale, bar, now)
            painter.restore()
        painter.restore()

    def _chart(self) -> tuple[int, int]:
        """Where the bars begin, and how much room they have."""
        width = self.viewport().width()
        left = min(max(round(width * _NAMES_SHARE), _LEAST_NAMES), _MOST_NAMES)
        return left, max(width - left - 12, 1)

    def _names_x(self, row: TimelineRow) -> int:
        return 10 + row.depth * _INDENT

    def _row_at(self, position: QPointF) -> TimelineRow | None:
        index = (position.y() - AXIS + self.verticalScrollBar().value()) // ROW
        if position.y() < AXIS or not 0 <= index < len(self.rows):
            return None
        return self.rows[int(index)]

    def _index(self) -> int:
        """The number of the chosen row; -1 if it is not among the rows."""
        return next((index for index, row in enumerate(self.rows) if row.span is self.current), -1)

    def _reveal(self, span: Span) -> None:
        index = next((index for index, row in enumerate(self.rows) if row.span is span), None)
        if index is None:
            return
        bar = self.verticalScrollBar()
        room = self.viewport().height() - AXIS
        if index * ROW < bar.value():
            bar.setValue(index * ROW)
        elif (index + 1) * ROW > bar.value() + room:
            bar.setValue((index + 1) * ROW - room)

    def _set_open(self, row: TimelineRow, is_open: bool) -> None:
        span = row.span
        if opens_itself(span):
            (self._folded.discard if is_open else self._folded.add)(span.id)
        else:
            (self._opened.add if is_open else self._opened.discard)(span.id)
        self.refresh()

    def _measure(self) -> None:
        room = self.viewport().height() - AXIS
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, len(self.rows) * ROW + 8 - room))
        bar.setPageStep(max(room, ROW))

    def _grow(self) -> None:
        if self._is_live and self.isVisible():
            self.scale.take(*extent(self._roots, self.now))
            self.viewport().update()
            self._beat.start()

    def _on_scrolled(self) -> None:
        self.viewport().update()

    def _restyle(self) -> None:
        self.viewport().update()


def _found(spans: Sequence[Span], span_id: str) -> Span | None:
    for span in spans:
        if span.id == span_id:
            return span
        inner = _found(span.children, span_id)
        if inner is not None:
            return inner
    return None
