"""Everything that can be asked of the window, as data: it feeds menus, keys and buttons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget


class ActionSpec(NamedTuple):
    """One thing to ask for. `keys` are portable key names; `menu` is where it is listed.

    Actions that name the same `choice` exclude each other. Those `on_canvas` take their keys only
    while the canvas has the focus: in a text the same keys mean something else.
    """

    id: str
    text: str
    keys: tuple[str, ...] = ()
    menu: str = ""
    checkable: bool = False
    choice: str = ""
    on_canvas: bool = False


ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("new", "New Workflow", ("Ctrl+N",), "File"),
    ActionSpec("new_chat", "New Chat", ("Ctrl+Alt+N",), "File"),
    ActionSpec("open", "Open Workflow…", ("Ctrl+O",), "File"),
    ActionSpec("save", "Save", ("Ctrl+S",), "File"),
    ActionSpec("save_as", "Save As…", ("Ctrl+Shift+S",), "File"),
    ActionSpec("revert", "Revert to Saved", (), "File"),
    ActionSpec("import", "Import into the Library…", (), "File"),
    ActionSpec("add_project", "Add Project Folder…", (), "File"),
    ActionSpec("open_example", "Open the Example", (), "File"),
    ActionSpec("new_window", "New Window", ("Ctrl+Shift+N",), "File"),
    ActionSpec("close_tab", "Close Tab", ("Ctrl+W",), "File"),
    ActionSpec("close_other_tabs", "Close Other Tabs", (), "File"),
    ActionSpec("reopen_tab", "Reopen Closed Tab", ("Ctrl+Shift+T",), "File"),
    ActionSpec("move_tab", "Move to New Window", (), "File"),
    ActionSpec("copy_path", "Copy Path", (), "File"),
    ActionSpec("quit", "Quit", ("Ctrl+Q",), "File"),
    ActionSpec("undo", "Undo", ("Ctrl+Z",), "Edit"),
    ActionSpec("redo", "Redo", ("Ctrl+Shift+Z", "Ctrl+Y"), "Edit"),
    ActionSpec("undo_history", "Undo History…", ("Ctrl+Alt+Z",), "Edit"),
    ActionSpec("cut", "Cut", ("Ctrl+X",), "Edit", on_canvas=True),
    ActionSpec("copy", "Copy", ("Ctrl+C",), "Edit", on_canvas=True),
    ActionSpec("paste", "Paste", ("Ctrl+V",), "Edit", on_canvas=True),
    ActionSpec("duplicate", "Duplicate", ("Ctrl+D",), "Edit", on_canvas=True),
    ActionSpec("delete", "Delete", (), "Edit"),
    ActionSpec("select_all", "Select All", ("Ctrl+A",), "Edit", on_canvas=True),
    ActionSpec("rename", "Rename…", (), "Edit"),
    ActionSpec("find", "Find and Replace…", ("Ctrl+F",), "Edit"),
    ActionSpec("compare", "Compare with…", (), "Edit"),
    ActionSpec("palette", "Find Anything…", ("Ctrl+K",), "Edit"),
    ActionSpec("settings", "Settings…", ("Ctrl+,",), "Edit"),
    ActionSpec("add_node", "Add Node…", ("Ctrl+Shift+A",), "Arrange"),
    ActionSpec("new_agent", "New Agent", (), "Arrange"),
    ActionSpec("save_agent", "Save as Agent", (), "Arrange"),
    ActionSpec("connect", "Connect to…", (), "Arrange"),
    ActionSpec("add_note", "Add Note", (), "Arrange"),
    ActionSpec("add_frame", "Add Frame", (), "Arrange"),
    ActionSpec("arrange", "Arrange Everything", ("Ctrl+Shift+L",), "Arrange"),
    ActionSpec("align_left", "Align Left", (), "Arrange"),
    ActionSpec("align_center", "Align Centers", (), "Arrange"),
    ActionSpec("align_right", "Align Right", (), "Arrange"),
    ActionSpec("align_top", "Align Top", (), "Arrange"),
    ActionSpec("align_middle", "Align Middles", (), "Arrange"),
    ActionSpec("align_bottom", "Align Bottom", (), "Arrange"),
    ActionSpec("distribute_across", "Distribute Across", (), "Arrange"),
    ActionSpec("distribute_down", "Distribute Down", (), "Arrange"),
    ActionSpec("run", "Run", ("Ctrl+Return", "Ctrl+Enter"), "Run"),
    ActionSpec("stop", "Stop", ("Ctrl+.",), "Run"),
    ActionSpec("continue", "Continue", (), "Run"),
    ActionSpec("interrupt_node", "Interrupt Node", ("Ctrl+Shift+.", "Ctrl+Shift+>"), "Run"),
    ActionSpec("retry_node", "Retry Node", ("Ctrl+Shift+R",), "Run"),
    ActionSpec("node_settings", "Node Settings for This Run…", ("Ctrl+Shift+I",), "Run"),
    ActionSpec("waiting", "What Waits for Me", ("F8",), "Run"),
    ActionSpec("next_waiting", "Next Waiting", ("Shift+F8",), "Run"),
    ActionSpec("composer", "Write a Message", ("Ctrl+L",), "Run"),
    ActionSpec("sidebar", "Sidebar", ("Ctrl+B",), "View", checkable=True),
    ActionSpec("dock", "Bottom Panel", ("Ctrl+J",), "View", checkable=True),
    ActionSpec("history", "History of Runs", ("Ctrl+H",), "View"),
    ActionSpec("tab_chat", "Chat", ("Ctrl+1",), "View"),
    ActionSpec("tab_trace", "Trace", ("Ctrl+2",), "View"),
    ActionSpec("tab_history", "History", ("Ctrl+3",), "View"),
    ActionSpec("tab_terminal", "Terminal", ("Ctrl+4",), "View"),
    ActionSpec("tab_files", "Files", ("Ctrl+5",), "View"),
    ActionSpec("inspector", "Inspector", ("Ctrl+I",), "View", checkable=True),
    ActionSpec("focus_chat", "Conversation Only", ("Ctrl+Shift+F",), "View", checkable=True),
    ActionSpec("next_tab", "Next Tab", ("Ctrl+Tab", "Ctrl+PgDown"), "View"),
    ActionSpec("previous_tab", "Previous Tab", ("Ctrl+Shift+Tab", "Ctrl+PgUp"), "View"),
    ActionSpec("zoom_in", "Zoom In", ("Ctrl++", "Ctrl+="), "View"),
    ActionSpec("zoom_out", "Zoom Out", ("Ctrl+-",), "View"),
    ActionSpec("zoom_reset", "Actual Size", ("Ctrl+0",), "View"),
    ActionSpec("zoom_fit", "Zoom to Fit", ("Ctrl+9",), "View"),
    ActionSpec("zoom_chosen", "Zoom to Selection", ("Ctrl+8",), "View"),
    ActionSpec("minimap", "Map", ("Ctrl+Shift+M",), "View", checkable=True),
    ActionSpec("tour", "Take the Tour", (), "View"),
    ActionSpec("theme_system", "Theme of the System", (), "Theme", True, "theme"),
    ActionSpec("theme_light", "Light", (), "Theme", True, "theme"),
    ActionSpec("theme_dark", "Dark", (), "Theme", True, "theme"),
    ActionSpec("reduced_motion", "Reduce Motion", (), "Theme", checkable=True),
)


class Actions:
    """The actions of one window."""

    def __init__(
        self,
        window: QWidget,
        handlers: Mapping[str, Callable[[], None]],
        wish: Callable[[str], None],
    ) -> None:
        """Make them; one that has no handler here is a wish, told by its id."""
        unknown = set(handlers) - {spec.id for spec in ACTIONS}
        if unknown:
            raise ValueError(f"handlers for actions that there are not: {unknown}")
        self._by_id: dict[str, QAction] = {}
        groups: dict[str, QActionGroup] = {}
        for spec in ACTIONS:
            action = QAction(spec.text, window)
            action.setShortcuts([QKeySequence(key) for key in spec.keys])
            action.setCheckable(spec.checkable)
            if spec.choice:
                group = groups.setdefault(spec.choice, QActionGroup(window))
                group.addAction(action)
            handler = handlers.get(spec.id) or partial(wish, spec.id)
            action.triggered.connect(_without_arguments(handler))
            if spec.on_canvas:
                action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            else:
                window.addAction(action)
            self._by_id[spec.id] = action

    def __getitem__(self, action_id: str) -> QAction:
        return self._by_id[action_id]

    def join_canvas(self, canvas: QWidget) -> None:
        """Let the keys for the canvas work while this one has the focus."""
        canvas.addActions([self._by_id[spec.id] for spec in ACTIONS if spec.on_canvas])

    def leave_canvas(self, canvas: QWidget) -> None:
        """Let them work there no longer."""
        for spec in ACTIONS:
            if spec.on_canvas:
                canvas.removeAction(self._by_id[spec.id])

    def fill(self, menu: QMenu) -> None:
        """List all actions, each menu of them as one inside this menu."""
        inside: dict[str, QMenu] = {}
        for spec in ACTIONS:
            if spec.menu not in inside:
                inside[spec.menu] = menu.addMenu(spec.menu)
            inside[spec.menu].addAction(self._by_id[spec.id])

    def enable(self, enabled: Mapping[str, bool]) -> None:
        """Set which of these can be asked for now."""
        for action_id, is_on in enabled.items():
            self._by_id[action_id].setEnabled(is_on)

    def tip(self, action_id: str) -> str:
        """The action's name with its keys, for a tooltip."""
        action = self._by_id[action_id]
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        return f"{action.text()} ({keys})" if keys else action.text()

    def ids(self) -> Iterable[str]:
        """Every action there is."""
        return self._by_id.keys()


def _without_arguments(handler: Callable[[], None]) -> Callable[[], None]:
    """Qt hands the check mark to whatever takes an argument; ours take none."""
    return lambda: handler()
