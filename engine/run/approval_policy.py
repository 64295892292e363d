"""Whether a tool call may run, must be asked about, or is denied; and what a decision binds."""

from __future__ import annotations

import json
from enum import StrEnum
from hashlib import sha256

import msgspec

from engine.run.shell_classifier import is_reading
from engine.vocabulary.tools import (
    CALL_SUBAGENT_TOOL,
    DECLARE_SUBAGENTS_TOOL,
    SEAL_PLAN_TOOL,
    ApprovalMode,
    JsonObject,
    ToolCall,
    ToolDefinition,
    ToolTier,
)


class Verdict(StrEnum):
    """What becomes of a call before anybody is asked."""

    AUTO_ALLOW = "auto_allow"
    PROMPT = "prompt"
    DENY = "deny"


_READ = {ApprovalMode.ALWAYS_ASK: Verdict.PROMPT}
_WRITE = {
    ApprovalMode.READ_ONLY: Verdict.DENY,
    ApprovalMode.ALWAYS_ASK: Verdict.PROMPT,
    ApprovalMode.WRITE: Verdict.PROMPT,
    ApprovalMode.YOLO: Verdict.AUTO_ALLOW,
}
_COMMAND_TOOL = "bash"
_WHAT_IT_DOES = {
    "write": "writes files",
    "edit": "writes files",
    "apply_patch": "writes files",
    "ast_edit": "writes files",
    _COMMAND_TOOL: "runs a command that is not a plain listing",
    SEAL_PLAN_TOOL: "seals the plan",
    DECLARE_SUBAGENTS_TOOL: "declares subagents",
    CALL_SUBAGENT_TOOL: "puts a subagent to work",
}
_encode = msgspec.json.Encoder(order="deterministic").encode
_encode_escaped = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def decide(mode: ApprovalMode, tier: ToolTier) -> Verdict:
    """The policy for one call, whether or not its tool was offered."""
    if tier is ToolTier.READ:
        return _READ.get(mode, Verdict.AUTO_ALLOW)
    return _WRITE[mode]


def tier_of_call(definition: ToolDefinition | None, call: ToolCall) -> ToolTier:
    """The tier of one call: its tool's, but a command that only lists is reading.

    A call with variables of its own is never a plain listing.
    """
    if definition is None:
        return ToolTier.WRITE
    if call.name == _COMMAND_TOOL and not call.arguments.get("env"):
        command = call.arguments.get("command")
        if isinstance(command, str) and is_reading(command):
            return ToolTier.READ
    return definition.tier


def reason_to_ask(call: ToolCall, tier: ToolTier) -> str:
    """Why a person is asked about a call, in words that follow its name."""
    if tier is ToolTier.READ:
        return "only reads, but this node asks before every call"
    if call.name == _COMMAND_TOOL and call.arguments.get("env"):
        return "runs a command with variables of its own"
    return _WHAT_IT_DOES.get(call.name, "can change things")


def call_digest(
    path: tuple[str, ...], tool_name: str, arguments: JsonObject, targets: tuple[str, ...] = ()
) -> str:
    """SHA-256, in hex, of who calls what with which arguments, and of what they lead to.

    Equal for equal arguments whatever the order of their keys. A decision holds for this digest
    and for no other. Numbers are finite, which is seen to where arguments are decoded.
    """
    bound = [path, tool_name, arguments, targets]
    try:
        data = _encode(bound)
    except UnicodeEncodeError:  # half of a character; its escape is in no text encoded above
        data = _encode_escaped(bound).encode()
    return sha256(data).hexdigest()
