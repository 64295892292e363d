"""The conversation: filter chips, the stream of rows, what goes on right now, and the composer."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.approvals.budget_card import BudgetCard
from app.approvals.card import ApprovalCard
from app.approvals.uncertain_card import UncertainCard
from app.chat.cards import Card, EndedCard, FailureCard, ProblemsCard, QuestionCard
from app.chat.composer import Composer
from app.chat.edit_card import EditCard
from app.chat.filter_bar import FilterBar
from app.chat.find_bar import FindBar
from app.chat.intents import ChatIntents
from app.chat.rows import (
    APPROVAL,
    ENDED,
    FAILURE,
    HERE,
    PROBLEMS,
    QUESTION,
    UNCERTAIN,
    WITH_ANOTHER,
    Row,
)
from app.chat.transcript_model import TranscriptModel
from app.chat.transcript_view import COLUMN, TranscriptView
from app.theme.status_mark import StatusMark
from app.theme.theme import Theme

_MAKERS: dict[str, type] = {
    QUESTION: QuestionCard,
    APPROVAL: ApprovalCard,
    UNCERTAIN: UncertainCard,
    FAILURE: FailureCard,
    PROBLEMS: ProblemsCard,
    ENDED: EndedCard,
}


class ChatPanel(QWidget):
    """Shows one transcript at a time.

    Signals:
        filter_chosen: Id of the node whose rows are wanted; empty for all.
    """

    filter_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model: TranscriptModel | None = None
        self.intents = ChatIntents(self)
        self.intents.decided.connect(self._note_decision)
        self.intents.turn_allowed.connect(self._note_turn)
        self.filter_bar = FilterBar(self)
        self.filter_bar.chosen.connect(self.filter_chosen)
        self.transcript = TranscriptView(theme, self._make_card, self)
        self.transcript.file_wanted.connect(self.intents.file_opened)
        self.composer = Composer(theme, self)
        self.find_bar = FindBar(theme, self)
        self.find_bar.looked.connect(self._look)
        self.find_bar.stepped.connect(self._step)
        self.find_bar.closed.connect(self._end_search)
        self._activity_mark = StatusMark(theme, "disc", "running", 12, self)
        self.activity = QLabel(self)
        self.activity.setProperty("kind", "small")
        self.activity.setTextFormat(Qt.TextFormat.PlainText)
        self._empty = QWidget(self.transcript.viewport())
        self._empty.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._empty_title = QLabel(self._empty)
        self._empty_title.setProperty("kind", "title")
        self._empty_line = QLabel(self._empty)
        self._empty_line.setProperty("kind", "second")
        self._build()
        self.show_activity("")
        self._update_rows()

    @property
    def model(self) -> TranscriptModel | None:
        """The conversation that is shown."""
        return self._model

    def show_model(self, model: TranscriptModel | None) -> None:
        """Show another conversation."""
        if self._model is not None:
            self._model.changed.disconnect(self._update_rows)
            self._model.filter_changed.disconnect(self._update_rows)
        self._model = model
        self.transcript.set_model(model)
        if model is not None:
            model.changed.connect(self._update_rows)
            model.filter_changed.connect(self._update_rows)
        self._update_rows()

    def show_empty_text(self, title: str, line: str) -> None:
        """What stands where there is no row: what this is and what to do next."""
        self._empty_title.setText(title)
        self._empty_line.setText(line)
        self._place_empty()

    def empty_text(self) -> tuple[str, str]:
        """What stands there now; empty texts while there are rows."""
        if self._empty.isHidden():
            return "", ""
        return self._empty_title.text(), self._empty_line.text()

    def show_activity(self, text: str, mark: str = "disc", color: str = "running") -> None:
        """What goes on right now; an empty text hides the line."""
        self.activity.setText(text)
        self.activity.setVisible(bool(text))
        self._activity_mark.setVisible(bool(text))
        self._activity_mark.show_mark(mark, color)

    def event(self, event: QEvent) -> bool:
        """While the focus is in here, Ctrl+F looks through the conversation."""
        is_find = isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Find)
        if is_find and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if is_find and event.type() == QEvent.Type.KeyPress:
            self.find_bar.ask()
            return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The bar stays at the upper right."""
        super().resizeEvent(event)
        self._place_find_bar()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the text of the empty state in the middle."""
        if event.type() == QEvent.Type.Resize:
            self._place_empty()
        return super().eventFilter(watched, event)

    def _build(self) -> None:
        empty = QVBoxLayout(self._empty)
        empty.setContentsMargins(24, 0, 24, 0)
        empty.setSpacing(4)
        for label in (self._empty_title, self._empty_line):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
            empty.addWidget(label)
        self.transcript.viewport().installEventFilter(self)
        activity = QHBoxLayout()
        activity.setContentsMargins(4, 0, 4, 0)
        activity.setSpacing(6)
        activity.addWidget(self._activity_mark)
        activity.addWidget(self.activity, 1)
        inside = QWidget(self)
        inside.setMaximumWidth(COLUMN)
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(activity)
        column.addWidget(self.composer)
        foot = QHBoxLayout()
        foot.setContentsMargins(24, 4, 24, 12)
        foot.addStretch(0)
        foot.addWidget(inside, 1)
        foot.addStretch(0)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self.transcript, 1)
        box.addLayout(foot)

    def _look(self, words: str) -> None:
        self.transcript.find_words(words)
        self._show_count()

    def _step(self, by: int) -> None:
        self.transcript.find_next(by)
        self._show_count()

    def _end_search(self) -> None:
        self.transcript.find_words("")
        self.transcript.setFocus()

    def _show_count(self) -> None:
        search = self.transcript.search
        self.find_bar.show_count(search.number, len(search))
        self._place_find_bar()

    def _place_find_bar(self) -> None:
        size = self.find_bar.sizeHint()
        self.find_bar.setGeometry(
            max(8, self.width() - size.width() - 24),
            self.transcript.y() + 8,
            size.width(),
            size.height(),
        )

    def _update_rows(self) -> None:
        model = self._model
        nodes = model.nodes() if model is not None else []
        current = model.filter if model is not None else ""
        if current and current not in dict(nodes):
            nodes = [*nodes, (current, current)]
        self.filter_bar.show_nodes(nodes, current)
        self._empty.setVisible(model is None or not model.shown)
        self._place_empty()

    def _place_empty(self) -> None:
        area = self.transcript.viewport().rect()
        height = self._empty.sizeHint().height()
        if self._empty.hasHeightForWidth():
            height = self._empty.heightForWidth(area.width())
        self._empty.setGeometry(0, max(0, (area.height() - height) // 2), area.width(), height)

    def _note_decision(self, approval_id: str, allow: bool, reason: str, for_run: bool) -> None:
        """What a person has decided here was not decided elsewhere, nor what a new rule allows."""
        for row in self._waiting_calls():
            if row.payload.approval_id == approval_id:
                row.decided = HERE
            elif for_run and not row.decided:
                row.decided = WITH_ANOTHER

    def _note_turn(self, approval_id: str) -> None:
        waiting = self._waiting_calls()
        actors = {row.actor_id for row in waiting if row.payload.approval_id == approval_id}
        for row in waiting:
            if row.actor_id in actors:
                row.decided = HERE

    def _waiting_calls(self) -> list[Row]:
        rows = self._model.rows if self._model is not None else []
        return [row for row in rows if row.kind == APPROVAL and row.is_open]

    def _make_card(self, row: Row, parent: QWidget) -> Card:
        maker = EditCard if row.batch_id else _MAKERS[row.kind]
        if row.kind == QUESTION and row.payload.budget is not None:
            maker = BudgetCard
        card = maker(row, self.intents, self._theme, parent)
        assert isinstance(card, Card)
        return card
