"""The window: sidebar, top bar, canvas and dock, and what it remembers of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QMainWindow, QSplitter, QVBoxLayout, QWidget

from app.actions import ACTIONS, Actions
from app.canvas.document import WorkflowDocument
from app.canvas.scene import WorkflowScene
from app.canvas.view import CanvasView
from app.canvas.zoom_bar import ZoomBar
from app.dock import Dock
from app.kit.toasts import Toasts
from app.kit.window_state import WindowState
from app.sidebar import WIDTH, Sidebar
from app.theme.theme import Theme
from app.top_bar import HEIGHT, TopBar
from app.waiting_list import WaitingList

NARROW = 980
"""Below this width in pixels the sidebar gives way."""


class MainWindow(QMainWindow):
    """Widgets and what they remember; what they are for is decided elsewhere.

    Signals:
        wished: Id of an action that is about runs or files, not about this window's look.
        file_dropped: Path of a file that was let go over the window.
        close_requested: The person wants to close the window.
    """

    wished = Signal(str)
    file_dropped = Signal(object)
    close_requested = Signal()

    def __init__(
        self, application: QApplication, document: WorkflowDocument, state: WindowState
    ) -> None:
        super().__init__()
        self.state = state
        self.document = document
        self.theme = Theme(application, state.text("theme", "system"))
        self.theme.set_reduced_motion(state.flag("reduced_motion", False))
        self.is_painted = False
        self._sidebar_wanted = state.flag("sidebar", True)
        self.actions_ = Actions(self, self._handlers())
        self.sidebar = Sidebar(self.theme, self.actions_, self)
        self.top_bar = TopBar(self.theme, self.actions_, self)
        self.scene = WorkflowScene(document, self.theme, self)
        self.canvas = CanvasView(self.scene, document, self.theme, self)
        self.zoom_bar = ZoomBar(self.theme, self.actions_, self.canvas)
        self.dock = Dock(self.theme, self.actions_, self)
        self.toasts = Toasts(self.theme, self, HEIGHT + 8)
        self.waiting_list = WaitingList(self.theme, self)
        self._columns = QSplitter(Qt.Orientation.Horizontal, self)
        self._rows = QSplitter(Qt.Orientation.Vertical, self)
        self._build()
        self._restore()
        document.replaced.connect(self._show_title)
        self.dock.opened.connect(self._unfold_dock)
        self._show_title()

    def remember(self) -> None:
        """Keep sizes and switches for the next start."""
        state = self.state
        state.put("geometry", self.saveGeometry())
        state.put("columns", self._columns.saveState())
        if not self.canvas.isHidden() and not self.dock.is_folded:
            state.put("rows", self._rows.saveState())
        state.put("sidebar", self._sidebar_wanted)
        state.put("dock_folded", self.dock.is_folded)
        state.save()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Note that the window has been on screen."""
        super().paintEvent(event)
        self.is_painted = True

    def closeEvent(self, event: QCloseEvent) -> None:
        """Closing is a wish: what is behind the window ends first."""
        event.ignore()
        self.close_requested.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the sidebar up where there is no room for it."""
        super().resizeEvent(event)
        self._show_sidebar()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files, and nothing else."""
        if _dropped_file(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what was dropped."""
        file = _dropped_file(event)
        if file is not None:
            event.acceptProposedAction()
            self.file_dropped.emit(file)

    def _handlers(self) -> dict[str, Callable[[], None]]:
        own: dict[str, Callable[[], None]] = {
            "quit": self.close_requested.emit,
            "waiting": self._toggle_waiting,
            "composer": self._go_to_composer,
            "sidebar": self._toggle_sidebar,
            "dock": self._toggle_dock,
            "focus_chat": self._toggle_canvas,
            "zoom_in": self._zoom_in,
            "zoom_out": self._zoom_out,
            "zoom_reset": self._zoom_reset,
            "zoom_fit": self._zoom_fit,
            "theme_system": self._set_theme,
            "theme_light": self._set_theme,
            "theme_dark": self._set_theme,
            "reduced_motion": self._set_motion,
        }
        return {spec.id: own.get(spec.id, self._wish) for spec in ACTIONS}

    def _build(self) -> None:
        self.setMinimumSize(560, 420)
        self.setAcceptDrops(True)
        below = QWidget(self)
        box = QVBoxLayout(below)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self.top_bar)
        line = QWidget(below)
        line.setProperty("kind", "line")
        line.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        line.setFixedHeight(1)
        box.addWidget(line)
        self._rows.addWidget(self.canvas)
        self._rows.addWidget(self.dock)
        self._rows.setCollapsible(0, False)
        self._rows.setCollapsible(1, False)
        self._rows.setStretchFactor(0, 1)
        self._rows.setStretchFactor(1, 1)
        self.canvas.setMinimumHeight(120)
        box.addWidget(self._rows, 1)
        self._columns.addWidget(self.sidebar)
        self._columns.addWidget(below)
        self._columns.setCollapsible(0, False)
        self._columns.setCollapsible(1, False)
        self._columns.setStretchFactor(1, 1)
        for splitter in (self._columns, self._rows):
            splitter.setHandleWidth(1)
            splitter.setChildrenCollapsible(False)
        self.setCentralWidget(self._columns)

    def _restore(self) -> None:
        state = self.state
        self.resize(1280, 840)
        for key, restore in (
            ("geometry", self.restoreGeometry),
            ("columns", self._columns.restoreState),
            ("rows", self._rows.restoreState),
        ):
            data = state.data(key)
            if data is None or not restore(data):
                self._set_default_sizes(key)
        self.actions_["dock"].setChecked(not state.flag("dock_folded", False))
        self.dock.set_folded(state.flag("dock_folded", False))
        self.actions_[f"theme_{self.theme.mode}"].setChecked(True)
        self.actions_["reduced_motion"].setChecked(state.flag("reduced_motion", False))
        self._show_sidebar()

    def _set_default_sizes(self, key: str) -> None:
        if key == "columns":
            self._columns.setSizes([WIDTH, max(1, self.width() - WIDTH)])
        elif key == "rows":
            room = self.height() - HEIGHT
            self._rows.setSizes([round(room * 0.46), round(room * 0.54)])

    def _show_title(self) -> None:
        document = self.document
        name = document.graph.name or (document.path.stem if document.path else "")
        file = document.path.name if document.path else ""
        self.setWindowTitle(f"{name} ({file}) - OpenFlow" if file else "OpenFlow")
        self.top_bar.show_document(name or "No workflow", file)
        self.top_bar.file.full_tip = str(document.path) if document.path else ""

    def _wish(self) -> None:
        action = self.sender()
        for spec in ACTIONS:
            if self.actions_[spec.id] is action:
                self.wished.emit(spec.id)

    def _toggle_waiting(self) -> None:
        self.waiting_list.toggle()

    def _go_to_composer(self) -> None:
        self._unfold_dock()
        self.dock.show_tab(0)
        self.dock.chat.composer.field.setFocus()

    def _toggle_sidebar(self) -> None:
        self._sidebar_wanted = self.actions_["sidebar"].isChecked()
        self.sidebar.setVisible(self._sidebar_wanted)

    def _show_sidebar(self) -> None:
        shown = self._sidebar_wanted and self.width() > NARROW
        self.sidebar.setVisible(shown)
        self.actions_["sidebar"].setChecked(shown)

    def _toggle_dock(self) -> None:
        self.dock.set_folded(not self.actions_["dock"].isChecked())

    def _unfold_dock(self) -> None:
        if self.dock.is_folded:
            self.actions_["dock"].setChecked(True)
            self.dock.set_folded(False)

    def _toggle_canvas(self) -> None:
        alone = self.actions_["focus_chat"].isChecked()
        if alone:
            self._unfold_dock()
        self.canvas.setVisible(not alone)

    def _zoom_in(self) -> None:
        self.canvas.zoom_by(1.2)

    def _zoom_out(self) -> None:
        self.canvas.zoom_by(1 / 1.2)

    def _zoom_reset(self) -> None:
        self.canvas.zoom_to(1.0)

    def _zoom_fit(self) -> None:
        self.canvas.fit()

    def _set_theme(self) -> None:
        for mode in ("system", "light", "dark"):
            if self.actions_[f"theme_{mode}"].isChecked():
                self.theme.set_mode(mode)
                self.state.put("theme", mode)

    def _set_motion(self) -> None:
        reduced = self.actions_["reduced_motion"].isChecked()
        self.theme.set_reduced_motion(reduced)
        self.state.put("reduced_motion", reduced)


def _dropped_file(event: QDropEvent) -> Path | None:
    urls = event.mimeData().urls()
    if len(urls) == 1 and urls[0].isLocalFile():
        file = Path(urls[0].toLocalFile())
        return file if file.is_file() else None
    return None
