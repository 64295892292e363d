"""The bar above the canvas: what is open, what waits, whether it can run, Run and Stop."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from app.actions import Actions
from app.kit.elided_label import ElidedLabel
from app.kit.formats import plural
from app.theme.status_mark import StatusMark
from app.theme.theme import Theme


class TopBar(QFrame):
    """Shows the state of the open workflow; its buttons trigger the window's actions."""

    def __init__(self, theme: Theme, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._actions = actions
        self.setProperty("kind", "panel")
        self.sidebar_button = self._tool("sidebar")
        self.title = ElidedLabel(parent=self)
        self.title.setProperty("kind", "title")
        self.file = ElidedLabel(parent=self, yields=True)
        self.file.setProperty("kind", "small")
        self._save_mark = StatusMark(theme, "dots", "idle", 11, self)
        self.save_state = QLabel(self)
        self.save_state.setProperty("kind", "small")
        self.waiting = QPushButton(self)
        self.waiting.setProperty("kind", "waiting")
        self.waiting.clicked.connect(actions["waiting"].trigger)
        self.chip = ReadinessChip(theme, self)
        self.run = QPushButton("Run", self)
        self.run.setProperty("kind", "primary")
        self.run.clicked.connect(actions["run"].trigger)
        self.stop = QPushButton("Stop", self)
        self.stop.clicked.connect(actions["stop"].trigger)
        self.inspector_button = self._tool("inspector")
        self.menu_button = QToolButton(self)
        self.menu_button.setAccessibleName("Menu")
        self.menu_button.setToolTip("Menu")
        self.menu_button.clicked.connect(self._open_menu)
        self._menu: QMenu | None = None
        self._build()
        actions["run"].changed.connect(self._follow_actions)
        actions["stop"].changed.connect(self._follow_actions)
        theme.changed.connect(self._dress)
        self._dress()
        self._follow_actions()
        self.show_waiting(0)
        self.show_save_state("empty", "")

    def show_document(self, name: str, file: str) -> None:
        """Say what is open."""
        self.title.setText(name)
        self.title.updateGeometry()
        self.file.setText(file)
        self.file.updateGeometry()

    def show_save_state(self, state: str, words: str) -> None:
        """Say whether the file has everything: `saved`, `edited`, `saving` or `empty`."""
        self.save_state.setText(words)
        self.save_state.setVisible(bool(words))
        self.save_state.setAccessibleName(f"File: {words}")
        self._save_mark.setVisible(bool(words))
        marks = {"saved": ("check", "idle"), "saving": ("dots", "idle")}
        self._save_mark.show_mark(*marks.get(state, ("disc", "waiting")))

    def show_waiting(self, count: int) -> None:
        """Say how much waits for the person, in every run."""
        self.waiting.setVisible(count > 0)
        self.waiting.setText(f"{count} waiting")
        self.waiting.setAccessibleName(f"{plural(count, 'thing')} waiting for you")
        self.waiting.setToolTip(self._actions.tip("waiting"))

    def show_running(self, is_running: bool) -> None:
        """One slot for two buttons: Stop while a run is on, else Run."""
        had_focus = self.run.hasFocus() or self.stop.hasFocus()
        self.run.setVisible(not is_running)
        self.stop.setVisible(is_running)
        if had_focus:
            (self.stop if is_running else self.run).setFocus()

    def _tool(self, action_id: str) -> QToolButton:
        button = QToolButton(self)
        button.setCheckable(True)
        action = self._actions[action_id]
        button.setToolTip(self._actions.tip(action_id))
        button.setAccessibleName(action.text())
        button.clicked.connect(action.trigger)
        action.toggled.connect(button.setChecked)
        return button

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 0, 10, 0)
        row.setSpacing(8)
        row.addWidget(self.sidebar_button)
        row.addSpacing(4)
        row.addWidget(self.title)
        row.addWidget(self.file, 1)
        row.addWidget(self._save_mark)
        row.addWidget(self.save_state)
        row.addSpacing(4)
        row.addWidget(self.waiting)
        row.addWidget(self.chip)
        row.addSpacing(4)
        row.addWidget(self.run)
        row.addWidget(self.stop)
        row.addWidget(self.inspector_button)
        row.addWidget(self.menu_button)

    def _follow_actions(self) -> None:
        self.run.setEnabled(self._actions["run"].isEnabled())
        self.stop.setEnabled(self._actions["stop"].isEnabled())
        self.run.setToolTip(self._actions["run"].toolTip())
        self.stop.setToolTip(self._actions.tip("stop"))

    def _open_menu(self) -> None:
        if self._menu is None:
            self._menu = QMenu(self)
            self._actions.fill(self._menu)
        corner = QPoint(self.menu_button.width() - self._menu.sizeHint().width(), 0)
        corner.setY(self.menu_button.height() + 4)
        self._menu.popup(self.menu_button.mapToGlobal(corner))

    def _dress(self) -> None:
        icons = self._theme.icons
        self.sidebar_button.setIcon(icons.icon("sidebar"))
        self.inspector_button.setIcon(icons.icon("inspector"))
        self.menu_button.setIcon(icons.icon("menu"))
        self.run.setIcon(icons.icon("run", "on_accent", 14))
        self.stop.setIcon(icons.icon("stop", "failed", 14))
        for button in (self.run, self.stop):
            button.setIconSize(QSize(14, 14))


class ReadinessChip(QFrame):
    """Whether the open workflow can run, and why or why not."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "chip")
        self._mark = StatusMark(theme, "dots", "idle", 12, self)
        self._label = ElidedLabel(parent=self)
        self._label.setProperty("kind", "small")
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 0, 12, 0)
        row.setSpacing(6)
        row.addWidget(self._mark)
        row.addWidget(self._label, 1)
        self.setFixedHeight(26)
        self.setMaximumWidth(400)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.show_state("checking", "Getting ready…")

    @property
    def text(self) -> str:
        """The sentence that is shown."""
        return self._label.text()

    def show_state(self, state: str, sentence: str) -> None:
        """Show `checking`, `ready`, `empty` or `blocked` with its reason."""
        mark, color = {
            "checking": ("dots", "idle"),
            "ready": ("check", "done"),
            "empty": ("ring", "idle"),
        }.get(state, ("cross", "failed"))
        self._mark.show_mark(mark, color)
        self._label.setText(sentence)
        self._label.full_tip = sentence
        self._label.updateGeometry()
        self.setAccessibleName(f"Readiness: {sentence}")
