"""What the keys mean on the canvas: everything that a mouse can do there, and no mouse needed."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, Qt, Signal
from PySide6.QtGui import QCursor, QKeyEvent

from app.canvas import commands
from app.canvas.canvas_port import CanvasPort
from app.canvas.connect_gesture import ConnectGesture, refused_ends
from app.canvas.document import WorkflowDocument
from app.canvas.geometry import CARD_HEIGHT, CARD_WIDTH, GRID_STEP
from app.canvas.keyboard_walk import neighbour
from app.canvas.pointer import PointerControl
from app.canvas.scene import WorkflowScene

_ARROWS = {
    Qt.Key.Key_Left: "left",
    Qt.Key.Key_Right: "right",
    Qt.Key.Key_Up: "up",
    Qt.Key.Key_Down: "down",
}
_WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


class KeyboardControl(QObject):
    """The keys on one canvas.

    Signals:
        node_opened: Enter was pressed on the selected card (its id).
        rename_wanted: The selected card is to get another name (its id).
        hint: What can be pressed now, in a sentence; empty when there is nothing special.
        refused: Why something could not be done, in a sentence.
    """

    node_opened = Signal(str)
    rename_wanted = Signal(str)
    hint = Signal(str)
    refused = Signal(str)

    def __init__(
        self,
        view: CanvasPort,
        scene: WorkflowScene,
        document: WorkflowDocument,
        pointer: PointerControl,
    ) -> None:
        super().__init__(pointer.parent())
        self._view = view
        self._scene = scene
        self._document = document
        self._pointer = pointer
        self._connecting: ConnectGesture | None = None
        self._source = ""
        self._candidates: list[str] = []
        self._candidate = 0
        document.replaced.connect(self._leave)
        document.edited.connect(self._leave)

    @property
    def is_connecting(self) -> bool:
        """Whether the keys lead an edge to a card now."""
        return self._connecting is not None

    @property
    def candidates(self) -> tuple[str, ...]:
        """The cards that the edge can be led to, nearest first."""
        return tuple(self._candidates)

    def press(self, event: QKeyEvent) -> bool:
        """Do what the key means; tells whether it means anything."""
        keys = Qt.Key
        key = keys(event.key())
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key == keys.Key_Escape:
            self._escape()
            return True
        if self._connecting is not None:
            return self._press_while_connecting(key)
        plain = modifiers == Qt.KeyboardModifier.NoModifier
        shifted = modifiers == Qt.KeyboardModifier.ShiftModifier
        if (arrow := _ARROWS.get(key)) is not None and (plain or shifted):
            if shifted:
                self._nudge(arrow)
            else:
                self._walk(arrow)
            return True
        if not plain:
            return False
        chosen = self._scene.chosen_node()
        match key:
            case keys.Key_Return | keys.Key_Enter if chosen:
                self.node_opened.emit(chosen)
            case keys.Key_F2 if chosen:
                self.rename_wanted.emit(chosen)
            case keys.Key_Delete | keys.Key_Backspace:
                self.delete_chosen()
            case keys.Key_C if chosen:
                self.begin_connecting(chosen)
            case keys.Key_Tab:
                self._add()
            case keys.Key_F:
                self._view.glide_to_fit()
            case _:
                return False
        return True

    def delete_chosen(self) -> None:
        """Delete everything that is selected, in one step."""
        scene = self._scene
        nodes = [item.card.id for item in scene.chosen_items()]
        notes = [item.annotation.id for item in scene.chosen_notes()]
        if self._document.workflow is not None and (nodes or notes or scene.chosen_edges):
            commands.delete(
                self._document, nodes=nodes, edges=scene.chosen_edges, annotations=notes
            )

    def begin_connecting(self, source: str) -> None:
        """Lead an edge from a card: arrows choose where to, Enter connects, Escape leaves it."""
        document = self._document
        if document.workflow is None:
            return
        refused = refused_ends(document, source, "target")
        x, y = document.places[source]
        self._candidates = sorted(
            (key for key in document.places if key not in refused),
            key=lambda key: (
                document.places[key][0] < x,
                abs(document.places[key][0] - x) + abs(document.places[key][1] - y),
            ),
        )
        if not self._candidates:
            self.refused.emit(f"“{document.label(source)}” leads to all that it can lead to")
            return
        self._source = source
        self._connecting = ConnectGesture(
            self._scene, document, source, "target", self._pointer.offer
        )
        self._show_candidate(0)

    def _press_while_connecting(self, key: Qt.Key) -> bool:
        keys = Qt.Key
        if key in (keys.Key_Right, keys.Key_Down, keys.Key_Tab):
            self._show_candidate(self._candidate + 1)
        elif key in (keys.Key_Left, keys.Key_Up, keys.Key_Backtab):
            self._show_candidate(self._candidate - 1)
        elif key in (keys.Key_Return, keys.Key_Enter):
            gesture, self._connecting = self._connecting, None
            target = self._candidates[self._candidate]
            assert gesture is not None
            gesture.cancel()
            gesture.connect_to(target)
            self.hint.emit("")
            self._scene.choose_node(target)
        return True

    def _show_candidate(self, index: int) -> None:
        assert self._connecting is not None
        self._candidate = index % len(self._candidates)
        target = self._candidates[self._candidate]
        center = self._scene.items_by_node[target].shape_rect().center()
        self._view.reveal(target)
        self._connecting.move(center, Qt.KeyboardModifier.NoModifier)
        label = self._document.label
        self.hint.emit(
            f"Connect “{label(self._source)}” to “{label(target)}”: "
            "Enter connects, arrows choose another, Escape leaves it"
        )

    def _escape(self) -> None:
        if self._connecting is not None:
            self._leave()
        elif not self._pointer.cancel():
            self._scene.choose()

    def _leave(self, *_: object) -> None:
        """Lead the edge no further; after an edit its ends may be gone."""
        if self._connecting is not None:
            self._connecting.cancel()
            self._connecting = None
            self.hint.emit("")

    def _walk(self, direction: str) -> None:
        graph = self._document.graph
        chosen = neighbour(self._scene.chosen_node(), direction, graph.wires, self._document.places)
        if chosen:
            self._scene.choose_node(chosen)
            self._view.reveal(chosen)

    def _nudge(self, direction: str) -> None:
        """Move the selection by a step of the grid; steps in a row are one in the undo list."""
        document = self._document
        across, down = _WAYS[direction]
        nodes = {item.card.id: item.pos() for item in self._scene.chosen_items()}
        notes = {item.annotation.id: item.pos() for item in self._scene.chosen_notes()}
        if document.workflow is None or not (nodes or notes):
            return
        dx, dy = across * GRID_STEP, down * GRID_STEP
        commands.move(
            document,
            {key: (pos.x() + dx, pos.y() + dy) for key, pos in nodes.items()},
            {key: (pos.x() + dx, pos.y() + dy) for key, pos in notes.items()},
            merge="nudge " + " ".join(sorted([*nodes, *notes])),
        )
        for node_id in nodes:
            self._view.reveal(node_id)

    def _add(self) -> None:
        """A new node: after the selected card, else where the pointer is, else in the middle."""
        if self._document.workflow is None:
            return
        view, chosen = self._view, self._scene.chosen_node()
        if chosen:
            x, y = self._document.places[chosen]
            at = QPointF(x + CARD_WIDTH * 1.45, y)
            self._pointer.node_wanted.emit(at, chosen, "target")
            return
        here = view.viewport().mapFromGlobal(QCursor.pos())
        if not view.viewport().rect().contains(here):
            here = view.viewport().rect().center()
        at = view.point_of(here)
        at.setX(at.x() - CARD_WIDTH / 2)
        at.setY(at.y() - CARD_HEIGHT / 2)
        self._pointer.node_wanted.emit(at, "", "")
