"""The workflow that a window has open: what is drawn, where, and the only way to change it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from app.canvas.auto_layout import Place
from app.canvas.graph_sketch import EMPTY_GRAPH, Card, Graph
from app.canvas.snapshot import EMPTY, EditCommand, Snapshot, drawn, of_workflow, same_workflow
from app.kit.visible import visible

if TYPE_CHECKING:
    from engine.graph.workflow import Workflow

Change = Callable[["Workflow"], "Workflow"]


class NotEditable(Exception):
    """Nothing is open, or its full model has not been read yet."""

    def __init__(self) -> None:
        super().__init__("the workflow is still being read; try again in a moment")


class WorkflowDocument(QObject):
    """The open workflow; views listen to it and never change it behind its back.

    Attributes:
        path: The file, or `None` for a workflow that has none yet, and where nothing is open.
        undo_stack: Every change since it was opened; clean where the file has the same.

    Signals:
        replaced: Another workflow is to be drawn.
        edited: The workflow was changed, undone or redone; has the `Snapshot` before and after.
        renamed: It has another path.
        undo_changed: Something else can be undone or redone, or the file is up to date or not.
    """

    replaced = Signal()
    edited = Signal(object, object)
    renamed = Signal()
    undo_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path: Path | None = None
        self.undo_stack = QUndoStack(self)
        # Told again from here: at the end the stack is emptied when nobody is there to listen.
        self.undo_stack.indexChanged.connect(self._tell_undo)
        self.undo_stack.cleanChanged.connect(self._tell_undo)
        self._now: Snapshot = EMPTY
        self._typing = 0

    @property
    def workflow(self) -> Workflow | None:
        """The full model, or `None` until it has been read and checked."""
        return self._now.workflow

    @property
    def graph(self) -> Graph:
        """What is drawn of it."""
        return self._now.graph

    @property
    def places(self) -> Mapping[str, Place]:
        """Card id to top left corner, in scene units."""
        return self._now.places

    @property
    def is_arranged(self) -> bool:
        """Whether the places were chosen by the program, since those of the file are of no use."""
        return self._now.is_arranged

    @property
    def is_changed(self) -> bool:
        """Whether there is something that the file does not have."""
        return not self.undo_stack.isClean()

    def show_sketch(self, path: Path, graph: Graph) -> None:
        """Show a graph whose full model is still to be read."""
        self._show(path, drawn(graph, None))

    def show_workflow(self, path: Path | None, workflow: Workflow) -> None:
        """Show a workflow that was read and is well formed; there is nothing to undo in it."""
        snapshot = of_workflow(workflow)
        if path == self.path and snapshot.graph == self.graph:
            self._now = snapshot._replace(places=self._now.places)
            self.undo_stack.clear()
            self.edited.emit(self._now, self._now)
        else:
            self._show(path, snapshot)

    def reload(self, workflow: Workflow) -> None:
        """Show what its file has now; there is nothing to undo in it."""
        self._show(self.path, of_workflow(workflow))

    def clear(self) -> None:
        """Show nothing."""
        self._show(None, drawn(EMPTY_GRAPH, None))

    def move_to(self, path: Path) -> None:
        """The workflow belongs to another file from now on."""
        self.path = path
        self.renamed.emit()

    def edit(self, text: str, change: Change, *, merge: str = "") -> bool:
        """Change the workflow in one step that can be undone.

        Args:
            text: What the step is called in the undo list, as an imperative: `Rename node`.
            change: Gives the changed workflow; its exceptions are the caller's.
            merge: Steps in a row with the same text here become one, as typing does, until
                `end_typing`.

        Returns:
            Whether anything is different now.

        Raises:
            NotEditable: There is no full model.
        """
        before = self._now
        if before.workflow is None:
            raise NotEditable
        workflow = change(before.workflow)
        if same_workflow(workflow, before.workflow):
            return False
        after = of_workflow(workflow, before)
        key = f"{merge}#{self._typing}" if merge else ""
        self.undo_stack.push(EditCommand(text, self._become, before, after, key))
        return True

    def end_typing(self) -> None:
        """What is typed from now on is a step of its own."""
        self._typing += 1

    def label(self, node_id: str) -> str:
        """What a person calls the node; its id where it is not in this workflow.

        What could turn text around or hide in it is written out.
        """
        card = self.card(node_id)
        return visible(card.label if card else node_id)

    def card(self, node_id: str) -> Card | None:
        """The card of a node, if there is one."""
        return self._now.cards.get(node_id)

    def _tell_undo(self, _: int | bool) -> None:
        self.undo_changed.emit()

    def _become(self, snapshot: Snapshot) -> None:
        before, self._now = self._now, snapshot
        self.edited.emit(before, snapshot)

    def _show(self, path: Path | None, snapshot: Snapshot) -> None:
        self.path = path
        self._now = snapshot
        self.undo_stack.clear()
        self.replaced.emit()
