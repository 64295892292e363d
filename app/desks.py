"""The open workflows of a window, one on top of the other; the one in front is what it is about."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.canvas.document import WorkflowDocument
from app.desk import Desk
from app.theme.theme import Theme


class Desks(QStackedWidget):
    """A stack of canvases, never empty.

    Whoever shows something of the open workflow listens here: these signals come from the desk in
    front, whichever that is, and `replaced` comes also when another one has been put in front.

    Signals:
        front_changed: The `Desk` that is in front now.
        arrived: A `Desk` was added.
        leaving: A `Desk` is about to be taken out.
        listed: Other desks are here now, or in another order.
        replaced, edited, renamed, undo_changed: As in `WorkflowDocument`.
        node_chosen, choice_changed: As in `WorkflowScene`.
    """

    front_changed = Signal(object)
    arrived = Signal(object)
    leaving = Signal(object)
    listed = Signal()
    replaced = Signal()
    edited = Signal(object, object)
    renamed = Signal()
    undo_changed = Signal()
    node_chosen = Signal(str)
    choice_changed = Signal()

    def __init__(self, document: WorkflowDocument, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._desks: list[Desk] = []
        first = Desk(document, theme, self)
        self._desks.append(first)
        self.addWidget(first.canvas)
        self._front = first
        self._join(first)

    @property
    def front(self) -> Desk:
        """The desk that is seen."""
        return self._front

    @property
    def all(self) -> tuple[Desk, ...]:
        """Every desk, in the order of the tabs."""
        return tuple(self._desks)

    def add(self, document: WorkflowDocument, at: int | None = None) -> Desk:
        """Have a desk for this document; without a place it comes after the one in front."""
        desk = Desk(document, self._theme, self)
        self.take_in(desk, at)
        return desk

    def take_in(self, desk: Desk, at: int | None = None) -> None:
        """Take a desk that was elsewhere; without a place it comes after the one in front."""
        desk.setParent(self)
        place = self._desks.index(self._front) + 1 if at is None else at
        self._desks.insert(place, desk)
        self.addWidget(desk.canvas)
        self.arrived.emit(desk)
        self.listed.emit()

    def show_desk(self, desk: Desk) -> None:
        """Put a desk in front."""
        if desk is self._front:
            return
        focused: QWidget | None = self.window().focusWidget()
        before = self._front.canvas
        had_focus = focused is None or focused is before or before.isAncestorOf(focused)
        self._leave(self._front)
        self._front = desk
        self.setCurrentWidget(desk.canvas)
        self._join(desk)
        if had_focus:
            desk.canvas.setFocus()
        self.front_changed.emit(desk)
        self.replaced.emit()

    def give_up(self, desk: Desk) -> None:
        """Take a desk out; whoever takes it out keeps it or lets it end. There is another one."""
        place = self._desks.index(desk)
        if desk is self._front:
            after = place + 1 if place + 1 < len(self._desks) else place - 1
            self.show_desk(self._desks[after])
        self.leaving.emit(desk)
        self._desks.remove(desk)
        self.removeWidget(desk.canvas)
        self.listed.emit()

    def put_at(self, desk: Desk, place: int) -> None:
        """Put a desk elsewhere in the order."""
        self._desks.remove(desk)
        self._desks.insert(place, desk)
        self.listed.emit()

    def _join(self, desk: Desk) -> None:
        document, scene = desk.document, desk.scene
        document.replaced.connect(self.replaced)
        document.edited.connect(self.edited)
        document.renamed.connect(self.renamed)
        document.undo_changed.connect(self.undo_changed)
        scene.node_chosen.connect(self.node_chosen)
        scene.choice_changed.connect(self.choice_changed)

    def _leave(self, desk: Desk) -> None:
        document, scene = desk.document, desk.scene
        document.replaced.disconnect(self.replaced)
        document.edited.disconnect(self.edited)
        document.renamed.disconnect(self.renamed)
        document.undo_changed.disconnect(self.undo_changed)
        scene.node_chosen.disconnect(self.node_chosen)
        scene.choice_changed.disconnect(self.choice_changed)
