from __future__ import annotations

from typing import Any

import pytest

from app.cli.outcome_text import outcome
from orchestration.headless import HeadlessResult

FILE = "a.json"


def sentence(status: str, error: str | None = None, **report: Any) -> str | None:
    full = {"run_id": "r1", "status": status, "failed": {}, "waiting": [], **report}
    return outcome(FILE, HeadlessResult(full, 0, error))


def test_a_run_that_completed_says_nothing() -> None:
    assert sentence("completed") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("permanent: OpenAI: HTTP 401: bad key.", "node 'n': OpenAI: HTTP 401: bad key; correct"),
        ("transient: OpenAI: timed out", "node 'n': OpenAI: timed out; check the connection"),
        ("the submitted output does not fit", "does not fit; see what led to it with --events"),
    ],
)
def test_a_failure_says_where_what_and_what_to_do(text: str, words: str) -> None:
    said = sentence("failed", failed={"n": text})
    assert said is not None
    assert said.startswith("the run of a.json failed at node 'n': ")
    assert words in said


def test_a_failure_that_belongs_to_no_node() -> None:
    assert sentence("failed", "the disk is full") == "the run of a.json failed: the disk is full"


def test_everything_that_waits_is_named() -> None:
    said = sentence(
        "paused",
        waiting=[
            {"kind": "question", "node_id": "a", "question": "Which?"},
            {"kind": "approval", "node_id": "b", "path": ["b"], "tool_name": "write"},
            {"kind": "approval", "node_id": "b", "path": ["b", "s"], "tool_name": "bash"},
            {"kind": "uncertain", "node_id": "d", "tool_name": "edit"},
            {"kind": "retry", "node_id": "c"},
        ],
    )
    assert said is not None
    for words in (
        "node 'a' (Which?)",
        "write by node 'b'",
        "bash by subagent 's' of node 'b'",
        "node 'c'",
        "what became of the call of edit by node 'd'",
        "'openflow runs resume r1 --answers FILE' goes on",
    ):
        assert words in said


def test_a_run_that_was_stopped_or_waits_says_how_to_go_on() -> None:
    assert sentence("stopped") == (
        "the run of a.json was stopped; 'openflow runs resume r1' goes on"
    )
    said = sentence("paused", waiting=[{"kind": "retry", "node_id": "c"}])
    assert said is not None
    assert said.endswith("; 'openflow runs resume r1' goes on")


def test_a_failure_that_says_what_to_do_is_not_talked_over() -> None:
    text = "permanent: the document cannot be stored; make room there and retry"
    said = sentence("failed", failed={"n": text})
    assert said is not None
    assert said.endswith("; make room there and retry")


def test_many_failures_are_one_readable_sentence() -> None:
    alike = {f"n{number}": "permanent: refused" for number in range(1000)}
    said = sentence("failed", failed=alike)
    assert said is not None
    assert "node 'n0': refused (likewise nodes 'n1', " in said
    assert "'n20' and 979 more)" in said
    assert len(said) < 500
    said = sentence("failed", failed={f"n{number}": f"reason {number}" for number in range(9)})
    assert said is not None
    assert "node 'n4': reason 4; and 4 more failures, which the report lists" in said
