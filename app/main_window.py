"""The window: sidebar, top bar, canvas and dock, and what it remembers of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QMainWindow

from app.canvas.document import WorkflowDocument
from app.canvas.scene import WorkflowScene
from app.canvas.view import CanvasView
from app.desk import Desk
from app.desks import Desks
from app.kit.visible import visible
from app.kit.window_state import WindowState
from app.rooms import INSPECTOR_WIDTH, TOP_HEIGHT, Rooms, put_into
from app.theme.theme import Theme
from orchestration.chats.chat_files import is_chat_file

if TYPE_CHECKING:
    from app.actions import Actions
    from app.canvas.minimap import Minimap
    from app.dock import Dock
    from app.inspector.panel import InspectorPanel
    from app.kit.toasts import Toasts
    from app.sidebar import Sidebar
    from app.tab_bar import TabLook, TabStrip
    from app.top_bar import TopBar
    from app.waiting_list import WaitingList

NARROW = 980
"""Below this width in pixels the sidebar gives way, and earlier if the inspector is open."""
_LARGEST = (1440, 900)


class MainWindow(QMainWindow):
    """Widgets and what they remember; what they are for is decided elsewhere.

    At first there are rooms only, with the canvas in the middle, so that the graph is on screen
    soon; `furnish` puts everything else into the rooms. `document`, `scene`, `canvas` and `minimap`
    are those of the tab in front; whoever follows them listens to `desks`.

    Attributes:
        desks: The open workflows.

    Signals:
        wished: Id of an action that is about runs or files, not about this window's look.
        file_dropped: Path of a file that was let go over the window.
        close_requested: The person wants to close the window.
        quit_requested: The person wants to end the program.
        inspector_opened: The inspector was not there a moment ago.
    """

    wished = Signal(str)
    file_dropped = Signal(object)
    close_requested = Signal()
    quit_requested = Signal()
    inspector_opened = Signal()

    actions_: Actions
    sidebar: Sidebar
    top_bar: TopBar
    dock: Dock
    inspector: InspectorPanel
    toasts: Toasts
    waiting_list: WaitingList
    tab_strip: TabStrip

    def __init__(
        self, document: WorkflowDocument, state: WindowState, theme: Theme | None = None
    ) -> None:
        super().__init__()
        self.state = state
        if theme is None:
            theme = Theme(state.text("theme", "system"), self)
            theme.set_reduced_motion(state.flag("reduced_motion", False))
        else:
            theme.setParent(None)  # several windows have it in common; it stays with the last one
        self.theme = theme
        self.desks = Desks(document, self.theme, self)
        self.is_painted = False
        self._waits = 0
        self._is_furnished = False
        self._is_chat = False
        self._sidebar_wanted = state.flag("sidebar", True)
        self._dock_folded = state.flag("dock_folded", False)
        self._inspector_wanted = state.flag("inspector", False)
        self._columns = Rooms(self.desks, self)
        self._left, self._right = self._columns.left, self._columns.right
        self.setMinimumSize(560, 420)
        self.setAcceptDrops(True)
        self.setCentralWidget(self._columns)
        self._restore_sizes()

    @property
    def document(self) -> WorkflowDocument:
        """What is open in front."""
        return self.desks.front.document

    @property
    def scene(self) -> WorkflowScene:
        """What is drawn in front."""
        return self.desks.front.scene

    @property
    def canvas(self) -> CanvasView:
        """The canvas in front."""
        return self.desks.front.canvas

    @property
    def minimap(self) -> Minimap:
        """The map of the canvas in front."""
        return self.desks.front.minimap

    def furnish(self) -> None:
        """Put sidebar, top bar, dock and what lies over them into their places."""
        # Imported here: the first frame does without them, and loading them takes as long again.
        from app.actions import Actions
        from app.dock import Dock
        from app.inspector.panel import InspectorPanel
        from app.kit.toasts import Toasts
        from app.sidebar import Sidebar
        from app.tab_bar import TabStrip
        from app.top_bar import TopBar
        from app.waiting_list import WaitingList

        self.theme.dress()
        self.actions_ = Actions(self, self._own_handlers(), self._wish)
        self.sidebar = Sidebar(self.theme, self.actions_, self)
        self.top_bar = TopBar(self.theme, self.actions_, self)
        self.dock = Dock(self.theme, self.actions_, self)
        self.inspector = InspectorPanel(self.theme, self.document, self.scene, self)
        rooms = self._columns
        put_into(rooms.left, self.sidebar)
        put_into(rooms.top, self.top_bar)
        self.tab_strip = TabStrip(self.theme, self.actions_, self)
        put_into(rooms.tabs, self.tab_strip)
        put_into(rooms.below, self.dock)
        put_into(rooms.right, self.inspector)
        self.toasts = Toasts(self.theme, self, TOP_HEIGHT + 8)
        self.waiting_list = WaitingList(self.theme, self)
        self._is_furnished = True
        self.actions_.enable({"run": False, "stop": False, "continue": False})
        self._check_theme()
        self.actions_["reduced_motion"].setChecked(self.state.flag("reduced_motion", False))
        self.actions_["minimap"].setChecked(self.state.flag("minimap", True))
        self._furnish_front()
        self._fold_dock(self._dock_folded)
        self._show_sidebar()
        self.actions_["inspector"].setChecked(self._inspector_wanted)
        self.inspector.closed.connect(self.actions_["inspector"].trigger)
        self.dock.opened.connect(self._unfold_dock)
        desks = self.desks
        desks.front_changed.connect(self._on_front_changed)
        for change in (desks.replaced, desks.edited, desks.renamed, desks.undo_changed):
            change.connect(self._show_title)
        self.theme.changed.connect(self._check_theme)
        self._show_title()

    def show_tabs(self, looks: Sequence[TabLook], front: int) -> None:
        """Show what is open; one workflow alone needs no tab."""
        self._columns.tabs.setVisible(len(looks) > 1)
        self.tab_strip.show_tabs(looks, front)

    def remember_tabs(self) -> None:
        """Keep what is open for the next start."""
        desks = [desk for desk in self.desks.all if desk.document.path is not None]
        front = desks.index(self.desks.front) if self.desks.front in desks else 0
        tabs = [(desk.document.path, desk.looking_at()) for desk in desks if desk.document.path]
        self.state.keep_tabs(tabs, front)

    def remember(self) -> None:
        """Keep sizes and switches for the next start."""
        state = self.state
        state.put("geometry", self.saveGeometry())
        self._columns.remember(state, is_folded=self._dock_folded)
        state.put("sidebar", self._sidebar_wanted)
        state.put("dock_folded", self._dock_folded)
        state.put("inspector", self._inspector_wanted)
        self.remember_tabs()
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

    def _restore_sizes(self) -> None:
        room = QGuiApplication.primaryScreen().availableGeometry()
        width, height = min(_LARGEST[0], room.width()), min(_LARGEST[1], room.height())
        self.setGeometry(
            room.x() + (room.width() - width) // 2,
            room.y() + (room.height() - height) // 2,
            width,
            height,
        )
        geometry = self.state.data("geometry")
        if geometry is not None:
            self.restoreGeometry(geometry)
        self._columns.restore(self.state, width, height)
        self._right.setVisible(self._inspector_wanted)
        self._fold_dock(self._dock_folded)
        self._show_sidebar()
        self._columns.tabs.setVisible(len(self.state.tabs()[0]) > 1)

    def _own_handlers(self) -> dict[str, Callable[[], None]]:
        return {
            "quit": self.quit_requested.emit,
            "waiting": self._toggle_waiting,
            "composer": self._go_to_composer,
            "sidebar": self._toggle_sidebar,
            "dock": self._toggle_dock,
            "inspector": self._toggle_inspector,
            "focus_chat": self._toggle_canvas,
            "zoom_in": self._zoom_in,
            "zoom_out": self._zoom_out,
            "zoom_reset": self._zoom_reset,
            "zoom_fit": self._zoom_fit,
            "zoom_chosen": self._zoom_chosen,
            "minimap": self._toggle_minimap,
            "theme_system": self._set_theme,
            "theme_light": self._set_theme,
            "theme_dark": self._set_theme,
            "reduced_motion": self._set_motion,
        }

    def show_waiting_count(self, count: int) -> None:
        """Say in the title how much waits, for those who see no more than that."""
        if count != self._waits:
            self._waits = count
            self._show_title()

    def _show_title(self) -> None:
        document = self.document
        name = visible(document.graph.name or (document.path.stem if document.path else ""))
        is_chat = is_chat_file(document.path)
        if is_chat != self._is_chat:
            self._is_chat = is_chat
            self._toggle_canvas()
            self._fold_dock(self._dock_folded)
        file = visible(document.path.name) if document.path and not is_chat else ""
        title = f"{name} ({file or 'chat'}) - OpenFlow" if document.path else "OpenFlow"
        self.setWindowTitle(f"({self._waits}) {title}" if self._waits else title)
        self.top_bar.show_document(name or "No workflow", file)
        self.top_bar.file.full_tip = str(document.path) if document.path else ""

    def _on_front_changed(self, desk: Desk) -> None:
        if self.inspector.isAncestorOf(self.focusWidget()):
            desk.canvas.setFocus()  # what is typed is finished before the fields are another's
        self._furnish_front()
        self.inspector.look_at(desk.document, desk.scene)

    def _furnish_front(self) -> None:
        desk, is_wanted = self.desks.front, self.state.flag("minimap", True)
        if not desk.is_furnished:
            desk.furnish(self.actions_, with_map=is_wanted)
        desk.minimap.set_wanted(is_wanted)

    def _wish(self, action_id: str) -> None:
        self.wished.emit(action_id)

    def _toggle_waiting(self) -> None:
        self.waiting_list.toggle()

    def _go_to_composer(self) -> None:
        self._unfold_dock()
        self.dock.write()

    def _toggle_sidebar(self) -> None:
        self._sidebar_wanted = self.actions_["sidebar"].isChecked()
        self._left.setVisible(self._sidebar_wanted)

    def _show_sidebar(self) -> None:
        needed = NARROW + (INSPECTOR_WIDTH // 2 if self._inspector_wanted else 0)
        shown = self._sidebar_wanted and self.width() > needed
        self._left.setVisible(shown)
        if self._is_furnished:
            self.actions_["sidebar"].setChecked(shown)

    def _toggle_dock(self) -> None:
        self._fold_dock(not self.actions_["dock"].isChecked())

    def _unfold_dock(self) -> None:
        if self._dock_folded:
            self._fold_dock(False)

    def _fold_dock(self, is_folded: bool) -> None:
        self._dock_folded = is_folded
        is_folded = is_folded and not self._is_chat  # a chat has nothing else
        self._columns.fold_below(is_folded)
        if self._is_furnished:
            self.dock.set_folded(is_folded)
            self.actions_["dock"].setChecked(not is_folded)

    def open_inspector(self) -> None:
        """Show the inspector and let the person write there."""
        if not self._inspector_wanted:
            self.actions_["inspector"].setChecked(True)
            self._toggle_inspector()
        else:
            self.inspector.take_focus()

    def _toggle_inspector(self) -> None:
        is_wanted = self.actions_["inspector"].isChecked()
        self._inspector_wanted = is_wanted
        had_focus = self.inspector.isAncestorOf(self.focusWidget())
        self._right.setVisible(is_wanted)
        self._show_sidebar()
        if is_wanted:
            self.inspector_opened.emit()
            self.inspector.take_focus()
        elif had_focus:
            self.canvas.setFocus()

    def _toggle_canvas(self) -> None:
        alone = self._is_chat or self.actions_["focus_chat"].isChecked()
        if alone:
            self._unfold_dock()
        self.desks.setVisible(not alone)

    def _toggle_minimap(self) -> None:
        is_wanted = self.actions_["minimap"].isChecked()
        self.minimap.set_wanted(is_wanted)
        self.state.put("minimap", is_wanted)

    def _zoom_fit(self) -> None:
        self.canvas.glide_to_fit()

    def _zoom_chosen(self) -> None:
        self.canvas.glide_to_chosen()

    def _zoom_in(self) -> None:
        self.canvas.glide_by(1.2)

    def _zoom_out(self) -> None:
        self.canvas.glide_by(1 / 1.2)

    def _zoom_reset(self) -> None:
        self.canvas.glide_by(1.0 / self.canvas.scale_now)

    def _check_theme(self) -> None:
        self.actions_[f"theme_{self.theme.mode}"].setChecked(True)

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
