"""How a run ended, as one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orchestration.headless import HeadlessResult


def outcome(file: Path, result: HeadlessResult) -> str | None:
    """What went wrong or is still open, where, and what to do; `None` for a run that completed."""
    report = result.report
    match report["status"]:
        case "completed":
            return None
        case "stopped":
            return f"the run of {file} was stopped"
        case "paused":
            waiting = "; ".join(_waits_for(item) for item in report["waiting"])
            return f"the run of {file} waits for {waiting}; start it again with --answers FILE"
    if result.error is not None:
        return f"the run of {file} failed: {result.error}"
    failed = "; ".join(f"node '{node}': {text}" for node, text in report["failed"].items())
    return f"the run of {file} failed at {failed}"


def _waits_for(item: dict[str, Any]) -> str:
    match item["kind"]:
        case "question":
            return f"an answer to node '{item['node_id']}' ({item['question']})"
        case "approval":
            return (
                f"a decision about the call of {item['tool_name']} by node '{item['node_id']}' "
                "(or --approve allow)"
            )
    return f"another try of node '{item['node_id']}'"
