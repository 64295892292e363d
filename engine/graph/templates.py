"""Ready-made agent nodes, and the plain one that a new node starts as."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Self

from msgspec import Struct, structs

from engine.graph.handoff import DEFAULT_OUTPUT_SCHEMA, DEFAULT_TEMPLATE
from engine.graph.node_config import AgentNodeConfig, JsonHandoff, MarkdownHandoff
from engine.graph.workflow import AGENT_KIND, Node, Position
from engine.vocabulary.errors import EngineError
from engine.vocabulary.tools import JsonObject


class LockableField(StrEnum):
    """A setting that a template can keep from being changed."""

    SYSTEM_PROMPT = "system_prompt"
    TASK_PROMPT = "task_prompt"
    MODEL = "model"
    OUTPUT_SCHEMA = "output_schema"


class LockedField(EngineError):
    """A change of a setting that the template has locked; unlock it first."""

    def __init__(self, template_id: str, field: LockableField) -> None:
        self.template_id, self.field = template_id, field
        super().__init__(f"'{field}' is locked in the template '{template_id}': unlock it first")


class NodeTemplate(Struct, frozen=True):
    """Settings that new nodes can start from."""

    id: str
    display_name: str
    description: str
    default_config: AgentNodeConfig
    locked_fields: frozenset[LockableField] = frozenset()

    def is_locked(self, field: LockableField) -> bool:
        """Whether the setting may not be changed."""
        return field in self.locked_fields

    def locked(self, field: LockableField) -> Self:
        """The template with one more setting locked."""
        return structs.replace(self, locked_fields=self.locked_fields | {field})

    def unlocked(self, field: LockableField) -> Self:
        """The template with the setting free to be changed."""
        return structs.replace(self, locked_fields=self.locked_fields - {field})

    def changed(self, **settings: Any) -> Self:
        """The template with other settings.

        Raises:
            LockedField: if one of them is locked.
            pydantic.ValidationError: if one of them does not fit.
        """
        for field in LockableField:
            if field in settings and self.is_locked(field):
                raise LockedField(self.id, field)
        return structs.replace(self, default_config=self.default_config.model_copy(update=settings))

    def instantiate(self, node_id: str, position: Position) -> Node:
        """A new node, labelled with the template's display name."""
        return Node(
            id=node_id,
            label=self.display_name,
            kind=AGENT_KIND,
            position=position,
            agent=self.default_config,
        )


def new_agent_config() -> AgentNodeConfig:
    """The settings that a new agent node starts with."""
    return AgentNodeConfig(
        system_prompt="You are an agent with one clear job. Keep to it and be precise.",
        task_prompt="Do your part with what you were given and fill in the handoff.",
        output_schema=DEFAULT_OUTPUT_SCHEMA,
        handoff=MarkdownHandoff(template=DEFAULT_TEMPLATE),
    )


def builtin_templates() -> tuple[NodeTemplate, ...]:
    """The templates that come with the program; their ids never change."""
    return (
        NodeTemplate(
            id="builtin.simple-agent",
            display_name="Simple Agent",
            description="An agent that does one task and hands over a short document.",
            default_config=new_agent_config(),
        ),
        NodeTemplate(
            id="builtin.code-reviewer",
            display_name="Code Reviewer",
            description="Reads a change and lists what is wrong with it, worst first.",
            default_config=_config(
                "You review code. You look for defects that matter: wrong results, lost data, "
                "holes in security, missing error handling. You do not argue about style.",
                "Review the change that you were given. Report each finding with its severity, "
                "the file and line where it is, and a suggestion; then sum up.",
                _REVIEW,
            ),
        ),
        NodeTemplate(
            id="builtin.document-summarizer",
            display_name="Document Summarizer",
            description="Boils a document down to a summary, key points and things to do.",
            default_config=_config(
                "You summarise documents for readers with little time. You add nothing that the "
                "document does not say.",
                "Summarise the document that you were given: what it says in a few sentences, its "
                "key points, and what somebody has to do, if anything.",
                _SUMMARY,
            ),
        ),
        NodeTemplate(
            id="builtin.classifier",
            display_name="Classifier",
            description="Puts what it is given into one category and says how sure it is.",
            default_config=_config(
                "You sort things into categories. You choose exactly one and are honest about "
                "how sure you are.",
                "Classify what you were given. Name the category, your confidence from 0 to 1, "
                "and the reason in one sentence.",
                _CLASSIFICATION,
            ),
            locked_fields=frozenset({LockableField.OUTPUT_SCHEMA}),
        ),
        NodeTemplate(
            id="builtin.manual-start-node",
            display_name="Human Review Node",
            description="Shows a person what there is so far and asks whether to go on.",
            default_config=_config(
                "You present work to a person and take down their decision. You do not decide.",
                "Show what you were given in a few lines and ask whether it is approved. "
                "Hand over the decision and what the person said.",
                _APPROVAL,
            ).model_copy(update={"request_user_input": True}),
        ),
    )


def _config(system_prompt: str, task_prompt: str, schema: JsonObject) -> AgentNodeConfig:
    return AgentNodeConfig(
        system_prompt=system_prompt,
        task_prompt=task_prompt,
        output_schema=schema,
        handoff=JsonHandoff(),
    )


def _object(properties: JsonObject, required: Iterable[str]) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_TEXT: JsonObject = {"type": "string"}
_TEXTS: JsonObject = {"type": "array", "items": _TEXT}
_FINDING = _object(
    {
        "severity": {"type": "string", "enum": ["critical", "warning", "info"]},
        "description": _TEXT,
        "file": _TEXT,
        "line": {"type": "integer", "minimum": 1},
        "suggestion": _TEXT,
    },
    ["severity", "description"],
)
_REVIEW = _object(
    {"findings": {"type": "array", "items": _FINDING}, "summary": _TEXT}, ["findings", "summary"]
)
_SUMMARY = _object(
    {"executive_summary": _TEXT, "key_points": _TEXTS, "action_items": _TEXTS},
    ["executive_summary", "key_points"],
)
_CLASSIFICATION = _object(
    {
        "category": _TEXT,
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "rationale": _TEXT,
    },
    ["category", "confidence"],
)
_APPROVAL = _object({"approved": {"type": "boolean"}, "comments": _TEXT}, ["approved"])
