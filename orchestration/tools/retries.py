"""Which failures of a tool may pass, and how long to wait before trying again."""

from __future__ import annotations

from engine.graph.workflow import RetryPolicy
from orchestration.tools.tool import FailureKind, ToolFailure

MAX_PAUSE_MS = 30_000
_MAY_PASS = (
    "timeout",
    "timed out",
    "connection reset",
    "connection refused",
    "temporarily unavailable",
    "503",
    "502",
    "429",
)


def is_transient(failure: ToolFailure) -> bool:
    """Whether trying again may help: a timeout, or a failure whose words say so."""
    if failure.kind is FailureKind.TIMEOUT:
        return True
    words = str(failure).lower()
    return failure.kind is FailureKind.FAILED and any(word in words for word in _MAY_PASS)


def pause_ms(policy: RetryPolicy, retry: int) -> int:
    """Milliseconds to wait before retry number `retry` (from 1): doubled each time, no jitter."""
    return min(policy.backoff_ms << min(max(retry, 1) - 1, 16), MAX_PAUSE_MS)
