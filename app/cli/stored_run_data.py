"""A stored run as plain data, and the time as such data tells it."""

from __future__ import annotations

from typing import Any

from orchestration.runs.event_hub import rfc3339
from orchestration.runs.stored import StoredRun


def run_data(run: StoredRun) -> dict[str, Any]:
    """The run as the list shows it; times are RFC 3339, UTC."""
    return {
        "run_id": run.run_id,
        "name": run.name,
        "status": run.status.value,
        "interrupted": run.was_cut_off,
        "workflow_id": run.workflow_id,
        "workflow_name": run.workflow_name,
        "started": rfc3339(run.started),
        "updated": rfc3339(run.updated),
        "parent": run.parent_id,
        "fork_seq": run.fork_seq,
        "tokens_in": run.tokens_in,
        "tokens_out": run.tokens_out,
        "driven_by": run.driven_by or None,
    }


def status_words(run: StoredRun) -> str:
    """How the run stands, in words."""
    return "cut off" if run.was_cut_off else run.status.value
