"""What every agent has, in a workflow or saved by itself: instructions, handoff and tools."""

from __future__ import annotations

from typing import Any

from app.inspector.field_widgets import ChoiceField, FlagField
from app.inspector.form import Form
from app.inspector.schema_table import SchemaField
from app.inspector.slots import Slot, slot
from app.inspector.text_editor import ProseField
from engine.vocabulary.tools import ApprovalMode

APPROVAL_WORDS: dict[ApprovalMode, tuple[str, str]] = {
    ApprovalMode.READ_ONLY: (
        "Read only",
        "Calls that write or run a command are refused.",
    ),
    ApprovalMode.ALWAYS_ASK: (
        "Ask before every call",
        "Reading waits for you as well.",
    ),
    ApprovalMode.WRITE: (
        "Ask before writing",
        "Reading runs by itself; each call that writes or runs a command waits for you.",
    ),
    ApprovalMode.YOLO: (
        "Never ask",
        "Every call runs at once, also those that change files and run commands.",
    ),
}
"""What each approval mode is called, and what it means."""

_HANDOFFS = (
    ("markdown", "Markdown document"),
    ("json", "JSON of the output"),
    ("legacy", "None, a conversation"),
)
_HANDOFF_NOTES = {
    "markdown": "The next nodes get a document with the headings of the template.",
    "json": "The next nodes get the output itself.",
    "legacy": "No document is handed over.",
}


class AgentParts:
    """The fields of an agent, put into a form; `within` leads to the agent's settings."""

    def __init__(self, form: Form, within: str) -> None:
        self._form = form
        self._within = within
        theme = form.theme
        self.system = ProseField(theme, "System prompt", form)
        self.task = ProseField(theme, "Task prompt", form)
        self.handoff = ChoiceField(theme, "Handed over as", form)
        self.handoff.set_choices(_HANDOFFS)
        self.template = ProseField(theme, "Template", form, least=5)
        self.schema = SchemaField(theme, "Fields of the output", form)
        self.approval = ChoiceField(theme, "Approval", form)
        self.structured = FlagField(theme, "Questions with options", form)
        self.free_text = FlagField(theme, "Questions with a free answer", form)
        self.task.set_note("Type / for skills.")
        self.template.set_note("Every heading of it has to be in the document.")

    def put_instructions(self) -> None:
        """Add what the agent is told."""
        put, within = self._form.put_in, self._within
        put(slot("system_prompt", within), self.system, "system prompt")
        put(slot("task_prompt", within), self.task, "task prompt")

    def put_handoff(self) -> None:
        """Add what the agent hands over."""
        put, within = self._form.put_in, self._within
        put(Slot("handoff", within, _handoff_kind, _with_handoff), self.handoff, "handoff")
        put(slot("handoff.template", within), self.template, "handoff template")
        put(Slot("output_schema", within, _schema, _with_schema), self.schema, "output")

    def put_approval(self) -> None:
        """Add what the agent may do unasked."""
        self._form.put_in(slot("tools.approval_mode", self._within), self.approval, "approval mode")

    def put_kinds_of_questions(self) -> None:
        """Add how the agent may ask."""
        put, within = self._form.put_in, self._within
        put(
            slot("tools.allow_structured_user_input", within),
            self.structured,
            "questions with options",
        )
        put(slot("tools.allow_free_text_user_input", within), self.free_text, "free questions")

    def prepare(self, agents: list[Any]) -> None:
        """Show what belongs to these settings; notes are about all of them alike."""
        self.system.set_skills(self._form.offers.skills)
        self.task.set_skills(self._form.offers.skills)
        self.task.set_note("Type / for skills." if self._form.offers.skills else "")
        kinds = {agent.handoff.format for agent in agents}
        default = self._form.offers.approval_mode
        modes = {agent.tools.approval_mode or default for agent in agents}
        self.approval.set_choices(
            [
                (None, f"Inherited: {APPROVAL_WORDS[default][0]}, from the settings"),
                *((mode, words) for mode, (words, _) in APPROVAL_WORDS.items()),
            ]
        )
        self.handoff.set_note(_HANDOFF_NOTES[kinds.pop()] if len(kinds) == 1 else "")
        self.approval.set_note(APPROVAL_WORDS[modes.pop()][1] if len(modes) == 1 else "")
        is_one = len(agents) == 1
        is_markdown = is_one and agents[0].handoff.format == "markdown"
        self.template.setVisible(is_markdown)
        self.schema.setVisible(is_one and not is_markdown)
        for field in (self.system, self.task, self.handoff):
            field.setVisible(is_one)


def _handoff_kind(agent: Any) -> str:
    return str(agent.handoff.format)


def _with_handoff(agent: Any, kind: str) -> Any:
    from engine.graph.handoff import DEFAULT_TEMPLATE
    from engine.graph.node_config import JsonHandoff, LegacyHandoff, MarkdownHandoff

    if kind == agent.handoff.format:
        return agent
    made = {
        "markdown": MarkdownHandoff(template=DEFAULT_TEMPLATE),
        "json": JsonHandoff(),
        "legacy": LegacyHandoff(),
    }
    return agent.model_copy(update={"handoff": made[kind]})


def _schema(agent: Any) -> Any:
    return agent.output_schema


def _with_schema(agent: Any, schema: Any) -> Any:
    return agent.model_copy(update={"output_schema": schema})
