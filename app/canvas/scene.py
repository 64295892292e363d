"""The drawn workflow: it listens to the document and keeps one item for each node and note."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPointF, QRectF, Signal
from PySide6.QtWidgets import QGraphicsItem, QGraphicsScene

from app.canvas.card_pictures import CardPictures
from app.canvas.document import WorkflowDocument
from app.canvas.edge_layer import EdgeHighlights, EdgeLayer
from app.canvas.edge_shape import EdgeShape
from app.canvas.far_cards import FarCard, FarCards
from app.canvas.geometry import CARD_MARGIN, DETAIL_BELOW, GROUND
from app.canvas.gesture_overlay import GestureOverlay
from app.canvas.moving_edges import MovingEdges
from app.canvas.node_item import NodeItem
from app.canvas.node_look import IDLE, NodeRunInfo
from app.canvas.note_item import NoteItem
from app.canvas.snapshot import Snapshot
from app.kit.visible import visible
from app.theme.statuses import WORKING
from app.theme.theme import Theme

if TYPE_CHECKING:
    from engine.graph.problems import Problem


_NO_CONTENTS = QGraphicsItem.GraphicsItemFlag.ItemHasNoContents


class WorkflowScene(QGraphicsScene):
    """Items for a document, and what of them is chosen.

    Signals:
        node_chosen: The selection is this one node now; empty where it is none or several.
        choice_changed: Anything about the selection is different.
    """

    node_chosen = Signal(str)
    choice_changed = Signal()

    def __init__(
        self, document: WorkflowDocument, theme: Theme, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._theme = theme
        self._items: dict[str, NodeItem] = {}
        self._notes: dict[str, NoteItem] = {}
        self._infos: Mapping[str, NodeRunInfo] = {}
        self._hovered: EdgeShape | None = None
        self._chosen_edges: frozenset[str] = frozenset()
        self._target = ""
        self._edges = EdgeLayer(theme)
        self._highlights = EdgeHighlights(theme)
        self._far = FarCards(theme, self._far_cards)
        self.pictures = CardPictures()
        self.overlay = GestureOverlay(theme)
        # A fixed, huge ground: nothing that is moved can make the view jump.
        self.setSceneRect(GROUND)
        for item in (self._edges, self._highlights, self._far, self.overlay):
            self.addItem(item)
        self._moving = MovingEdges(self, self._edges, theme)
        document.replaced.connect(self._rebuild)
        document.edited.connect(self._follow)
        theme.changed.connect(self._restyle)
        self.selectionChanged.connect(self._tell_choice)
        self._rebuild()

    @property
    def items_by_node(self) -> Mapping[str, NodeItem]:
        """The card of each node."""
        return self._items

    @property
    def notes(self) -> Mapping[str, NoteItem]:
        """The item of each note and frame."""
        return self._notes

    @property
    def edges(self) -> EdgeLayer:
        """All edges."""
        return self._edges

    @property
    def chosen_edges(self) -> frozenset[str]:
        """Ids of the edges that are selected."""
        return self._chosen_edges

    def content_rect(self) -> QRectF:
        """What encloses all cards and notes; empty where there is none."""
        rect = self.bounds_of(self._items, self._notes)
        if rect.isEmpty():
            return rect
        return rect.adjusted(-CARD_MARGIN, -CARD_MARGIN, CARD_MARGIN, CARD_MARGIN)

    def bounds_of(self, node_ids: Collection[str], note_ids: Collection[str] = ()) -> QRectF:
        """What encloses these cards and notes."""
        rect = QRectF()
        for node_id in node_ids:
            rect = rect.united(self._items[node_id].shape_rect())
        for note_id in note_ids:
            rect = rect.united(self._notes[note_id].shape_rect())
        return rect

    def has_cards_in(self, rect: QRectF) -> bool:
        """Whether a card or a note lies in this part of the scene, if only with an edge."""
        rects = [item.shape_rect() for item in self._items.values()]
        rects += [note.shape_rect() for note in self._notes.values()]
        return any(shown.intersects(rect) for shown in rects)

    def show_run(self, infos: Mapping[str, NodeRunInfo]) -> None:
        """Show how the nodes stand; nodes that are not named are idle."""
        self._infos = infos
        for node_id, item in self._items.items():
            item.show_info(infos.get(node_id, IDLE))
        self._far.refresh()
        self._highlight()

    def show_problems(self, problems: Iterable[Problem]) -> None:
        """Mark the nodes that something is wrong with, and no others."""
        by_node: dict[str, list[str]] = {}
        for problem in problems:
            if problem.node_id is not None:
                by_node.setdefault(problem.node_id, []).append(problem.message)
        for node_id, item in self._items.items():
            item.show_problems(tuple(by_node.get(node_id, ())))
        self._far.refresh()

    def seen_at(self, scale: float) -> None:
        """It is looked at from this distance: from afar one item stands for all cards."""
        is_far = scale < DETAIL_BELOW
        if is_far != self._far.isVisible():
            self._far.setVisible(is_far)
            for item in self._items.values():
                item.setFlag(_NO_CONTENTS, is_far)

    def chosen_items(self) -> list[NodeItem]:
        """The selected cards."""
        return [item for item in self.selectedItems() if isinstance(item, NodeItem)]

    def chosen_notes(self) -> list[NoteItem]:
        """The selected notes and frames."""
        return [item for item in self.selectedItems() if isinstance(item, NoteItem)]

    def chosen_node(self) -> str:
        """The one selected node, or an empty text."""
        chosen = [item.card.id for item in self.chosen_items()]
        return chosen[0] if len(chosen) == 1 else ""

    def choose_node(self, node_id: str) -> None:
        """Select one node, or with an empty text none."""
        if node_id == self.chosen_node() and not self._chosen_edges:
            return
        self.choose(nodes=[node_id] if node_id else [])

    def choose(
        self,
        *,
        nodes: Collection[str] = (),
        edges: Collection[str] = (),
        notes: Collection[str] = (),
    ) -> None:
        """Select these and nothing else; what is not there is left out."""
        self.blockSignals(True)
        self.clearSelection()
        for found in (
            *(self._items[key] for key in nodes if key in self._items),
            *(self._notes[key] for key in notes if key in self._notes),
        ):
            found.setSelected(True)
        self._chosen_edges = frozenset(key for key in edges if self._edges.edge(key) is not None)
        self.blockSignals(False)
        self._tell_choice()

    def choose_edges(self, edges: Collection[str]) -> None:
        """Select these edges besides the cards that are selected."""
        self._chosen_edges = frozenset(edges)
        self._tell_choice()

    def card_at(self, point: QPointF) -> NodeItem | None:
        """The card at a point of the scene, the topmost one."""
        for item in self.items(point):
            if isinstance(item, NodeItem) and item.shape_rect().contains(point):
                return item
        return None

    def hover(self, point: QPointF | None) -> EdgeShape | None:
        """Let the edge below the pointer stand out; returns it."""
        shape = None
        if point is not None and self.card_at(point) is None:
            shape = self._edges.edge_at(point)
        if shape is not self._hovered:
            self._hovered = shape
            self._highlight()
        return shape

    def dim(self, node_ids: Collection[str]) -> None:
        """Let these cards stand back, and no others."""
        for node_id, item in self._items.items():
            item.set_dimmed(node_id in node_ids)
        self._far.refresh()

    def mark_target(self, node_id: str) -> None:
        """Let the card that an edge would go to stand out; an empty text means none."""
        if node_id != self._target:
            for key in (self._target, node_id):
                if key in self._items:
                    self._items[key].set_target(key == node_id)
            self._target = node_id
            self._far.refresh()

    def hide_edge(self, edge_id: str) -> None:
        """Leave one edge out, since another is drawn in its place."""
        self._edges.leave_out(edge_id)
        self._highlight()

    def lift(self, node_ids: Collection[str]) -> None:
        """These cards are going to be moved together, until `settle` or an edit."""
        self.settle()
        self._moving.begin(node_ids, self._items)
        self._highlight()

    def settle(self) -> None:
        """Nothing is moved any more."""
        if self._moving.is_active:
            self._moving.end()
            self._highlight()

    def show_moved(self, nodes: Mapping[str, QPointF], notes: Mapping[str, QPointF]) -> None:
        """Show lifted cards, and notes, elsewhere, edges along with them.

        The document is as it was.
        """
        for node_id, point in nodes.items():
            self._items[node_id].setPos(point)
        for note_id, point in notes.items():
            self._notes[note_id].setPos(point)
        self._far.move(nodes)
        self._moving.follow(self._items)

    def _rebuild(self) -> None:
        self.settle()
        for item in (*self._items.values(), *self._notes.values()):
            self.removeItem(item)
        self._items, self._notes = {}, {}
        self.pictures.clear()
        self._infos = {}
        self._hovered = None
        self._chosen_edges = frozenset()
        places = self._document.places
        for card in self._document.graph.cards:
            self._add_card(card.id, places[card.id])
        self._far.refresh()
        self._edges.show_wires(self._document.graph.wires, places)
        self._show_notes()
        self._highlight()

    def _follow(self, before: Snapshot, after: Snapshot) -> None:
        """Change what was changed; everything else stays, the selection included.

        What is there anew, such as nodes whose deletion was undone, is chosen.
        """
        self.settle()
        for card_id in before.cards.keys() - after.cards.keys():
            self.removeItem(self._items.pop(card_id))
            self.pictures.forget(card_id)
        for card_id, card in after.cards.items():
            item = self._items.get(card_id)
            place = after.places[card_id]
            if item is None:
                self._add_card(card_id, place)
            else:
                if item.card is not card:
                    item.show_card(card)
                item.setPos(*place)
        self._far.refresh()
        self._edges.show_wires(after.graph.wires, after.places)
        self._hovered = None
        self._chosen_edges = frozenset(
            key for key in self._chosen_edges if self._edges.edge(key) is not None
        )
        known = self._show_notes()
        notes = self._notes.keys() - known
        cards = after.cards.keys() - before.cards.keys()
        if cards or notes:
            self.choose(nodes=cards, notes=notes)
        else:
            self._highlight()
            self.choice_changed.emit()

    def _add_card(self, node_id: str, place: tuple[float, float]) -> None:
        card = self._document.card(node_id)
        assert card is not None
        item = self._items[node_id] = NodeItem(card, self._theme, self.pictures)
        item.setFlag(_NO_CONTENTS, self._far.isVisible())
        item.show_info(self._infos.get(node_id, IDLE))
        item.setPos(*place)
        self.addItem(item)

    def _show_notes(self) -> set[str]:
        """Show the notes of the document; gives the ids of those that were there before."""
        known = set(self._notes)
        workflow = self._document.workflow
        wanted = {} if workflow is None else {note.id: note for note in workflow.annotations}
        for note_id in self._notes.keys() - wanted.keys():
            self.removeItem(self._notes.pop(note_id))
        for note_id, note in wanted.items():
            item = self._notes.get(note_id)
            if item is None:
                item = self._notes[note_id] = NoteItem(note, self._theme)
                self.addItem(item)
            else:
                item.show_annotation(note)
        return known

    def _highlight(self) -> None:
        """Edges into working nodes, the hovered one, and those of the selection."""
        groups: dict[str, list[EdgeShape]] = {}
        live = {key for key, info in self._infos.items() if info.status in WORKING}
        if live:
            into = [s for s in self._edges.shapes_at(live) if s.wire.target in live]
            groups["running"] = into
        if self._hovered is not None:
            groups["text_second"] = [self._hovered]
        chosen = {item.card.id for item in self.chosen_items()}
        picked = [self._edges.edge(key) for key in sorted(self._chosen_edges)]
        accent = self._edges.shapes_at(chosen) + [shape for shape in picked if shape is not None]
        if accent:
            groups["accent"] = accent
        edges = self._edges
        self._highlights.show_groups(
            {
                token: [
                    shape
                    for shape in found
                    if shape.wire.id != edges.hidden and not edges.is_lifted(shape.wire.id)
                ]
                for token, found in groups.items()
            }
        )

    def _restyle(self) -> None:
        for card in self._items.values():
            card.restyle()
        for note in self._notes.values():
            note.restyle()
        self._edges.update()
        self._highlights.update()
        self._moving.restyle()
        self._far.refresh()
        self.overlay.update()

    def _far_cards(self) -> list[FarCard]:
        return [
            FarCard(key, item.pos(), item.far_look(), visible(item.card.label))
            for key, item in self._items.items()
        ]

    def _tell_choice(self) -> None:
        self._far.refresh()
        self._highlight()
        self.node_chosen.emit(self.chosen_node())
        self.choice_changed.emit()
