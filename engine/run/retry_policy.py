"""How long to wait before a call that failed for a passing reason is made again."""

from __future__ import annotations

from engine.graph.workflow import RetryPolicy

MAX_BACKOFF_S = 30.0
MAX_DELAY_S = 600.0

_MAX_DOUBLINGS = 16
_MIN_JITTER_MS, _JITTER_SPAN_MS = 100, 400


def backoff_s(policy: RetryPolicy, retry: int, fraction: float) -> float:
    """Seconds before retry number `retry` (from 1); `fraction` in [0, 1) spreads the calls.

    The wait doubles with each retry up to 30 s; 0.1 to 0.5 s are added so that nodes that failed
    together do not come back together.
    """
    doublings = min(max(retry, 1) - 1, _MAX_DOUBLINGS)
    wait_s = min(policy.backoff_ms * (1 << doublings) / 1000, MAX_BACKOFF_S)
    return wait_s + (_MIN_JITTER_MS + _JITTER_SPAN_MS * fraction) / 1000


def retry_delay_s(
    policy: RetryPolicy, retry: int, fraction: float, retry_after_s: float | None
) -> float:
    """Seconds before a retry, not less than the provider asked for, ten minutes at most."""
    delay = backoff_s(policy, retry, fraction)
    if retry_after_s is not None and retry_after_s > delay:
        delay = retry_after_s
    return min(delay, MAX_DELAY_S)
