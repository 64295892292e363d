"""A window with an editable canvas and a hand over it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.canvas import commands
from app.canvas.document import WorkflowDocument
from app.editing import Editing
from app.first_window import window_with
from app.kit.window_state import WindowState
from app.main_window import MainWindow
from engine.graph.serialization import dump_workflow
from engine.graph.workflow import Workflow
from tests.support.canvas_hand import CanvasHand

EMPTY = Workflow(id="empty", name="Empty", nodes=(), edges=())


class Canvas:
    def __init__(self, qapp: QApplication, workflow: Workflow) -> None:
        self.window: MainWindow = window_with(None, WindowState(None))
        self.window.theme.set_reduced_motion(True)
        self.window.resize(1400, 1000)
        self.window.furnish()
        self.window.wished.connect(self._wish)
        self.editing = Editing(self.window)
        self.document: WorkflowDocument = self.window.document
        self.document.show_workflow(Path("a.workflow.json"), workflow)
        self.window.show()
        self.window.activateWindow()
        qapp.processEvents()
        self.window.canvas.fit()
        self.window.canvas.setFocus()
        self.hand = CanvasHand(self.window)

    def _wish(self, action_id: str) -> None:
        assert self.editing.act(action_id), action_id

    def ids(self) -> list[str]:
        return [card.id for card in self.document.graph.cards]

    def labels(self) -> list[str]:
        return [card.label for card in self.document.graph.cards]

    def id_of(self, label: str) -> str:
        return next(card.id for card in self.document.graph.cards if card.label == label)

    def pairs(self) -> set[tuple[str, str]]:
        label = self.document.label
        return {(label(wire.source), label(wire.target)) for wire in self.document.graph.wires}

    def chosen(self) -> set[str]:
        return {item.card.id for item in self.window.scene.chosen_items()}

    def steps(self) -> int:
        return self.document.undo_stack.count()

    def text(self) -> str:
        assert self.document.workflow is not None
        return dump_workflow(self.document.workflow)

    def trigger(self, action_id: str) -> None:
        self.window.actions_[action_id].trigger()

    def add(self, label: str, x: float, y: float = 0.0) -> str:
        """Add a node without hands; give its id."""
        node_id = commands.add_node(self.document, (x, y))
        commands.rename(self.document, node_id, label)
        return node_id
