"""The trace tab: the timeline with its details, or what happened as a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.kit.formats import duration_text, plural, usage_texts
from app.theme.theme import Theme
from app.trace.span_details import SpanDetails
from app.trace.timeline_rows import extent
from app.trace.timeline_view import TimelineView
from app.trace.trace_list import TraceList
from app.trace.trace_model import TraceModel

if TYPE_CHECKING:
    from app.run_session import ShownRun
    from orchestration.runs.spans import Span
    from orchestration.runs.view_values import TraceEntry

_EMPTY, _TIMELINE, _LIST = range(3)
_TIMES = "Timeline", "List"


class TracePanel(QWidget):
    """Shows what one run did, when, and what it took.

    Signals:
        node_chosen: Id of the node whose row was chosen.
        wished_for_chat: Id of a node that is to be shown in the conversation.
        report_wanted: A report of the run is to be saved.
    """

    node_chosen = Signal(str)
    wished_for_chat = Signal(str)
    report_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._run: ShownRun | None = None
        self.timeline = TimelineView(theme, self)
        self.timeline.chosen.connect(self._on_chosen)
        self.timeline.activated.connect(self._to_chat)
        self.details = SpanDetails(theme, self)
        self.details.wished_for_chat.connect(self._to_chat)
        self.details.hide()
        self.list = TraceList(theme, self)
        self.list.node_chosen.connect(self.node_chosen)
        self._bar = self._made_bar()
        self._empty = QLabel(
            "Nothing has happened yet. Run the workflow to see what it does.", self
        )
        self._empty.setProperty("kind", "second")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.shares = (66, 34)
        """How the room is shared between timeline and details."""
        self.split = QSplitter(Qt.Orientation.Horizontal, self)
        self.split.splitterMoved.connect(self._on_split)
        self.split.setHandleWidth(1)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.timeline)
        self.split.addWidget(self.details)
        self.split.setStretchFactor(0, 3)
        self.split.setStretchFactor(1, 2)
        self._stack = QStackedWidget(self)
        for page in (self._empty, self.split, self.list):
            self._stack.addWidget(page)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self._bar)
        box.addWidget(self._stack, 1)
        theme.changed.connect(self._dress)
        self._dress()
        self._show()

    @property
    def model(self) -> TraceModel:
        """The rows of the list."""
        return self.list.model

    def follow(self, entries: Sequence[TraceEntry]) -> None:
        """Show what the list of what happened holds now."""
        self.list.model.follow(entries)

    def show_run(self, run: ShownRun | None) -> None:
        """Show what a run has come to; while nobody looks, nothing is worked out."""
        self._run = run
        if self.isVisible():
            self._show()

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up."""
        super().showEvent(event)
        self._show()

    def _show(self) -> None:
        run = self._run
        has_rows = run is not None and bool(run.view.trace)
        self._bar.setVisible(has_rows)
        if run is None or not has_rows:
            self._stack.setCurrentIndex(_EMPTY)
            return
        is_list = self._kinds.checkedId() == 1
        self._stack.setCurrentIndex(_LIST if is_list else _TIMELINE)
        for button in (self._smaller, self._larger, self._fit):
            button.setVisible(not is_list)
        if is_list:
            self.list.catch_up()
        else:
            self.timeline.follow(run.run_id, run.view.spans, run.moment, is_live=run.is_active)
            self._show_details()
        self._totals.setText(self._totals_text(run))

    def _totals_text(self, run: ShownRun) -> str:
        first, last = extent(run.view.spans, self.timeline.now)
        used = run.view.usage
        known = used.tokens_in is not None or used.tokens_out is not None
        tokens = (used.tokens_in or 0) + (used.tokens_out or 0) if known else None
        parts = [duration_text(last - first), *usage_texts(tokens, used.cost)]
        if known and used.cost is None:
            parts.append("cost unknown")
        elif used.cost is not None and used.unpriced_calls:
            parts.append(f"{plural(used.unpriced_calls, 'call')} of unknown cost")
        return " · ".join(parts)

    def _on_chosen(self, span: Span | None) -> None:
        self._show_details()
        if span is not None and span.owner:
            self.node_chosen.emit(span.owner)

    def _show_details(self) -> None:
        span, run = self.timeline.current, self._run
        was_hidden = self.details.isHidden()
        self.details.setVisible(span is not None and run is not None)
        if span is None or run is None:
            return
        first = extent(run.view.spans, self.timeline.now)[0]
        self.details.show_span(span, run.view, self.timeline.now, first)
        if was_hidden:
            whole = sum(self.shares)
            self.split.setSizes([self.split.width() * share // whole for share in self.shares])

    def _on_split(self) -> None:
        first, second = self.split.sizes()
        self.shares = (first, second)

    def _to_chat(self, span: Span) -> None:
        if span.owner:
            self.wished_for_chat.emit(span.owner)

    def _made_bar(self) -> QWidget:
        bar = QWidget(self)
        row = QHBoxLayout(bar)
        row.setContentsMargins(12, 0, 12, 6)
        row.setSpacing(4)
        self._kinds = QButtonGroup(self)
        for index, name in enumerate(_TIMES):
            kind = QPushButton(name, bar)
            kind.setProperty("kind", "chip")
            kind.setCheckable(True)
            self._kinds.addButton(kind, index)
            row.addWidget(kind)
        self._kinds.button(0).setChecked(True)
        self._kinds.idClicked.connect(self._show)
        row.addSpacing(8)
        self._smaller = _tool(bar, "Show more time (-)", lambda: self.timeline.zoom(1 / 1.5))
        self._larger = _tool(bar, "Show less time (+)", lambda: self.timeline.zoom(1.5))
        self._fit = _tool(bar, "Show the whole run (0)", self.timeline.fit)
        for button in (self._smaller, self._larger, self._fit):
            row.addWidget(button)
        row.addSpacing(8)
        self._totals = QLabel(bar)
        self._totals.setProperty("kind", "small")
        row.addWidget(self._totals, 1)
        self.save = QPushButton("Save Report…", bar)
        self.save.setProperty("kind", "chip")
        self.save.setToolTip("Save a report of this run as one HTML or Markdown file")
        self.save.clicked.connect(self.report_wanted)
        row.addWidget(self.save)
        return bar

    def _dress(self) -> None:
        icons = self._theme.icons
        for button, name in (
            (self._smaller, "minus"),
            (self._larger, "plus"),
            (self._fit, "fit"),
        ):
            button.setIcon(icons.icon(name))
            button.setIconSize(QSize(14, 14))


def _tool(parent: QWidget, tip: str, act: Callable[[], None]) -> QToolButton:
    button = QToolButton(parent)
    button.setToolTip(tip)
    button.setAccessibleName(tip.partition(" (")[0])
    button.clicked.connect(lambda: act())
    return button
