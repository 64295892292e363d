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

SPLIT = frozenset({USER, ASSISTANT})
"""Kinds whose long texts go on in further rows."""

CARDS = frozenset({QUESTION, APPROVAL, UNCERTAIN, FAILURE, PROBLEMS, ENDED})
"""Rows that hold controls while they are open."""

HERE = "here"
WITH_ANOTHER = "with another"
"""Where a waiting call was decided about."""


class ToolLine:
    """What one row tells about a tool call.

    `name` is the tool's own, `path` the file that the call is about, if it names one; `seconds` is
    how long it took.
    """

    __slots__ = (
        "arguments",
        "call_id",
        "name",
        "output",
        "path",
        "seconds",
        "status",
        "target",
        "verb",
    )

    def __init__(self, verb: str, target: str, arguments: str, call_id: str = "") -> None:
        self.call_id = call_id
        self.name = ""
        self.path = ""
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
        opening: Markdown that stands before the text where it goes on in the middle of a block.
        closing: Markdown that closes a block which the text leaves open.
        before: The row that holds the part of the message before this one.
        after: The row that holds the part of the message behind this one.
        stack: On the first of several calls in a row: all of them, this one included.
        head: The first call of the stack that this call belongs to.
        is_stack_folded: Of a stack only one line is shown.
        batch_id: What the call changed can be reverted under this name, or could be.
        is_reverted: It has been.
        decided: `here` once somebody has pressed a button of this card, `with another` once
            another card's rule may decide about it, too.
        handoff: Of an output, the document that it is handed on as, where there is one.
        handoff_text: What that document says; `None` until it is read.
        turned: Of an output, the places in its tree that are not folded as they were at first.
        shows_handoff: An output is shown as it is handed on, not as a tree.
    """

    __slots__ = (
        "actor_id",
        "after",
        "batch_id",
        "before",
        "closing",
        "decided",
        "handoff",
        "handoff_text",
        "has_others",
        "head",
        "id",
        "is_folded",
        "is_open",
        "is_reverted",
        "is_stack_folded",
        "kind",
        "label",
        "node_id",
        "opening",
        "payload",
        "seconds",
        "shows_handoff",
        "stack",
        "text",
        "time",
        "tool",
        "turned",
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
        self.tool: ToolLine | None = None
        self.verdict = ""
        self.opening = ""
        self.closing = ""
        self.before: Row | None = None
        self.after: Row | None = None
        self.stack: list[Row] | None = None
        self.head: Row | None = None
        self.is_stack_folded = True
        self.batch_id = ""
        self.is_reverted = False
        self.decided = ""
        self.shows_handoff = False
        self.handoff: Any = None
        self.handoff_text: str | None = None
        self.turned: set[str] = set()

    @property
    def is_card(self) -> bool:
        """Whether the row is shown as a widget with controls now."""
        return bool(self.batch_id) or (self.is_open and self.kind in CARDS)

    @property
    def is_document_wanted(self) -> bool:
        """Whether it is to show a Markdown document that has not been read yet."""
        is_markdown = self.handoff is not None and self.handoff.format == "markdown"
        return is_markdown and self.shows_handoff and self.handoff_text is None

    @property
    def is_nested(self) -> bool:
        """Whether it is a subagent's."""
        return self.actor_id != self.node_id

    @property
    def parts(self) -> list[Row]:
        """The rows of the message that this row is a part of; most have one."""
        first = self
        while first.before is not None:
            first = first.before
        rows = [first]
        while (following := rows[-1].after) is not None:
            rows.append(following)
        return rows

    @property
    def last_part(self) -> Row:
        """The last row of the message."""
        return self.parts[-1]

    @property
    def whole_text(self) -> str:
        """The text of the message that this row is a part of."""
        return "".join(row.text for row in self.parts)
