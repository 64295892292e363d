"""Ctrl+K: everything that can be done or gone to, found by typing a few letters of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence

from app.actions import ACTIONS
from app.canvas.node_look import model_line
from app.kit.choice_popup import Choice, ChoicePopup
from app.kit.visible import visible
from app.main_window import MainWindow
from app.sidebar import WorkflowEntry

Entries = Callable[[], Iterable[WorkflowEntry]]


class CommandPalette(QObject):
    """The palette of one window: its actions, the nodes of its workflow, and other workflows."""

    def __init__(
        self,
        window: MainWindow,
        workflows: Entries,
        open_workflow: Callable[[Path], None],
        settings: Callable[[], Iterable[Choice]] = tuple,
        open_setting: Callable[[str], None] | None = None,
    ) -> None:
        """Make it.

        `workflows` gives those that can be opened, `open_workflow` opens one; the same goes for
        `settings` and `open_setting`.
        """
        super().__init__(window)
        self._window = window
        self._workflows = workflows
        self._open_workflow = open_workflow
        self._settings = settings
        self._open_setting = open_setting
        self.popup = ChoicePopup(window.theme, window, "Find anything", width=520)
        self.popup.chosen.connect(self._go)

    def ask(self) -> None:
        """Open it."""
        entries = [*self._nodes(), *self._actions(), *self._files(), *self._set()]
        self.popup.ask(entries, "A node, a workflow, or what to do")

    def _nodes(self) -> Iterable[Choice]:
        for card in self._window.document.graph.cards:
            yield Choice(f"node:{card.id}", visible(card.label), model_line(card), "Node")

    def _actions(self) -> Iterable[Choice]:
        actions = self._window.actions_
        for spec in ACTIONS:
            action = actions[spec.id]
            if action.isEnabled() and spec.id != "palette":
                keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
                title = action.text().removesuffix("…")
                yield Choice(f"action:{spec.id}", title, "", keys or spec.menu)

    def _files(self) -> Iterable[Choice]:
        for entry in self._workflows():
            if entry.path != self._window.document.path:
                yield Choice(f"file:{entry.path}", entry.name, entry.path.name, "Workflow")

    def _set(self) -> Iterable[Choice]:
        for choice in self._settings():
            yield choice._replace(key=f"setting:{choice.key}")

    def _go(self, key: str) -> None:
        kind, _, rest = key.partition(":")
        if kind == "node":
            self._window.scene.choose_node(rest)
            self._window.canvas.reveal(rest)
            self._window.canvas.setFocus()
        elif kind == "action":
            self._window.actions_[rest].trigger()
        elif kind == "setting" and self._open_setting is not None:
            self._open_setting(rest)
        else:
            self._open_workflow(Path(rest))
