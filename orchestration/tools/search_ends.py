"""What a model is told of a search that did not come to its end."""

from __future__ import annotations

from orchestration.tools.tool import FailureKind, ToolFailure


def remarks_on_end(
    what: str,
    *,
    is_complete: bool,
    timed_out: bool,
    time_limit_s: float,
    stopped_at: str,
    has_found: bool,
) -> list[str]:
    """The lines to add to what was found; none where the search is complete.

    Args:
        what: names the search in an error.
        is_complete: whether it came to its end.
        timed_out: whether its time was over.
        time_limit_s: how much time it had.
        stopped_at: the limit at which it was stopped, and what can be made narrower.
        has_found: whether there is anything to show.

    Raises:
        ToolFailure: its time was over, and nothing was found.
    """
    if is_complete:
        return []
    if not timed_out:
        return [f"[stopped at {stopped_at} narrower for the rest]"]
    if not has_found:
        raise ToolFailure(
            FailureKind.TIMEOUT, f"{what} took more than {time_limit_s:g} s", "name paths"
        )
    return [f"[stopped after {time_limit_s:g} s; name narrower paths for the rest]"]
