"""Plan mode: what may be done while one node plans, and the plan that is frozen at the end.

While the plan's source has not finished, every node works under the planning policy: reading is
free, the source alone writes the draft and seals it, documentation may be prepared, nothing else
is changed. What the source submits is frozen as a packet with a hash, and every later node gets it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from engine.run.feedback import PLAN_DRAFT_URI
from engine.vocabulary.messages import ResultItem, TranscriptItem
from engine.vocabulary.tools import (
    SEAL_PLAN_TOOL,
    ApprovalMode,
    JsonObject,
    ToolAccessPolicy,
    ToolCall,
    ToolResult,
    ToolTier,
)

PACKET_SCHEMA_VERSION = 1

_FILE_WRITERS = frozenset({"write", "edit"})
_SECTION_HEADER = re.compile(r"^\s*¶([^#\n]*)", re.MULTILINE)
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def is_draft_mutation(call: ToolCall) -> bool:
    """Whether the call writes to the draft of the plan, and to nothing else."""
    return call.name in _FILE_WRITERS and _written_paths(call) == {PLAN_DRAFT_URI}


def denial(
    call: ToolCall,
    *,
    tier: ToolTier,
    policy: ToolAccessPolicy,
    is_source: bool,
    mode: ApprovalMode,
) -> str | None:
    """Say to the model why plan mode does not let the call run; `None` if it does.

    `tier` is that of the call's tool; approval comes after this and is another matter.
    """
    touches_draft = call.name in _FILE_WRITERS and PLAN_DRAFT_URI in _written_paths(call)
    touches_plan = touches_draft or call.name == SEAL_PLAN_TOOL
    if policy is ToolAccessPolicy.EXECUTION:
        if touches_plan:
            return f"{call.name} was denied: the plan is not open to changes now."
        return None
    if touches_plan and not is_source:
        return f"{call.name} was denied: only the node that owns the plan may write or seal it."
    if tier is ToolTier.READ or call.name == SEAL_PLAN_TOOL or is_draft_mutation(call):
        return None
    if call.name in _FILE_WRITERS:
        return _documentation_denial(call, mode)
    if call.name == "bash":
        return (
            "bash was denied: no commands run while the plan is being made. "
            "Use the reading tools to look around."
        )
    return f"{call.name} was denied: while the plan is being made, only reading tools run."


def is_seal_result(result: ToolResult) -> bool:
    """Whether a result says that the plan was sealed."""
    return result.tool_name == SEAL_PLAN_TOOL and not result.is_error and bool(result.artifact_ids)


def is_sealed(transcript: Sequence[TranscriptItem]) -> bool:
    """Whether the node with this transcript has sealed the plan."""
    return any(isinstance(item, ResultItem) and is_seal_result(item.result) for item in transcript)


def sealed_arguments(result: ToolResult) -> JsonObject:
    """What the recorded arguments of a successful seal call are replaced by."""
    return {"artifact_id": result.artifact_ids[0], "sealed_from": PLAN_DRAFT_URI}


def freeze_packet(source_node_id: str, content: Any) -> JsonObject:
    """The packet that later nodes get; `content` is the output of the plan's source."""
    return {
        "schemaVersion": PACKET_SCHEMA_VERSION,
        "sourceNodeId": source_node_id,
        "sha256": _hash(content),
        "content": content,
    }


def packet_problem(packet: JsonObject, source_node_id: str, output: Any) -> str | None:
    """Say why a stored packet is not what `source_node_id` submitted as `output`."""
    content = packet.get("content")
    if packet.get("schemaVersion") != PACKET_SCHEMA_VERSION:
        return "the frozen plan has another version than this program knows"
    if packet.get("sourceNodeId") != source_node_id:
        return f"the frozen plan does not come from node '{source_node_id}'"
    if packet.get("sha256") != _hash(content):
        return "the frozen plan was altered: its hash does not match its content"
    if _canonical(content) != _canonical(output):
        return f"the frozen plan is not the output of node '{source_node_id}'"
    return None


def _hash(content: Any) -> str:
    return sha256(_canonical(content).encode("utf-8", "surrogatepass")).hexdigest()


def _written_paths(call: ToolCall) -> set[str]:
    """All paths that a `write` or `edit` call names; edits by hash line name theirs in `input`."""
    paths = set()
    if "path" in call.arguments:
        paths.add(str(call.arguments["path"]))
    sections = call.arguments.get("input")
    if isinstance(sections, str):
        paths.update(path.strip() for path in _SECTION_HEADER.findall(sections))
    return paths


def _documentation_denial(call: ToolCall, mode: ApprovalMode) -> str | None:
    if mode is ApprovalMode.READ_ONLY:
        return f"{call.name} was denied: this node may only read."
    paths = _written_paths(call)
    if paths and all(map(_is_documentation, paths)):
        return None
    return (
        f"{call.name} was denied: while the plan is being made, only Markdown files below docs/ "
        "may be written."
    )


def _is_documentation(path: str) -> bool:
    parts = path.replace("\\", "/").removeprefix("./").split("/")
    return (
        len(parts) > 1
        and parts[0] == "docs"
        and path.endswith(".md")
        and ":" not in path
        and not {"", ".."} & set(parts)
    )
