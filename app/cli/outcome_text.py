"""How a run ended, as one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.cli.problem_text import likewise
from orchestration.headless import HeadlessResult

MAX_FAILURES = 5
# By the class that a failed node's text begins with.
_ADVICE = {
    "permanent: ": "correct the key, the model or the address and run it again",
    "transient: ": "check the connection and the address, or run it again later",
}


def outcome(subject: str, result: HeadlessResult) -> str | None:
    """What went wrong or is still open, where, and what to do; `None` for a run that completed.

    `subject` is what was run: a file, or a stored run.
    """
    report = result.report
    match report["status"]:
        case "completed":
            return None
        case "stopped":
            return f"the run of {subject} was stopped; {_go_on(report)}"
        case "paused":
            waiting = "; ".join(_waits_for(item) for item in report["waiting"])
            return f"the run of {subject} waits for {waiting}; {_go_on(report)}"
    if result.error is not None:
        return f"the run of {subject} failed: {result.error}"
    alike: dict[str, list[str]] = {}
    for node, text in report["failed"].items():
        alike.setdefault(_plain(text), []).append(node)
    told = [
        f"node '{nodes[0]}': {text}{likewise(nodes[1:])}"
        for text, nodes in list(alike.items())[:MAX_FAILURES]
    ]
    if len(alike) > MAX_FAILURES:
        told.append(f"and {len(alike) - MAX_FAILURES} more failures, which the report lists")
    failed = "; ".join(told)
    return "; ".join(
        [f"the run of {subject} failed at {failed}", *_advice(report["failed"].values())]
    )


def _go_on(report: dict[str, Any]) -> str:
    needs = report["waiting"]
    answers = " --answers FILE" if any(item["kind"] != "retry" for item in needs) else ""
    return f"'openflow runs resume {report['run_id']}{answers}' goes on"


def _plain(text: str) -> str:
    """A node's error without the class before it and the full stop after it."""
    for kind in _ADVICE:
        text = text.removeprefix(kind)
    return text.rstrip(". ")


def _advice(texts: Iterable[str]) -> list[str]:
    """What to do, unless each text says so itself after its semicolon."""
    silent = [text for text in texts if "; " not in text]
    if not silent:
        return []
    kinds = [kind for kind in _ADVICE if any(text.startswith(kind) for text in silent)]
    return [_ADVICE[kinds[0]] if kinds else "see what led to it with --events FILE"]


def _waits_for(item: dict[str, Any]) -> str:
    match item["kind"]:
        case "budget":
            return f"a decision about its limit ({item['question']})"
        case "question":
            return f"an answer to node '{item['node_id']}' ({item['question']})"
        case "approval":
            inner = [f"subagent '{each}'" for each in item["path"][1:]]
            caller = " of ".join([*inner, f"node '{item['node_id']}'"])
            return (
                f"a decision about the call of {item['tool_name']} by {caller} (or --approve allow)"
            )
        case "uncertain":
            return (
                f"a word about what became of the call of {item['tool_name']} by node "
                f"'{item['node_id']}'"
            )
    return f"another try of node '{item['node_id']}'"
