"""The widgets of rows with controls: made when first seen, kept while their matter is open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QWidget

from app.chat.cards import Card
from app.chat.rows import Row

_KEPT = 12
"""So many cards out of view that hold nothing of the person's are kept."""

CardMaker = Callable[[Row, QWidget], Card]


class CardShelf:
    """Cards by row id. One that is out of view is hidden, and keeps what was put into it."""

    def __init__(self, viewport: QWidget, make_card: CardMaker) -> None:
        self._viewport = viewport
        self._make_card = make_card
        self._cards: dict[int, Card] = {}

    def __contains__(self, row_id: int) -> bool:
        return row_id in self._cards

    def get(self, row_id: int) -> Card | None:
        """The card of a row, if it has been made."""
        return self._cards.get(row_id)

    def is_current(self, row: Row) -> bool:
        """Whether the card of a row still shows what the row holds."""
        card = self._cards.get(row.id)
        return card is None or card.is_current

    def card(self, row: Row) -> Card:
        """The card of a row; made if there is none yet."""
        card = self._cards.get(row.id)
        if card is None:
            card = self._cards[row.id] = self._make_card(row, self._viewport)
        return card

    def place(self, places: Mapping[int, QRect]) -> None:
        """Show these cards at these places and no others."""
        for row_id, place in places.items():
            card = self._cards[row_id]
            card.setGeometry(place)
            card.show()
        hidden = [row_id for row_id in self._cards if row_id not in places]
        for row_id in hidden:
            self._cards[row_id].hide()
        idle = [row_id for row_id in hidden if not self._cards[row_id].keeps_input]
        for row_id in idle[: max(0, len(idle) - _KEPT)]:
            self.drop(row_id)

    def drop(self, row_id: int) -> None:
        """Take a card away for good."""
        card = self._cards.pop(row_id)
        card.hide()
        card.deleteLater()

    def drop_all(self, row_ids: Iterable[int]) -> None:
        """Take the cards of these rows away, where there are any."""
        for row_id in row_ids:
            if row_id in self._cards:
                self.drop(row_id)

    def clear(self) -> None:
        """Take all away."""
        self.drop_all(list(self._cards))
