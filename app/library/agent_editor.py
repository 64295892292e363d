"""The window in which a saved agent is edited; what is written there is kept as it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
)

from app.canvas.document import WorkflowDocument
from app.inspector.agent_form import AgentParts
from app.inspector.field_widgets import SuggestionField, TextField
from app.inspector.form import Form
from app.inspector.slots import slot
from app.inspector.target import Target
from app.main_window import MainWindow
from app.theme.theme import Theme

if TYPE_CHECKING:
    from engine.graph.agents import CallableAgent

_AGENT = "agent"
_NODE = "saved-agent"
_WAIT_MS = 250


class AgentForm(Form):
    """Every setting of a saved agent."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.label = TextField(theme, "Name", self, needed="An agent needs a name")
        self.model = SuggestionField(theme, "Model", self)
        self.model.set_placeholder("That of the node that calls it")
        self.parts = AgentParts(self, _AGENT)
        self.put_in(slot("label"), self.label, "name")
        self.put_in(slot("model", _AGENT), self.model, "model")
        self.section("Instructions")
        self.parts.put_instructions()
        self.section("Handoff")
        self.parts.put_handoff()
        self.section("Tools")
        self.parts.put_approval()
        self.parts.put_kinds_of_questions()
        self.box.addStretch(1)
        self.order_keys()

    def prepare(self, target: Target) -> None:
        """Show what belongs to these settings."""
        agents = [node.agent for node in target.nodes if node.agent is not None]
        self.parts.prepare(agents)
        providers = [each for each in self.offers.providers if each.ready]
        models = dict.fromkeys(model for each in providers for model in each.models)
        self.model.set_suggestions(tuple(models))
        named = {agent.model.strip() for agent in agents} - {""}
        note = "The provider of the node that calls it is asked for this model." if named else ""
        if models and named - models.keys():
            note = "Not among the known models of any provider; it is asked for as it is."
        self.model.set_note(note)


class AgentEditor(QDialog):
    """Edits one saved agent, with an undo list of its own; it lies beside the main window.

    Signals:
        changed: The agent as it is now.
    """

    changed = Signal(object)

    def __init__(self, window: MainWindow, agent: CallableAgent) -> None:
        from engine.graph.workflow import Workflow
        from orchestration.library.agent_shape import node_from

        super().__init__(window)
        self.agent = agent
        self.document = WorkflowDocument(self)
        node = node_from(agent).model_copy(update={"id": _NODE})
        self.document.show_workflow(
            None, Workflow(id=_NODE, name=agent.name, nodes=(node,), edges=())
        )
        self.setModal(False)
        self.resize(460, 640)
        self.form = AgentForm(window.theme)
        self.form.set_offers(window.inspector.nodes.offers)
        self.form.bind(Target(self.document, (_NODE,)))
        area = QScrollArea(self)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setWidget(self.form)
        about = QLabel(
            "Changes are kept at once. Nodes that are copies of it stay as they are.", self
        )
        about.setProperty("kind", "small")
        about.setWordWrap(True)
        close = QPushButton("Close", self)
        close.setAutoDefault(False)
        close.clicked.connect(self.close)
        row = QHBoxLayout()
        row.setContentsMargins(16, 8, 16, 12)
        row.addWidget(about, 1)
        row.addWidget(close)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 8, 0, 0)
        box.setSpacing(0)
        box.addWidget(area, 1)
        box.addLayout(row)
        self._due = QTimer(self)
        self._due.setSingleShot(True)
        self._due.setInterval(_WAIT_MS)
        self._due.timeout.connect(self._tell)
        self.document.edited.connect(self._on_edited)
        self.finished.connect(self._end)
        for keys, act in (
            (QKeySequence.StandardKey.Undo, self.document.undo_stack.undo),
            (QKeySequence.StandardKey.Redo, self.document.undo_stack.redo),
        ):
            self._shortcut(keys, act)
        self._show_name()

    def flush(self) -> None:
        """Tell at once what has been written."""
        if self._due.isActive():
            self._due.stop()
            self._tell()

    def _shortcut(self, keys: QKeySequence.StandardKey, act: Callable[[], None]) -> None:
        QShortcut(QKeySequence(keys), self).activated.connect(act)

    def _on_edited(self, *_: object) -> None:
        self.form.refresh()
        self._show_name()
        self._due.start()

    def _tell(self) -> None:
        from orchestration.library.agent_shape import agent_like

        workflow = self.document.workflow
        node = workflow.node(_NODE) if workflow is not None else None
        if node is not None and node.agent is not None:
            self.agent = agent_like(self.agent, node.label or _NODE, node.agent)
            self.changed.emit(self.agent)

    def _show_name(self) -> None:
        self.setWindowTitle(f"Agent: {self.document.label(_NODE)}")

    def _end(self) -> None:
        self.flush()
        self.deleteLater()
