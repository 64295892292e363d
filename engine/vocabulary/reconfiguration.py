"""A node got other settings while its run is on."""

from __future__ import annotations

from engine.vocabulary.event_base import Event
from engine.vocabulary.inputs import RuntimePatch
from engine.vocabulary.tools import ApprovalMode

_MODES = {
    ApprovalMode.READ_ONLY: "reading only",
    ApprovalMode.ALWAYS_ASK: "asks before every call",
    ApprovalMode.WRITE: "asks before changes",
    ApprovalMode.YOLO: "never asks",
}


class NodeReconfigured(Event, frozen=True, gc=False, tag="node_reconfigured"):
    """From its next model call on a node has other settings; `patch` holds those that are new."""

    node_id: str
    patch: RuntimePatch


def patch_text(patch: RuntimePatch) -> str:
    """What a patch changes, in words: `model gpt-5, effort high`."""
    parts = []
    if patch.model:
        parts.append(f"model {patch.model}")
    if patch.approval_mode is not None:
        parts.append(f"approval: {_MODES[patch.approval_mode]}")
    if patch.clear_reasoning and not patch.reasoning_effort:
        parts.append("effort as the model has it")
    if patch.reasoning_effort:
        parts.append(f"effort {patch.reasoning_effort}")
    if patch.reasoning_budget_tokens:
        parts.append(f"reasoning budget {patch.reasoning_budget_tokens:,} tokens")
    if patch.fast_mode is not None:
        parts.append("fast" if patch.fast_mode else "normal speed")
    return ", ".join(parts) or "nothing"
