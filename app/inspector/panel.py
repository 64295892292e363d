"""The right panel: what the selected node is set to, or several, or the workflow itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.canvas.document import WorkflowDocument
from app.canvas.scene import WorkflowScene
from app.inspector.field import Field
from app.inspector.form import Form
from app.inspector.node_form import NodeForm
from app.inspector.offers import Offers
from app.inspector.target import Target
from app.inspector.workflow_form import WorkflowForm
from app.kit.elided_label import ElidedLabel
from app.kit.formats import plural
from app.theme.status_mark import StatusMark
from app.theme.theme import Theme

if TYPE_CHECKING:
    from engine.graph.problems import Problem

_MOST_PROBLEMS = 4
_LONG_PATH = re.compile(r"\S{24,}")
_HEAD_HEIGHT = 48
"""As high as the bar beside it."""


class InspectorPanel(QFrame):
    """Follows the selection of the scene and the document; edits go through the document.

    Signals:
        closed: The person wants the panel away.
    """

    closed = Signal()

    def __init__(
        self,
        theme: Theme,
        document: WorkflowDocument,
        scene: WorkflowScene,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._document = document
        self._scene = scene
        self._problems: tuple[Problem, ...] = ()
        self._rows: list[ProblemRow] = []
        self._shown: tuple[str, ...] | None = None
        self.setProperty("kind", "panel")
        self.setAccessibleName("Inspector")
        self.title = ElidedLabel(parent=self)
        self.title.setProperty("kind", "title")
        self.about = QLabel(self)
        self.about.setProperty("kind", "small")
        self.about.setWordWrap(True)
        self.about.setContentsMargins(16, 10, 16, 0)
        self.close_button = QToolButton(self)
        self.close_button.setAccessibleName("Close the inspector")
        self.close_button.setToolTip("Close the inspector")
        self.close_button.clicked.connect(self.closed)
        self._top = QWidget(self)
        self._top.hide()
        self._problem_box = QVBoxLayout()
        self._problem_box.setSpacing(4)
        self._more_problems = QLabel(self)
        self._more_problems.setProperty("kind", "small")
        told = QVBoxLayout(self._top)
        told.setContentsMargins(16, 12, 16, 10)
        told.setSpacing(4)
        told.addLayout(self._problem_box)
        told.addWidget(self._more_problems)
        self.nodes = NodeForm(theme)
        self.workflow = WorkflowForm(theme)
        self.nothing = QWidget(self)
        self._pages = QStackedWidget(self)
        self._areas: dict[Form, QScrollArea] = {}
        for form in (self.nodes, self.workflow):
            self._areas[form] = _scrolled(form, self)
            self._pages.addWidget(self._areas[form])
        self._pages.addWidget(self.nothing)
        self._lay_out()
        self._listen()
        theme.changed.connect(self._dress)
        self._dress()
        self.follow_choice()

    @property
    def form(self) -> Form | None:
        """The form on screen, if there is one."""
        current = self._pages.currentWidget()
        return next((form for form, area in self._areas.items() if area is current), None)

    @property
    def problem_rows(self) -> list[ProblemRow]:
        """The problems that are listed at the top."""
        return list(self._rows)

    def look_at(self, document: WorkflowDocument, scene: WorkflowScene) -> None:
        """Be about another workflow from now on."""
        self._document.replaced.disconnect(self._on_replaced)
        self._document.edited.disconnect(self.refresh)
        self._scene.choice_changed.disconnect(self.follow_choice)
        self._document, self._scene = document, scene
        self._listen()
        self._on_replaced()

    def set_offers(self, offers: Offers) -> None:
        """Let people choose from these."""
        for form in self._areas:
            form.set_offers(offers)

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Take over what was found to be wrong with the workflow."""
        self._problems = tuple(problems)
        self._list_problems()

    def follow_choice(self) -> None:
        """Show what is selected now."""
        chosen = tuple(item.card.id for item in self._scene.chosen_items())
        if chosen != self._shown:
            self._show(chosen)

    def refresh(self) -> None:
        """Show what the document has now, wherever nobody is typing."""
        chosen = tuple(item.card.id for item in self._scene.chosen_items())
        form = self.form
        if chosen != self._shown or form is None:
            self._show(chosen)
            return
        form.refresh()
        self._say_what_it_is()
        # Fields that have come into sight can be jumped to now.
        self._list_problems()

    def take_focus(self) -> None:
        """Let the person write in the first field."""
        form = self.form
        fields = list(form.fields.values()) if form is not None else []
        for field in fields:
            if not field.isHidden():
                self._reveal(field)
                return
        self.close_button.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape leaves the panel for the canvas."""
        if event.key() == Qt.Key.Key_Escape:
            for view in self._scene.views():
                view.setFocus()
        else:
            super().keyPressEvent(event)

    def _listen(self) -> None:
        self._document.replaced.connect(self._on_replaced)
        self._document.edited.connect(self.refresh)
        self._scene.choice_changed.connect(self.follow_choice)

    def _lay_out(self) -> None:
        top = QWidget(self)
        top.setFixedHeight(_HEAD_HEIGHT)
        head = QHBoxLayout(top)
        head.setContentsMargins(16, 0, 8, 0)
        head.addWidget(self.title, 1)
        head.addWidget(self.close_button)
        line = QFrame(self)
        line.setProperty("kind", "line")
        line.setFixedHeight(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(top)
        box.addWidget(line)
        box.addWidget(self.about)
        box.addWidget(self._top)
        box.addWidget(self._pages, 1)

    def _show(self, chosen: tuple[str, ...]) -> None:
        self._shown = chosen
        form: Form = self.nodes if chosen else self.workflow
        if self._document.workflow is None:
            self._shown = None
            self._pages.setCurrentWidget(self.nothing)
        else:
            form.bind(Target(self._document, chosen))
            self._pages.setCurrentWidget(self._areas[form])
            self._areas[form].verticalScrollBar().setValue(0)
        self._say_what_it_is()
        self._list_problems()

    def _say_what_it_is(self) -> None:
        workflow, chosen = self._document.workflow, self._shown or ()
        title, about = "Workflow", "Settings for all nodes. Select a node for its own."
        if workflow is None:
            about = "Nothing is open yet."
        elif len(chosen) > 1:
            title = f"{len(chosen)} nodes"
            about = "What is set here is set for all of them."
        elif chosen:
            title, about = self._document.label(chosen[0]), "Node"
            node = next((node for node in workflow.nodes if node.id == chosen[0]), None)
            if node is not None and node.agent is None:
                about = (
                    f"A node of the kind “{node.kind}”, which this version cannot run. "
                    "Its settings are kept as they are."
                )
        self.title.setText(title)
        self.about.setText(about)
        self.about.setVisible(about != "Node")

    def _list_problems(self) -> None:
        form, chosen = self.form, self._shown or ()
        found = [problem for problem in self._problems if form and _belongs(problem, chosen)]
        listed = [(problem, form is not None and form.field_of(problem)) for problem in found]
        known = [(row.problem, row.field) for row in self._rows]
        if form is not None:
            form.show_problems(found)
        if [(problem, field or None) for problem, field in listed[:_MOST_PROBLEMS]] == known:
            return
        for row in self._rows:
            self._problem_box.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = []
        for problem, field in listed[:_MOST_PROBLEMS]:
            row = ProblemRow(self._theme, problem, field or None, self)
            row.wanted.connect(self._reveal)
            self._problem_box.addWidget(row)
            self._rows.append(row)
        rest = len(listed) - len(self._rows)
        self._more_problems.setText(f"and {plural(rest, 'more problem')}" if rest else "")
        self._more_problems.setVisible(bool(rest))
        self._top.setVisible(bool(listed))

    def _reveal(self, field: Field) -> None:
        """Bring a field into view and let the person write there."""
        form = self.form
        if form is not None:
            self._areas[form].ensureWidgetVisible(field, 0, 40)
            field.take_focus()

    def _on_replaced(self) -> None:
        self._problems = ()
        self._show(tuple(item.card.id for item in self._scene.chosen_items()))

    def _dress(self) -> None:
        self.close_button.setIcon(self._theme.icons.icon("close", size=14))


class ProblemRow(QPushButton):
    """One thing that is wrong; a click leads to the field that it is about.

    Signals:
        wanted: The field to go to.
    """

    wanted = Signal(object)

    def __init__(
        self, theme: Theme, problem: Problem, field: Field | None, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.problem, self.field = problem, field
        self.setProperty("kind", "problem")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        told = sentence(problem.message)
        words = QLabel(_LONG_PATH.sub(_breakable, told), self)
        words.setWordWrap(True)
        words.setTextFormat(Qt.TextFormat.PlainText)
        words.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 6, 8, 6)
        row.setSpacing(8)
        mark = StatusMark(theme, "exclamation", "failed", 12, self)
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(words, 1)
        self.setAccessibleName(f"Problem: {told}")
        self.setEnabled(field is not None)
        if field is not None:
            self.setToolTip(f"Go to {field.caption}")
        self.clicked.connect(self._ask)

    def _ask(self) -> None:
        self.wanted.emit(self.field)


def sentence(words: str) -> str:
    """The words with a capital letter at the beginning."""
    return words[:1].upper() + words[1:]


def _breakable(word: re.Match[str]) -> str:
    """A long word such as a path, which may be broken before its dots and slashes."""
    return re.sub(r"(?=[./\\])", "\u200b", word[0])


def _belongs(problem: Problem, chosen: tuple[str, ...]) -> bool:
    if not chosen:
        return problem.node_id is None or problem.field == "plan_mode"
    return problem.node_id in chosen


def _scrolled(form: Form, parent: QWidget) -> QScrollArea:
    area = QScrollArea(parent)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(form)
    return area
