"""What is different between two states of a workflow, as a short list for a question."""

from __future__ import annotations

from app.kit.formats import plural
from engine.graph.difference import differences
from engine.graph.workflow import Workflow

_MOST_TOLD = 6


def told_differences(before: Workflow, after: Workflow) -> str:
    """Some lines about what `after` has that `before` has not."""
    found = [each.sentence for each in differences(before, after)]
    if not found:
        return "• only where things are on the canvas"
    shown = [f"• {sentence}" for sentence in found[:_MOST_TOLD]]
    if len(found) > _MOST_TOLD:
        shown.append(f"… and {plural(len(found) - _MOST_TOLD, 'more difference')}")
    return "\n".join(shown)
