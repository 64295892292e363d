"""Whether a tool call may run, must be asked about, or is denied; and what a decision binds."""

from __future__ import annotations

import json
from enum import StrEnum
from hashlib import sha256

from engine.vocabulary.tools import ApprovalMode, JsonObject, ToolTier


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
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def decide(mode: ApprovalMode, tier: ToolTier) -> Verdict:
    """The policy for one call, whether or not its tool was offered."""
    if tier is ToolTier.READ:
        return _READ.get(mode, Verdict.AUTO_ALLOW)
    return _WRITE[mode]


def call_digest(
    path: tuple[str, ...], tool_name: str, arguments: JsonObject, targets: tuple[str, ...] = ()
) -> str:
    """SHA-256, in hex, of who calls what with which arguments, and of what they lead to.

    Equal for equal arguments whatever the order of their keys. A decision holds for this digest
    and for no other.
    """
    return sha256(_encode([path, tool_name, arguments, targets]).encode()).hexdigest()
