"""The virtual list: long conversations are cheap, and what is read stays where it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.chat.cards import Card, FailureCard
from app.chat.intents import ChatIntents
from app.chat.rows import ASSISTANT, FAILURE, THINKING, USER, Row
from app.chat.transcript_model import TranscriptModel
from app.chat.transcript_view import TranscriptView
from app.theme.theme import Theme


class Screen:
    def __init__(self) -> None:
        self.owner = QWidget()
        self.theme = Theme("light", self.owner)
        self.intents = ChatIntents(self.owner)
        self.made = 0
        self.model = TranscriptModel(self.owner)
        self.view = TranscriptView(self.theme, self._card, self.owner)
        self.owner.resize(700, 400)
        self.view.resize(700, 400)
        self.view.set_model(self.model)
        self.owner.show()
        QApplication.processEvents()

    def _card(self, row: Row, parent: QWidget) -> Card:
        self.made += 1
        return FailureCard(row, self.intents, self.theme, parent)

    def add(
        self, count: int, text: str = "A message of some length, so that it is worth a line."
    ) -> None:
        for _ in range(count):
            self.model.add(ASSISTANT, "a", "A", 0.0, text)
        self.model.flush()

    def mouse(self, kind: QEvent.Type, at: QPoint) -> None:
        button = Qt.MouseButton.LeftButton
        event = QMouseEvent(
            kind, QPointF(at), QPointF(at), button, button, Qt.KeyboardModifier.NoModifier
        )
        QApplication.sendEvent(self.view.viewport(), event)


@pytest.fixture
def screen(qapp: QApplication) -> Iterator[Screen]:
    screen = Screen()
    yield screen
    screen.owner.hide()
    screen.owner.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def test_the_end_stays_in_view_as_rows_are_added(screen: Screen) -> None:
    screen.add(200)
    assert screen.view.is_at_end
    bar = screen.view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0

    row = screen.model.add(ASSISTANT, "a", "A", 0.0)
    row.is_open = True
    for _ in range(30):
        screen.model.extend(row, "more and more text arrives in this message\n\n")
        screen.model.flush()
        assert bar.value() == bar.maximum()
    assert screen.view.shown_texts()[-1] == row.text


def test_whoever_reads_further_up_is_left_in_peace(screen: Screen) -> None:
    screen.add(200)
    bar = screen.view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    shown = screen.view.shown_texts()
    value = bar.value()

    screen.add(50, "new")

    assert bar.value() == value < bar.maximum()
    assert screen.view.shown_texts() == shown
    button = screen.view.findChildren(QWidget, "jump-to-end")[0]
    assert button.isVisible()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert screen.view.is_at_end
    assert screen.view.shown_texts()[-1] == "new"
    assert not button.isVisible()


def test_only_what_is_seen_is_laid_out(screen: Screen) -> None:
    screen.add(5000)
    assert len(screen.view._blocks) < 80
    for value in range(0, screen.view.verticalScrollBar().maximum(), 2000):
        screen.view.verticalScrollBar().setValue(value)
    assert len(screen.view._blocks) < 80


def test_scrolling_up_step_by_step_reaches_the_first_row(screen: Screen) -> None:
    for index in range(60):
        screen.model.add(ASSISTANT, "a", "A", 0.0, f"{index}\n\n" + "line\n\n" * (index % 9))
    screen.model.flush()
    bar = screen.view.verticalScrollBar()
    steps = 0
    while bar.value() > 0:
        bar.setValue(bar.value() - 35)
        steps += 1
        assert steps < 2000
    assert screen.view.shown_texts()[0].startswith("0\n")


def test_cards_keep_what_was_put_into_them(screen: Screen) -> None:
    row = screen.model.add(FAILURE, "a", "A", 0.0, "it broke")
    row.is_open, row.payload = True, True
    screen.model.flush()
    card = screen.view.card_of(row.id)
    assert card is not None
    assert card.isVisible()

    screen.add(100)
    assert not card.isVisible()
    screen.view.verticalScrollBar().setValue(0)
    assert screen.view.card_of(row.id) is card
    assert card.isVisible()
    assert screen.made == 1

    row.is_open = False
    screen.model.touch(row)
    screen.model.flush()
    assert screen.view.card_of(row.id) is None


def test_a_folded_row_opens_with_a_click(screen: Screen) -> None:
    row = screen.model.add(THINKING, "a", "A", 0.0, "First this, then that.")
    screen.model.flush()
    height = screen.view._heights[0]
    screen.mouse(QEvent.Type.MouseButtonPress, QPoint(80, 16 + 24 + 10))
    assert not row.is_folded
    assert screen.view._heights[0] > height


def test_text_can_be_selected_and_copied(screen: Screen) -> None:
    screen.model.add(USER, "a", "A", 0.0, "Take me along")
    screen.model.flush()
    block = screen.view._blocks.block(screen.model.shown[0])
    place = block.document_at()
    assert place is not None
    start = place[1].toPoint() + QPoint(int(screen.view._column()[0]), 16 + 8)
    screen.mouse(QEvent.Type.MouseButtonPress, start)
    screen.mouse(QEvent.Type.MouseMove, start + QPoint(400, 2))
    screen.mouse(QEvent.Type.MouseButtonRelease, start + QPoint(400, 2))
    QTest.keyClick(screen.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Take me along"


def test_the_filter_shows_one_node_and_what_is_of_the_run(qapp: QApplication) -> None:
    owner = QObject()
    model = TranscriptModel(owner)
    for node in ("a", "b", "", "a"):
        model.add(ASSISTANT, node, node.upper(), 0.0, f"of {node}")
    model.set_filter("a")
    assert [shown.row.text for shown in model.shown] == ["of a", "of ", "of a"]
    assert [shown.has_header for shown in model.shown] == [True, False, True]
    assert model.nodes() == [("a", "A"), ("b", "B")]


def test_narrower_and_in_other_colours_it_is_laid_out_anew(screen: Screen) -> None:
    screen.add(30, "word " * 60)
    high = screen.view.verticalScrollBar().maximum()
    screen.view.resize(400, 400)
    assert screen.view.verticalScrollBar().maximum() > high
    screen.theme.set_mode("dark")
    assert screen.view.is_at_end
    screen.theme.set_mode("system")


def test_a_whole_message_can_be_copied(screen: Screen) -> None:
    screen.add(1, "**All** of it")
    at = QPoint(int(screen.view._column()[0]) + 5, 16 + 24 + 8)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, screen.view.mapToGlobal(at))
    QApplication.sendEvent(screen.view.viewport(), event)
    message, conversation = screen.view._menu.actions()
    assert [message.text(), conversation.text()] == ["Copy Message", "Copy Conversation"]
    message.trigger()
    assert QGuiApplication.clipboard().text() == "**All** of it"
    conversation.trigger()
    assert QGuiApplication.clipboard().text() == "## A\n\n**All** of it\n"
    screen.view._menu.close()


def test_a_selection_stays_while_other_rows_come_and_grow(screen: Screen) -> None:
    screen.add(1, "Read this sentence.")
    growing = screen.model.add(ASSISTANT, "b", "B", 0.0)
    growing.is_open = True
    screen.add(1)
    chosen = screen.model.rows[0]
    block = screen.view._blocks.block(screen.model.shown[0])
    screen.view.selection.select_word(chosen.id, block, QPointF(4, 30))

    screen.model.extend(growing, "word " * 3_000)
    screen.model.flush()

    assert len(screen.model.rows) > 3
    assert [mark[0].selectedText() for mark in screen.view.marks_of(chosen, block)] == ["Read"]
    screen.model.clear()
    screen.model.flush()
    assert not screen.view.selection.has_text
