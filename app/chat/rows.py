"""What a transcript is made of: one row for each thing that happened."""

from __future__ import annotations

from typing import Any

USER = "user"
ASSISTANT = "assistant"
THINKING = "thinking"
TOOL = "tool"
OUTPUT = "output"
TASKS = "tasks"
NOTICE = "notice"
QUESTION = "question"
APPROVAL = "approval"
UNCERTAIN = "uncertain"
FAILURE = "failure"
PROBLEMS = "problems"
ENDED = "ended"

CARDS = frozenset({QUESTION, APPROVAL, UNCERTAIN, FAILURE, PROBLEMS, ENDED})
"""Rows that hold controls while they are open."""


class ToolLine:
    """What one row tells about a tool call; times are seconds since the epoch."""

    __slots__ = ("arguments", "call_id", "output", "seconds", "status", "target", "verb")

    def __init__(self, verb: str, target: str, arguments: str, call_id: str = "") -> None:
        self.call_id = call_id
        self.verb = verb
        self.target = target
        self.arguments = arguments
        self.status = "proposed"
        self.seconds: float | None = None
        self.output = ""


class Row:
    """One row.

    Attributes:
        id: Unique in its transcript and growing with the order.
        kind: One of the constants of this module.
        node_id: Whose row it is; empty for rows of the run as a whole.
        actor_id: Who speaks or calls: the node, or a subagent of it.
        label: What it is called.
        time: When it began, in seconds since the epoch.
        text: What it says, Markdown for `ASSISTANT` and `OUTPUT`.
        is_open: Still growing, or still waiting for the person.
        is_folded: Only its first line is shown.
        seconds: How long it took, where that is known.
        payload: What the card of the row needs: a pending question or approval, a list of things
            to do...
        has_others: More calls of the same turn wait for a decision.
        pieces: What was added to the text since the view last looked.
    """

    __slots__ = (
        "actor_id",
        "has_others",
        "id",
        "is_folded",
        "is_open",
        "kind",
        "label",
        "node_id",
        "payload",
        "pieces",
        "seconds",
        "text",
        "time",
        "tool",
        "verdict",
    )

    def __init__(
        self, row_id: int, kind: str, node_id: str, label: str, time: float, text: str = ""
    ) -> None:
        self.id = row_id
        self.kind = kind
        self.node_id = node_id
        self.actor_id = node_id
        self.has_others = False
        self.label = label
        self.time = time
        self.text = text
        self.is_open = False
        self.is_folded = kind in (THINKING, TOOL)
        self.seconds: float | None = None
        self.payload: Any = None
        self.pieces: list[str] = []
        self.tool: ToolLine | None = None
        self.verdict = ""

    @property
    def is_card(self) -> bool:
        """Whether the row is shown as a widget with controls now."""
        return self.is_open and self.kind in CARDS
