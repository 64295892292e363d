"""A workflow: agent nodes, the edges between them, and settings for all of them."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from engine.graph.file_model import FileModel
from engine.graph.node_config import U32, U64, AgentNodeConfig, Flag
from engine.vocabulary.errors import UnknownNode
from engine.vocabulary.tools import JsonObject

AGENT_KIND = "agent"
Coordinate = Annotated[float, Field(strict=True, allow_inf_nan=False)]


def _kind(kind: str) -> str:
    return AGENT_KIND if kind == "Agent" else kind


class WorkflowSchedule(FileModel):
    """When a workflow starts by itself. `timezone` is an IANA name; empty means UTC."""

    cron: str
    enabled: Flag = True
    timezone: str = ""


class RetryPolicy(FileModel):
    """How many times a transient failure is tried again, and how long the first wait is."""

    max_attempts: Annotated[int, Field(strict=True, ge=0, le=255)] = 3
    backoff_ms: U64 = 1000


class PlanMode(FileModel):
    """One node plans with a person; all others run once its plan is sealed."""

    evidence_source_node_id: str = Field(serialization_alias="evidenceSourceNodeId")


class WorkflowSettings(FileModel):
    """Settings that hold for every node that has none of its own."""

    shared_context: str = ""
    schedule: WorkflowSchedule | None = None
    retry_policy: RetryPolicy = RetryPolicy()
    provider_id: str | None = None
    reasoning_effort: str | None = Field(default=None, serialization_alias="reasoningEffort")
    reasoning_budget_tokens: U32 | None = Field(
        default=None, serialization_alias="reasoningBudgetTokens"
    )
    fast_mode: Flag = Field(default=False, serialization_alias="fastMode")
    forward_upstream_reads: Flag = Field(default=True, serialization_alias="forwardUpstreamReads")
    plan_mode: PlanMode | None = Field(default=None, serialization_alias="planMode")
    output_repair_model: str | None = Field(default=None, serialization_alias="outputRepairModel")


class Position(FileModel):
    """Where a node's top left corner is on the canvas, in canvas units."""

    x: Coordinate
    y: Coordinate


class Node(FileModel):
    """A node of the graph. `agent` is absent only where `kind` is one that we do not know."""

    skipped_when_default: ClassVar[frozenset[str]] = frozenset({"agent"})

    id: str
    label: str
    kind: Annotated[str, AfterValidator(_kind)]
    position: Position
    agent: AgentNodeConfig | None = None

    @model_validator(mode="after")
    def _agents_have_settings(self) -> Self:
        if self.agent is None and self.kind == AGENT_KIND:
            raise PydanticCustomError("missing_agent", "an agent node needs the key 'agent'")
        return self

    @classmethod
    def readable(cls, document: JsonObject) -> JsonObject:
        """All of an agent node; of other kinds only what the graph needs, as far as it fits."""
        kind = document.get("kind")
        if not isinstance(kind, str) or _kind(kind) == AGENT_KIND:
            return document
        label, position = document.get("label"), document.get("position")
        readable: JsonObject = {
            "kind": kind,
            "label": label if isinstance(label, str) else "",
            "position": position if _fits_position(position) else {"x": 0.0, "y": 0.0},
        }
        if "id" in document:
            readable["id"] = document["id"]
        return readable


def _is_annotation(value: object) -> bool:
    try:
        Annotation.model_validate(value, extra="ignore", by_alias=True, by_name=False)
    except ValidationError:
        return False
    return True


def _fits_position(value: object) -> bool:
    try:
        Position.model_validate(value, extra="ignore")
    except ValidationError:
        return False
    return True


class Edge(FileModel):
    """An edge: `target` gets the output of `source`."""

    id: str
    source: str = Field(validation_alias="from", serialization_alias="from")
    target: str = Field(validation_alias="to", serialization_alias="to")


class Annotation(FileModel):
    """A note or a frame on the canvas, for people only; sizes in canvas units.

    A note shows its text (Markdown). A frame lies behind nodes and shows its text as a title.
    """

    id: str
    kind: Literal["note", "frame"]
    text: str = ""
    position: Position
    width: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
    height: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
    color: str = ""


class Workflow(FileModel):
    """A whole workflow. It need not be valid: `engine.graph.validation` tells."""

    skipped_when_default: ClassVar[frozenset[str]] = frozenset({"annotations"})
    remembered: ClassVar[tuple[str, ...]] = ("_origin", "_source_text")

    id: str
    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    settings: WorkflowSettings = WorkflowSettings()
    annotations: tuple[Annotation, ...] = ()

    @classmethod
    def readable(cls, document: JsonObject) -> JsonObject:
        """The document with its nodes made readable, and without notes that are none of ours."""
        nodes, notes = document.get("nodes"), document.get("annotations", [])
        if not (isinstance(notes, list) and all(map(_is_annotation, notes))):
            document = {key: value for key, value in document.items() if key != "annotations"}
        if not isinstance(nodes, list):
            return document
        readable = [Node.readable(node) if isinstance(node, dict) else node for node in nodes]
        return {**document, "nodes": readable}

    @property
    def source_text(self) -> str | None:
        """The text of the file that this was read from, edits since then not included."""
        return self.__dict__.get("_source_text")

    def remember_text(self, text: str) -> None:
        """Keep the text that this workflow was read from."""
        self._remember("_source_text", text)

    def node(self, node_id: str) -> Node:
        """The node with this id (the first one where an invalid workflow has several).

        Raises:
            UnknownNode: if there is none.
        """
        found = self._node_by_id.get(node_id)
        if found is None:
            raise UnknownNode(node_id)
        return found

    @cached_property
    def _node_by_id(self) -> dict[str, Node]:
        return {node.id: node for node in reversed(self.nodes)}
