"""The drawn workflow: it listens to the document and keeps one item for each node."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, QPointF, QRectF, Signal
from PySide6.QtWidgets import QGraphicsScene

from app.canvas.document import WorkflowDocument
from app.canvas.edge_layer import EdgeHighlights, EdgeLayer, EdgeShape
from app.canvas.geometry import CARD_MARGIN
from app.canvas.node_item import NodeItem
from app.canvas.node_look import IDLE, NodeRunInfo
from app.canvas.snapshot import Snapshot
from app.theme.statuses import WORKING
from app.theme.theme import Theme

_GROUND = QRectF(-100_000, -100_000, 200_000, 200_000)


class WorkflowScene(QGraphicsScene):
    """Items for a document.

    Signals:
        node_chosen: The selection is this one node now; empty where it is none or several.
    """

    node_chosen = Signal(str)

    def __init__(
        self, document: WorkflowDocument, theme: Theme, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._theme = theme
        self._items: dict[str, NodeItem] = {}
        self._infos: Mapping[str, NodeRunInfo] = {}
        self._hovered: EdgeShape | None = None
        self._edges = EdgeLayer(theme)
        self._highlights = EdgeHighlights(theme)
        # A fixed, huge ground: nothing that is moved can make the view jump.
        self.setSceneRect(_GROUND)
        self.addItem(self._edges)
        self.addItem(self._highlights)
        document.replaced.connect(self._rebuild)
        document.edited.connect(self._follow)
        theme.changed.connect(self._restyle)
        self.selectionChanged.connect(self._tell_choice)
        self._rebuild()

    @property
    def items_by_node(self) -> Mapping[str, NodeItem]:
        """The card of each node."""
        return self._items

    def content_rect(self) -> QRectF:
        """What encloses all cards; empty where there is none."""
        rect = QRectF()
        for item in self._items.values():
            rect = rect.united(item.shape_rect())
        if rect.isEmpty():
            return rect
        return rect.adjusted(-CARD_MARGIN, -CARD_MARGIN, CARD_MARGIN, CARD_MARGIN)

    def has_cards_in(self, rect: QRectF) -> bool:
        """Whether a card lies in this part of the scene, if only with an edge."""
        return any(item.shape_rect().intersects(rect) for item in self._items.values())

    def show_run(self, infos: Mapping[str, NodeRunInfo]) -> None:
        """Show how the nodes stand; nodes that are not named are idle."""
        self._infos = infos
        for node_id, item in self._items.items():
            item.show_info(infos.get(node_id, IDLE))
        self._highlight()

    def chosen_node(self) -> str:
        """The one selected node, or an empty text."""
        chosen = [item.card.id for item in self.selectedItems() if isinstance(item, NodeItem)]
        return chosen[0] if len(chosen) == 1 else ""

    def choose_node(self, node_id: str) -> None:
        """Select one node, or with an empty text none."""
        if node_id == self.chosen_node():
            return
        self.blockSignals(True)
        self.clearSelection()
        if (item := self._items.get(node_id)) is not None:
            item.setSelected(True)
        self.blockSignals(False)
        self._tell_choice()

    def hover(self, point: QPointF | None) -> EdgeShape | None:
        """Let the edge below the pointer stand out; returns it."""
        shape = None
        if point is not None and not any(
            item.shape_rect().contains(point) for item in self._items_near(point)
        ):
            shape = self._edges.edge_at(point)
        if shape is not self._hovered:
            self._hovered = shape
            self._highlight()
        return shape

    def _items_near(self, point: QPointF) -> list[NodeItem]:
        return [item for item in self.items(point) if isinstance(item, NodeItem)]

    def _rebuild(self) -> None:
        for item in self._items.values():
            self.removeItem(item)
        self._items = {}
        self._infos = {}
        self._hovered = None
        places = self._document.places
        for card in self._document.graph.cards:
            item = NodeItem(card, self._theme)
            item.setPos(*places[card.id])
            self.addItem(item)
            self._items[card.id] = item
        self._edges.show_wires(self._document.graph.wires, places)
        self._highlight()

    def _follow(self, before: Snapshot, after: Snapshot) -> None:
        """Change what was changed; everything else stays, the selection included."""
        for card_id in before.cards.keys() - after.cards.keys():
            self.removeItem(self._items.pop(card_id))
        for card_id, card in after.cards.items():
            item = self._items.get(card_id)
            if item is None:
                item = self._items[card_id] = NodeItem(card, self._theme)
                item.show_info(self._infos.get(card_id, IDLE))
                self.addItem(item)
            elif item.card is not card:
                item.show_card(card)
            place = after.places[card_id]
            if before.places.get(card_id) != place:
                item.setPos(*place)
        if after.graph.wires is not before.graph.wires or after.places != before.places:
            self._hovered = None
            self._edges.show_wires(after.graph.wires, after.places)
        self._highlight()

    def _highlight(self) -> None:
        """Edges into working nodes, the hovered one, and those of the selection."""
        groups: dict[str, list[EdgeShape]] = {}
        live = {key for key, info in self._infos.items() if info.status in WORKING}
        if live:
            running = [shape for shape in self._edges.shapes() if shape.wire.target in live]
            groups["running"] = running
        if self._hovered is not None:
            groups["text_second"] = [self._hovered]
        chosen = frozenset(
            item.card.id for item in self.selectedItems() if isinstance(item, NodeItem)
        )
        if chosen:
            groups["accent"] = self._edges.shapes_at(chosen)
        self._highlights.show_groups(groups)

    def _restyle(self) -> None:
        for item in self._items.values():
            item.restyle()
        self._edges.update()
        self._highlights.update()

    def _tell_choice(self) -> None:
        self._highlight()
        self.node_chosen.emit(self.chosen_node())
