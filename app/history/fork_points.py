"""Where a run can be forked, and what of each node can be changed there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from orchestration.runs.run_view import RunView


class ForkCall(NamedTuple):
    """A finished tool call whose result can be replaced."""

    call_id: str
    words: str
    output: str


class ForkNode(NamedTuple):
    """A node with what it did; `turns` counts the replies to it, at least one."""

    node_id: str
    label: str
    turns: int
    calls: tuple[ForkCall, ...]
    answer: str
    model: str


def fork_nodes(view: RunView, turns: Sequence[str]) -> list[ForkNode]:
    """The nodes that have begun, in the order of the workflow.

    `turns` are the nodes whose turns the run had, see `Backend.turns`.
    """
    counted = Counter(turns)
    found = []
    for node_id, label in view.labels.items():
        timing = view.timings.get(node_id)
        if timing is None or timing.started_at is None:
            continue
        report = view.context_windows.get(node_id)
        calls = tuple(
            ForkCall(call.call_id, call.tool_name, call.last_output)
            for call in view.tool_calls.get(node_id, {}).values()
            if call.completed_at is not None
        )
        answers = [entry.content for entry in view.chat.get(node_id, ()) if entry.role == "user"]
        found.append(
            ForkNode(
                node_id,
                label,
                max(1, counted[node_id]),
                calls,
                answers[-1] if answers else "",
                report.model if report is not None else "",
            )
        )
    return found
