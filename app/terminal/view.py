"""Paints a terminal's screen and sends what is typed; cells lie on whole pixels."""

from __future__ import annotations

import logging
from math import ceil

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.terminal.cells import BOLD, ITALIC, STRUCK, UNDERLINE, Row, flags_of
from app.terminal.colors import TerminalColors
from app.terminal.emulator import CURSOR_SHOWN
from app.terminal.selection import Place, Selection
from app.terminal.shell_session import ShellSession
from app.theme.theme import Theme

logger = logging.getLogger(__name__)

FONT_PIXELS = 13
_MARGIN = 10
_SMALLEST, _LARGEST = 8, 32


class TerminalView(QAbstractScrollArea):
    """One session on screen; what keys and the mouse do is in `TerminalInput`.

    Signals:
        zoomed: The size of the font in pixels is another.
    """

    zoomed = Signal(int)

    def __init__(self, session: ShellSession, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.session = session
        self.selection = Selection()
        self._theme = theme
        self._colors = TerminalColors(theme.tokens)
        self._fonts: dict[int, QFont] = {}
        self._pixels = FONT_PIXELS
        self._first = 0
        self._is_at_end = True
        self._is_broken = False
        self.cell_width = 8
        self.cell_height = 16
        self._ascent = 12.0
        self.setAccessibleName("Terminal")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Without anything to look back at there is nothing to take hold of.
        self.verticalScrollBar().setStyleSheet(
            "QScrollBar::handle:vertical:disabled { background: transparent; }"
        )
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setAutoFillBackground(False)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        session.advanced.connect(self._on_advanced)
        theme.changed.connect(self._restyle)
        self._measure()
        self._restyle()

    def set_font_pixels(self, pixels: int) -> None:
        """Write larger or smaller."""
        pixels = min(max(pixels, _SMALLEST), _LARGEST)
        if pixels != self._pixels:
            self._pixels = pixels
            self._measure()
            self._fit()
            self.viewport().update()

    @property
    def font_pixels(self) -> int:
        """The size of the font."""
        return self._pixels

    def place_at(self, position: QPointF) -> Place:
        """The gap between cells that is nearest to a point of the viewport."""
        screen = self.session.emulator.screen
        line = self._first + int((position.y() - _MARGIN) // self.cell_height)
        line = min(max(line, screen.first_line), screen.end_line - 1)
        column = round((position.x() - _MARGIN) / self.cell_width)
        return Place(line, min(max(column, 0), screen.columns))

    def cell_at(self, position: QPointF) -> tuple[int, int]:
        """Column and line of the cell of the screen that is under a point."""
        screen = self.session.emulator.screen
        column = int((position.x() - _MARGIN) // self.cell_width)
        line = int((position.y() - _MARGIN) // self.cell_height)
        return min(max(column, 0), screen.columns - 1), min(max(line, 0), screen.lines - 1)

    def cursor_rectangle(self) -> QRect:
        """Where the cursor is, in the viewport."""
        screen = self.session.emulator.screen
        line = screen.end_line - screen.lines + screen.cursor.line - self._first
        return QRect(
            _MARGIN + screen.cursor.column * self.cell_width,
            _MARGIN + line * self.cell_height,
            self.cell_width,
            self.cell_height,
        )

    def scroll_to_end(self) -> None:
        """Show the latest lines."""
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the shell as many cells as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """Be as it should be by now."""
        super().showEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the lines in view; a failure is told once and leaves the view empty."""
        if self._is_broken:
            return
        painter = QPainter(self.viewport())
        try:
            self._paint(painter, event.rect())
        except Exception:
            self._is_broken = True
            logger.exception("the terminal cannot be painted")
        finally:
            painter.end()

    def _measure(self) -> None:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(self._pixels)
        font.setKerning(False)
        font.setStyleHint(QFont.StyleHint.Monospace, QFont.StyleStrategy.PreferNoShaping)
        metrics = QFontMetricsF(font)
        advance = metrics.horizontalAdvance("M")
        self.cell_width = max(1, ceil(advance - 0.01))
        self.cell_height = max(1, ceil(metrics.height() * 1.08))
        self._ascent = metrics.ascent() + (self.cell_height - metrics.height()) / 2
        # So that a run of characters is exactly as wide as its cells.
        font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, self.cell_width - advance)
        self._fonts = {}
        for flags in (0, BOLD, ITALIC, BOLD | ITALIC):
            other = QFont(font)
            other.setBold(bool(flags & BOLD))
            other.setItalic(bool(flags & ITALIC))
            self._fonts[flags] = other

    def _fit(self) -> None:
        if not self.isVisible():
            return
        room = self.viewport().size()
        columns = (room.width() - 2 * _MARGIN) // self.cell_width
        lines = (room.height() - 2 * _MARGIN) // self.cell_height
        if columns >= 2 and lines >= 1:
            self.session.resize(columns, lines)
        self._on_advanced()

    def _on_advanced(self) -> None:
        screen = self.session.emulator.screen
        if self.selection and self.selection.span()[0].line < screen.first_line:
            self.selection.clear()
        bar = self.verticalScrollBar()
        stays, shown = self._is_at_end, self._first
        last = screen.end_line - screen.lines
        bar.blockSignals(True)
        bar.setRange(screen.first_line, last)
        bar.setPageStep(screen.lines)
        bar.setValue(last if stays else max(shown, screen.first_line))
        bar.blockSignals(False)
        bar.setEnabled(last > screen.first_line)
        self._first = bar.value()
        self._is_at_end = self._first == last
        self.viewport().update()

    def _on_scrolled(self, value: int) -> None:
        self._first = value
        self._is_at_end = value == self.verticalScrollBar().maximum()
        self.viewport().update()

    def _restyle(self) -> None:
        tokens = self._theme.tokens
        self._colors = TerminalColors(tokens)
        self.session.emulator.colors = (
            self._colors.text.name(),
            self._colors.ground.name(),
        )
        self.viewport().update()

    def _paint(self, painter: QPainter, exposed: QRect) -> None:
        painter.fillRect(exposed, self._colors.ground)
        screen = self.session.emulator.screen
        top = max(0, (exposed.top() - _MARGIN) // self.cell_height)
        below = (exposed.bottom() - _MARGIN) // self.cell_height + 1
        for at in range(top, min(below, screen.lines)):
            number = self._first + at
            if number >= screen.end_line:
                break
            row = screen.line(number)
            y = _MARGIN + at * self.cell_height
            self._paint_row(painter, row, y)
            first, last = self.selection.columns_of(number, screen.columns)
            if first < last:
                marked = QRect(
                    _MARGIN + first * self.cell_width,
                    y,
                    (last - first) * self.cell_width,
                    self.cell_height,
                )
                painter.fillRect(marked, self._colors.selected)
        self._paint_cursor(painter)

    def _paint_row(self, painter: QPainter, row: Row, y: int) -> None:
        styles, end = row.styles, row.used()
        start = 0
        while start < end:
            style = styles[start]
            stop = start + 1
            while stop < end and styles[stop] == style:
                stop += 1
            self._paint_run(painter, row.text[start:stop], style, start, y)
            start = stop

    def _paint_run(
        self, painter: QPainter, cells: list[str], style: int, column: int, y: int
    ) -> None:
        ink, ground = self._colors.pair(style)
        x, width = _MARGIN + column * self.cell_width, len(cells) * self.cell_width
        if ground is not None:
            painter.fillRect(x, y, width, self.cell_height, ground)
        text = "".join(cells)
        flags = flags_of(style)
        if not text.isspace():
            self._paint_text(painter, text, cells, ink, flags, x, y)
        if flags & UNDERLINE:
            painter.fillRect(x, y + round(self._ascent) + 2, width, 1, ink)
        if flags & STRUCK:
            painter.fillRect(x, y + round(self._ascent * 0.68), width, 1, ink)

    def _paint_text(
        self,
        painter: QPainter,
        text: str,
        cells: list[str],
        ink: QColor,
        flags: int,
        x: int,
        y: int,
    ) -> None:
        painter.setFont(self._fonts[flags & (BOLD | ITALIC)])
        painter.setPen(ink)
        base = y + self._ascent
        if text.isascii():
            painter.drawText(QPointF(x, base), text)
            return
        for index, cell in enumerate(cells):
            if cell and cell != " ":
                painter.drawText(QPointF(x + index * self.cell_width, base), cell)

    def _paint_cursor(self, painter: QPainter) -> None:
        session = self.session
        emulator = session.emulator
        if CURSOR_SHOWN not in emulator.modes or not session.is_on:
            return
        place = self.cursor_rectangle()
        if place.bottom() > self.viewport().height():
            return
        color = self._colors.cursor
        if not self.hasFocus():
            painter.setPen(color)
            painter.drawRect(QRectF(place).adjusted(0.5, 0.5, -0.5, -0.5))
        elif emulator.cursor_shape == "bar":
            painter.fillRect(place.x(), place.y(), 2, place.height(), color)
        elif emulator.cursor_shape == "line":
            painter.fillRect(place.x(), place.bottom() - 1, place.width(), 2, color)
        else:
            screen = emulator.screen
            row = screen.rows[screen.cursor.line]
            cell = row.text[screen.cursor.column]
            wide = 2 if row.text[screen.cursor.column + 1 :][:1] == [""] else 1
            place.setWidth(place.width() * wide)
            painter.fillRect(place, color)
            if cell.strip():
                flags = flags_of(row.styles[screen.cursor.column])
                self._paint_text(
                    painter, cell, [cell], self._colors.on_cursor, flags, place.x(), place.y()
                )

    def event(self, event: QEvent) -> bool:
        """Move with the resolution of the screen."""
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._measure()
            self._fit()
        return super().event(event)

    def copy(self) -> bool:
        """Put what is marked on the clipboard; false if nothing is."""
        if not self.selection:
            return False
        text = self.selection.text(self.session.emulator.screen)
        QGuiApplication.clipboard().setText(text)
        return True
