"""A window with its inspector open, over a workflow in which every setting is written out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QWidget

from app.first_window import window_with
from app.inspector.field import Field
from app.inspector.offers import Offers, Skill
from app.kit.window_state import WindowState
from engine.graph.agents import CallableAgent
from engine.graph.serialization import dump_workflow, load_workflow
from orchestration.settings.readiness import ProviderStatus

SCHEMA = {
    "type": "object",
    "properties": {
        "summary": {"type": "string", "description": "Two sentences"},
        "steps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "title": {"type": "string"},
                    "size": {"type": "string", "enum": ["small", "large"]},
                },
                "required": ["title"],
            },
        },
    },
    "required": ["summary"],
    "additionalProperties": False,
}


def agent_document(**changes: Any) -> dict[str, Any]:
    """An agent's settings with every key of the file."""
    return {
        "system_prompt": "You plan.",
        "task_prompt": "Do your part.",
        "model": "alpha-1",
        "output_schema": SCHEMA,
        "handoff": {"format": "json"},
        "auto_start": False,
        "tools": {
            "approvalMode": "write",
            "allowStructuredUserInput": True,
            "allowFreeTextUserInput": True,
        },
        "callableAgents": ["tester"],
        "allowAllCallableAgents": False,
        "reasoningEffort": "low",
        "reasoningBudgetTokens": 2048,
        "providerId": "alpha",
        "requestUserInput": True,
        "conversationMode": False,
        "mcpResources": [{"serverId": "docs", "uri": "docs://intro", "maxBytes": 4096}],
        "mcpPrompts": [],
        **changes,
    }


def workflow_document() -> dict[str, Any]:
    """Three nodes and settings, every key written; `brief` hands over a Markdown document."""
    template = "# Handoff\n\n## Summary\n"
    agents = {
        "idea": agent_document(),
        "plan": agent_document(reasoningEffort=None, providerId=None, model=""),
        "brief": agent_document(handoff={"format": "markdown", "template": template}),
    }
    return {
        "id": "planning",
        "name": "Planning",
        "nodes": [
            {
                "id": key,
                "label": f"The {key}",
                "kind": "agent",
                "position": {"x": 360 * index, "y": 0},
                "agent": agent,
                "note of another program": 1,
            }
            for index, (key, agent) in enumerate(agents.items())
        ],
        "edges": [{"id": "e1", "from": "idea", "to": "plan"}],
        "settings": {
            "shared_context": "A photo app.",
            "schedule": {"cron": "0 9 * * 1", "enabled": True, "timezone": "Europe/Vienna"},
            "retry_policy": {"max_attempts": 3, "backoff_ms": 1000},
            "provider_id": "alpha",
            "reasoningEffort": "medium",
            "reasoningBudgetTokens": 4096,
            "fastMode": False,
            "forwardUpstreamReads": True,
            "planMode": {"evidenceSourceNodeId": "idea"},
            "outputRepairModel": "alpha-2",
        },
    }


def provider(provider_id: str, *, ready: bool = True) -> ProviderStatus:
    """A provider with two models and three efforts."""
    return ProviderStatus(
        id=provider_id,
        label=provider_id.capitalize(),
        ready=ready,
        reason="" if ready else "its key is missing",
        base_url="",
        wire="chat",
        default_model=f"{provider_id}-1",
        models=(f"{provider_id}-1", f"{provider_id}-2"),
        key_variable="",
        has_key=ready,
        is_active=False,
        is_demo=False,
        efforts=("low", "medium", "high"),
        has_fast_mode=True,
    )


AGENTS = tuple(
    CallableAgent(id=key, name=key.capitalize(), task_prompt=f"Be a {key}", output_schema={})
    for key in ("tester", "writer")
)
OFFERS = Offers(
    (provider("alpha"), provider("beta", ready=False)),
    AGENTS,
    (Skill("review", "Look at code"), Skill("release")),
    lambda model: "alpha",
)


class InspectorBench:
    """The window and shortcuts to what a person sees and does in its inspector."""

    def __init__(self, qapp: QApplication, document: dict[str, Any] | None = None) -> None:
        self.qapp = qapp
        self.text_before = json.dumps(document or workflow_document(), indent=2) + "\n"
        self.window = window_with(None, WindowState(None))
        self.window.resize(1400, 900)
        self.window.furnish()
        self.window.wished.connect(self._wish)
        self.document = self.window.document
        self.document.show_workflow(Path("a.workflow.json"), load_workflow(self.text_before))
        self.panel = self.window.inspector
        self.panel.set_offers(OFFERS)
        self.window.show()
        self.window.activateWindow()
        self.window.open_inspector()
        qapp.processEvents()

    def choose(self, *node_ids: str) -> None:
        """Select these nodes; none for the workflow."""
        self.window.scene.choose(nodes=node_ids)
        self.qapp.processEvents()

    def field(self, key: str) -> Field:
        """A field of the form on screen, which has to be visible."""
        form = self.panel.form
        assert form is not None
        field = form.fields[key]
        assert field.isVisible(), f"{key} is not on screen"
        return field

    def text(self) -> str:
        """The workflow as a file."""
        assert self.document.workflow is not None
        return dump_workflow(self.document.workflow)

    def changed_lines(self) -> list[tuple[str, str]]:
        """The lines of the file that are different now, as pairs of before and after."""
        before, after = self.text_before.splitlines(), self.text().splitlines()
        assert len(before) == len(after), "lines were added or removed"
        return [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]

    def value(self, *path: str | int) -> Any:
        """A value of the file as it is now."""
        value = json.loads(self.text())
        for step in path:
            value = value[step]
        return value

    @property
    def steps(self) -> list[str]:
        """The undo list."""
        stack = self.document.undo_stack
        return [stack.text(index) for index in range(stack.count())]

    def write(self, control: QWidget, text: str, *, after: bool = False) -> None:
        """Replace what a control has, key by key; with `after`, go on behind it."""
        control.setFocus()
        key = Qt.Key.Key_End if after else Qt.Key.Key_A
        QTest.keyClick(control, key, Qt.KeyboardModifier.ControlModifier)
        if not after and not text:
            QTest.keyClick(control, Qt.Key.Key_Backspace)
        for number, line in enumerate(text.split("\n")):
            if number:
                QTest.keyClick(control, Qt.Key.Key_Return)
            QTest.keyClicks(control, line)

    def step(self, box: QComboBox, key: Qt.Key = Qt.Key.Key_Down) -> None:
        """Choose the neighbour in a list."""
        box.setFocus()
        QTest.keyClick(box, key)

    def tick(self, box: QWidget) -> None:
        """Press the space bar on a box."""
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Space)

    def undo(self) -> None:
        """Undo as the window does."""
        self.window.actions_["undo"].trigger()

    def redo(self) -> None:
        """Redo as the window does."""
        self.window.actions_["redo"].trigger()

    def dispose(self) -> None:
        """Take the window away: every window costs all later ones time."""
        self.window.hide()
        self.window.deleteLater()
        self.qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def _wish(self, action_id: str) -> None:
        stack = self.document.undo_stack
        {"undo": stack.undo, "redo": stack.redo}.get(action_id, lambda: None)()
