"""A call that waits for a decision, in full, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from app.kit.visible import visible_lines, visible_name
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import CallPreview, FilePreview, RuleProposal, ToolTier

# What a complete diff shows better than the arguments do.
_IN_THE_DIFF = frozenset({"content", "edits", "input"})


def call_lines(pending: PendingApproval) -> Iterator[str]:
    """Who wants to call what, all of its arguments, what it would do, and the rule it may make."""
    call, preview = pending.tool_call, pending.preview
    who = " / ".join((pending.node_label, *pending.path[1:]))
    can = "it only reads" if pending.tier is ToolTier.READ else "it can change things"
    yield f"{who} wants to call {call.name} ({can})"
    if pending.reason:
        yield f"  it {pending.reason}"
    has_diff = preview is not None and bool(preview.files)
    for key, value in call.arguments.items():
        if not (has_diff and key in _IN_THE_DIFF):
            yield from _argument(key, value)
    if preview is not None:
        yield from _effect(preview)
    if pending.rule is not None:
        yield from _rule(pending.rule)


def _argument(key: str, value: Any) -> Iterator[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    first, *rest = visible_lines(text)
    if rest:
        yield f"  {key}:"
        yield from (f"    {line}" for line in (first, *rest))
    else:
        yield f"  {key}: {first}"


def _effect(preview: CallPreview) -> Iterator[str]:
    if preview.cwd is not None:
        yield f"  runs in: {visible_name(preview.cwd)}"
    for file in preview.files:
        yield f"  {_headline(file)}"
        yield from (f"    {line}" for line in visible_lines(file.diff))
    if preview.problem is not None:
        yield f"  what it would do could not be found out: {preview.problem}"


def _headline(file: FilePreview) -> str:
    to = f" to {visible_name(file.rename_to)}" if file.rename_to is not None else ""
    return f"would {file.op.value} {visible_name(file.path)}{to}:"


def _rule(rule: RuleProposal) -> Iterator[str]:
    yield f"  for this run would also allow: {rule.matches}"
    yield f"  and would still ask about: {rule.near_miss}"
