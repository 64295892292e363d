"""The values that a run's projection is made of. Times are seconds since the epoch."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from engine.vocabulary.messages import Usage
from engine.vocabulary.tools import CallStatus, JsonObject, OutputMeta

_encode = msgspec.json.Encoder().encode
_format = msgspec.json.format


class RunStatus(StrEnum):
    """How a run stands as a whole."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    PAUSED = "paused"
    STOPPED = "stopped"


class NodeStatus(StrEnum):
    """How a node stands; `is_busy`: something goes on for it that needs no person."""

    is_busy: bool

    IDLE = "idle"
    QUEUED = "queued"
    STARTED = "started"
    AWAITING_INPUT = "awaiting_input"
    AWAITING_TOOL_APPROVAL = "awaiting_tool_approval"
    RUNNING_TOOL = "running_tool"
    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"

    def __init__(self, value: str) -> None:
        self.is_busy = value in ("queued", "started", "running_tool")


class EntryKind(StrEnum):
    """What an entry of a node's chat is."""

    MESSAGE = "message"
    TOOL_CALL = "tool_call"
    NODE_COMPLETED = "node_completed"
    NOTICE = "notice"


class ChatEntry(Struct, eq=False, gc=False):
    """One entry of a node's chat; `role` is `user`, `assistant`, `thinking` or `system`.

    `elapsed_s` is the time between the completion of the message of a person or the model before
    this one and the beginning of this one. `output` is that of a completed node.
    """

    id: str
    role: str
    kind: EntryKind
    created_at: float
    pieces: list[str] | None = None
    streaming: bool = False
    completed_at: float | None = None
    elapsed_s: float | None = None
    tool_call_id: str | None = None
    output: Any = None

    @property
    def content(self) -> str:
        """The text; for a completed node its output as indented JSON."""
        if self.kind is EntryKind.NODE_COMPLETED:
            return pretty_json(self.output)
        pieces = self.pieces
        if not pieces:
            return ""
        if len(pieces) > 1:
            self.pieces = pieces = ["".join(pieces)]
        return pieces[0]


class ToolCallView(Struct, gc=False):
    """One tool call as it stands. `intent` is what the model said it wants with it."""

    call_id: str
    tool_name: str
    status: CallStatus
    arguments: JsonObject
    intent: str | None = None
    last_output: str = ""
    is_error: bool = False
    streaming: bool = False
    output_meta: OutputMeta | None = None
    started_at: float | None = None
    completed_at: float | None = None
    artifact_ids: tuple[str, ...] = ()


class TodoItem(Struct, frozen=True, gc=False):
    """One item of a list that a model keeps; `status` is pending, in_progress or completed."""

    content: str
    status: str


class TraceStatus(StrEnum):
    """What a row of the trace reports."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    FAILED = "failed"
    STOPPED = "stopped"
    COMPLETED = "completed"


class TraceEntry(Struct, frozen=True, gc=False):
    """One row of the trace; `output` is the detail to show for it."""

    time: float
    node_id: str
    node_label: str
    status: TraceStatus
    message: str
    output: Any = None


class NodeTiming(Struct, gc=False):
    """When a node did what; `model_ms` sums its model calls."""

    queued_at: float | None = None
    started_at: float | None = None
    completed_at: float | None = None
    model_ms: int = 0


class UsageTotals(Struct):
    """Tokens and US dollars of all calls so far; `None` until something is known.

    `unpriced_calls` have tokens and no known price: the cost is that of the others.
    """

    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    cost: float | None = None
    unpriced_calls: int = 0

    def add(self, usage: Usage) -> None:
        """Count one call."""
        if usage.prompt_tokens is not None:
            self.tokens_in = (self.tokens_in or 0) + usage.prompt_tokens
        if usage.completion_tokens is not None:
            self.tokens_out = (self.tokens_out or 0) + usage.completion_tokens
        if usage.cached_input_tokens is not None:
            self.tokens_cached = (self.tokens_cached or 0) + usage.cached_input_tokens
        if usage.cost is not None:
            self.cost = (self.cost or 0.0) + usage.cost
        else:
            self.unpriced_calls += 1


def pretty_json(value: Any) -> str:
    """A JSON value as indented text."""
    return pretty_json_bytes(value).decode()


def pretty_json_bytes(value: Any) -> bytes:
    """A JSON value as indented text in UTF-8; a model's half surrogate pairs are escaped."""
    try:
        return _format(_encode(value), indent=2)
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(value, indent=2).encode()
