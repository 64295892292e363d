"""What a run has used up, in texts and as a share of its limit."""

from __future__ import annotations

import pytest

from app.run_controls.usage import fullness, summary, unpriced_words, usage_rows
from engine.vocabulary import events as ev
from engine.vocabulary.messages import Usage
from engine.vocabulary.spending import NO_LIMIT, Allowance
from orchestration.runs.run_view import RunView
from orchestration.runs.view_values import UsageTotals

TOTALS = UsageTotals(12_000, 600, 9_000, 0.1874)


def test_only_what_is_known_is_said() -> None:
    assert summary(TOTALS, 12) == "12 s · 12k in · 600 out · 9k cached · $0.19"
    assert summary(UsageTotals(), None) == ""
    assert summary(None, 3) == "3 s"


def test_a_cost_that_is_not_all_says_so() -> None:
    part = UsageTotals(10, 5, None, 0.5, unpriced_calls=2)
    assert summary(part, None) == "10 in · 5 out · $0.50+"
    assert unpriced_words(part) == (
        "The price of 2 model calls is not known; the cost leaves them out."
    )
    assert unpriced_words(TOTALS) == ""


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        (NO_LIMIT, (0.0, "")),
        (Allowance(cost=0.3748), (0.5, "$0.19 of $0.37")),
        (Allowance(tokens=16_000, cost=10.0), (12_600 / 16_000, "13k of 16k tokens")),
        (Allowance(seconds=6), (1.0, "12 s of 6 s")),
    ],
    ids=["none", "cost", "tightest", "over"],
)
def test_the_tightest_limit_counts(allowed: Allowance, expected: tuple[float, str]) -> None:
    assert fullness(allowed, TOTALS, 12) == expected


def test_each_node_that_has_begun_has_a_line() -> None:
    view = RunView("run", "flow", {"a": "Ask", "b": "Build"})
    view.project(ev.NodeQueued("a", "Ask"), 100.0)
    view.project(ev.NodeStarted("a", "Ask"), 101.0)
    assert usage_rows(RunView("run", "flow", {"a": "Ask"}), 1.0) == []
    usage = Usage(prompt_tokens=900, completion_tokens=100, total_tokens=1000, cost=0.25)
    view.project(ev.UsageReported("a", usage, "m", None), 102.0)
    rows = [tuple(row) for row in usage_rows(view, 111.0)]
    assert rows == [
        ("Ask", "10 s", "900", "", "100", "$0.25"),
        ("Whole run", "11 s", "900", "", "100", "$0.25"),
    ]
