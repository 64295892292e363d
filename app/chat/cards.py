"""Rows with controls: a question, a failure, problems before a run, a stopped run."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app.chat.intents import ChatIntents
from app.chat.markdown_label import MarkdownLabel
from app.chat.rows import Row
from app.kit.formats import plural
from app.kit.visible import visible, visible_lines
from app.theme.status_mark import StatusMark
from app.theme.theme import Theme


class Card(QFrame):
    """A framed row with a head; subclasses add what is below it.

    Attributes:
        keeps_input: A person may have put something into it, so it is kept while it is out of view.
    """

    keeps_input = True

    def __init__(
        self, kind: str, mark: str, color: str, title: str, theme: Theme, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setProperty("kind", kind)
        title = visible(title)
        self.setAccessibleName(title)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(14, 12, 14, 12)
        self.body.setSpacing(8)
        self.head = head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(StatusMark(theme, mark, color, 14, self))
        self.title = QLabel(title, self)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setProperty("kind", "title")
        self.title.setWordWrap(True)
        head.addWidget(self.title, 1)
        self.body.addLayout(head)

    @property
    def is_current(self) -> bool:
        """Whether it still shows what its row holds."""
        return True

    def show_found(self, words: str, number: int) -> None:
        """Mark what somebody looks for, match `number` stronger; cards with long texts do."""

    def add_text(self, text: str) -> QLabel:
        """A paragraph that can be selected."""
        label = QLabel("\n".join(visible_lines(text)), self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.body.addWidget(label)
        return label

    def add_buttons(self, *buttons: QWidget) -> QHBoxLayout:
        """A row of controls, from the left."""
        line = QHBoxLayout()
        line.setSpacing(8)
        for button in buttons:
            line.addWidget(button)
        line.addStretch(1)
        self.body.addLayout(line)
        return line

    def button(self, text: str, *, primary: bool = False) -> QPushButton:
        """A pill of this card."""
        button = QPushButton(text, self)
        button.setAutoDefault(False)
        if primary:
            button.setProperty("kind", "primary")
        return button

    def height_for(self, width: int) -> int:
        """How high the card is at a width, in pixels."""
        self.ensurePolished()
        if self.body.hasHeightForWidth():
            return self.body.totalHeightForWidth(width)
        return self.body.totalSizeHint().height()


class QuestionCard(Card):
    """A node waits for an answer; structured questions are answered here, others below."""

    def __init__(self, row: Row, intents: ChatIntents, theme: Theme, parent: QWidget) -> None:
        title = f"{row.label} is waiting for your answer"
        super().__init__("waiting-card", "question", "waiting", title, theme, parent)
        self._row = row
        self._intents = intents
        self._groups: list[tuple[str, QButtonGroup]] = []
        structured = row.payload.structured_input
        if structured is None:
            if row.text:
                self.body.addWidget(MarkdownLabel(row.text, theme, self))
            answer = self.button("Answer")
            answer.clicked.connect(self._want_composer)
            self.add_buttons(answer)
            return
        for question in structured.questions:
            self._add_question(question)
        self.send = self.button("Send answer", primary=True)
        self.send.setEnabled(False)
        self.send.clicked.connect(self._send)
        hint = QLabel("or write a free answer below", self)
        hint.setProperty("kind", "small")
        self.add_buttons(self.send, hint)
        intents.refused.connect(self._unlock)

    def _add_question(self, question: Any) -> None:
        if question.header:
            header = QLabel(visible(question.header), self)
            header.setTextFormat(Qt.TextFormat.PlainText)
            header.setProperty("kind", "section")
            self.body.addWidget(header)
        self.body.addWidget(MarkdownLabel(question.question, self.theme, self))
        group = QButtonGroup(self)
        for option in question.options:
            # An ampersand would otherwise become the line below a letter.
            choice = QRadioButton(visible(option.label).replace("&", "&&"), self)
            choice.setAccessibleName(option.label)
            choice.setProperty("answer", option.label)
            choice.setAccessibleDescription(option.description)
            group.addButton(choice)
            self.body.addWidget(choice)
            if option.description:
                words = self.add_text(option.description)
                words.setProperty("kind", "small")
                words.setContentsMargins(24, 0, 0, 2)
        group.buttonToggled.connect(self._update)
        self._groups.append((question.id, group))

    def _update(self) -> None:
        self.send.setEnabled(all(group.checkedButton() for _, group in self._groups))

    def _send(self) -> None:
        chosen = [(key, group.checkedButton()) for key, group in self._groups]
        lines = [f"{key}: {button.property('answer')}" for key, button in chosen if button]
        self.setEnabled(False)
        payload = self._row.payload
        self._intents.answered.emit(self._row.node_id, payload.pause_id, "\n".join(lines))

    def _unlock(self) -> None:
        self.setEnabled(True)

    def _want_composer(self) -> None:
        self._intents.composer_wanted.emit(self._row.node_id)


class FailureCard(Card):
    """A node, or the whole run, has failed."""

    def __init__(self, row: Row, intents: ChatIntents, theme: Theme, parent: QWidget) -> None:
        interrupted = row.text == "Interrupted"
        verb = "was interrupted" if interrupted else "failed"
        title = f"{row.label} {verb}" if row.node_id else "The run failed"
        mark = "bars" if interrupted else "cross"
        super().__init__("failed-card", mark, "failed", title, theme, parent)
        self._row = row
        self._intents = intents
        if not interrupted:
            self.add_text(row.text)
        if row.payload:
            retry = self.button("Retry")
            retry.setIcon(theme.icons.icon("retry", "text"))
            retry.setAccessibleName(f"Retry {row.label}")
            retry.clicked.connect(self._retry)
            self.add_buttons(retry)
            intents.refused.connect(self._unlock)

    def _retry(self) -> None:
        self.setEnabled(False)
        self._intents.retried.emit(self._row.node_id)

    def _unlock(self) -> None:
        self.setEnabled(True)


class ProblemsCard(Card):
    """Why the workflow was not started: everything at once, each with its node.

    The row's payload is a pair: the problems, and whether the demo model could run it.
    """

    def __init__(self, row: Row, intents: ChatIntents, theme: Theme, parent: QWidget) -> None:
        problems, offers_demo = row.payload
        title = f"This workflow can't run yet: {plural(len(problems), 'problem')}"
        super().__init__("failed-card", "exclamation", "failed", title, theme, parent)
        self._intents = intents
        for problem in problems:
            self.add_text(f"•  {problem.message}")
        nodes = list(dict.fromkeys(each.node_id for each in problems if each.node_id))
        buttons: list[QWidget] = []
        if offers_demo:
            demo = self.button("Run with the demo model", primary=True)
            demo.clicked.connect(intents.demo_wanted)
            buttons.append(demo)
        if nodes:
            self._first = nodes[0]
            show = self.button("Show the node" if len(nodes) == 1 else "Show the first node")
            show.clicked.connect(self._show_node)
            buttons.append(show)
        if buttons:
            self.add_buttons(*buttons)

    def _show_node(self) -> None:
        self._intents.node_shown.emit(self._first)


class EndedCard(Card):
    """A run that was stopped can go on."""

    def __init__(self, row: Row, intents: ChatIntents, theme: Theme, parent: QWidget) -> None:
        super().__init__("card", "square", "idle", row.text, theme, parent)
        self._intents = intents
        go_on = self.button("Continue")
        go_on.clicked.connect(self._continue)
        self.add_buttons(go_on)
        intents.refused.connect(self._unlock)

    def _continue(self) -> None:
        self.setEnabled(False)
        self._intents.continued.emit()

    def _unlock(self) -> None:
        self.setEnabled(True)
