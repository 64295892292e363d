"""Cards are painted once for a scale, stretched while one zooms, and sharp at rest."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication, QStyleOptionGraphicsItem

from app.canvas.card_pictures import CardPictures
from app.canvas.document import WorkflowDocument
from app.canvas.far_cards import FarCard, FarCards, FarLook
from app.canvas.graph_sketch import Card, Graph
from app.canvas.scene import WorkflowScene
from app.canvas.snapping import SnapLines
from app.theme.theme import Theme

BOUNDS = QRectF(0, 0, 20, 10)


class Board:
    """A screen with one card on it, half red and half blue."""

    def __init__(self, ratio: float = 1.0) -> None:
        self.pictures = CardPictures()
        self.painted = 0
        self._ratio = ratio

    def shown(self, scale: float, look: object = "", at: float = 0.0) -> QImage:
        image = QImage(120, 120, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(self._ratio)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        painter.scale(scale, scale)
        painter.translate(at, at)
        self.pictures.show(painter, "card", look, BOUNDS, self._paint)
        painter.end()
        return image

    def _paint(self, painter: QPainter) -> None:
        self.painted += 1
        painter.fillRect(QRectF(0, 0, 10, 10), QColor("red"))
        painter.fillRect(QRectF(10, 0, 10, 10), QColor("blue"))


def colors(image: QImage) -> set[str]:
    return {image.pixelColor(x, y).name() for x in range(120) for y in range(120)}


PLAIN = {"#ffffff", "#ff0000", "#0000ff"}


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_at_rest_a_picture_has_the_pixels_of_the_screen(qapp: QApplication, ratio: float) -> None:
    board = Board(ratio)
    assert colors(board.shown(2.0)) == PLAIN
    assert colors(board.shown(2.0, at=0.3)) == PLAIN, "wherever it lies"
    assert board.painted == 1
    board.shown(2.0, "chosen")
    board.shown(1.0, "chosen")
    assert board.painted == 3


def test_while_one_zooms_a_picture_is_stretched_until_it_rests(qapp: QApplication) -> None:
    board = Board()
    board.shown(2.0)
    board.pictures.is_zooming = True
    for scale in (2.1, 2.2, 2.3):
        board.shown(scale)
    assert (board.painted, board.pictures.are_stretched) == (1, True)
    board.shown(5.5)
    assert board.painted == 2, "too far to be stretched"
    board.pictures.is_zooming = False
    assert colors(board.shown(2.0)) == PLAIN
    assert board.painted == 3
    board.pictures.forget("card")
    board.shown(2.0)
    assert board.painted == 4


def test_cards_seen_from_afar_move_and_change_together(qapp: QApplication) -> None:
    theme = Theme("light", qapp)
    looks = {"a": FarLook(has_ring=True), "b": FarLook("completed"), "c": FarLook(is_dimmed=True)}
    places = {"a": QPointF(0, 0), "b": QPointF(0, 200), "c": QPointF(400, 0)}
    cards = FarCards(theme, lambda: [FarCard(key, places[key], looks[key], key) for key in places])
    cards.setVisible(True)

    def image() -> QImage:
        image = QImage(200, 100, QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        painter.scale(0.2, 0.2)
        cards.paint_guarded(painter, _everything())
        painter.end()
        return image

    before = image()
    cards.move({"a": QPointF(500, 300)})
    moved = image()
    assert moved != before
    places["a"] = QPointF(500, 300)
    cards.refresh()
    assert image() == moved
    looks["b"] = FarLook("failed")
    cards.refresh()
    assert image() != moved


def test_cards_snap_to_lines_near_by_and_else_to_the_grid(qapp: QApplication) -> None:
    lines = SnapLines([QRectF(100, 0, 248, 92), QRectF(100, 5000, 248, 92)])
    near = lines.snap(QRectF(104, 203, 248, 92), 7)
    assert (near.dx, near.dy) == (-4, 5)
    assert [(line.x1(), line.y1(), line.x2(), line.y2()) for line in near.guides] == [
        (100, 0, 100, 300)
    ]
    away = lines.snap(QRectF(104, 2000, 248, 92), 7)
    assert (away.dx, away.dy, away.guides) == (-8, 0, ())


def _everything() -> QStyleOptionGraphicsItem:
    option = QStyleOptionGraphicsItem()
    option.exposedRect = QRectF(-1000, -1000, 4000, 4000)
    return option


def test_a_name_cannot_turn_text_around(qapp: QApplication) -> None:
    model = WorkflowDocument()
    card = Card("a", "Delete\u202enothing\u202c", "agent", "m", None, None)
    model.show_sketch(Path("a.json"), Graph("w", "W", (card,), ()))
    assert model.label("a") == "Delete\\u202enothing\\u202c"
    scene = WorkflowScene(model, Theme("light", qapp))
    assert "\u202e" not in scene.items_by_node["a"].spoken()
    assert "\u202e" not in scene.items_by_node["a"].toolTip()
