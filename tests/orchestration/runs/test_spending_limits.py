"""The limits of a run from the settings and from what it was started with."""

from __future__ import annotations

from engine.vocabulary.spending import Allowance, SpendingLimits
from orchestration.runs.spending_limits import spending_limits
from orchestration.settings.model import Limits, Spending


def test_nothing_limits_a_run_where_nobody_said_so() -> None:
    assert spending_limits(Limits()) is None


def test_a_run_may_have_limits_of_its_own_before_those_of_the_settings() -> None:
    limits = Limits(run=Spending(tokens=1000, turns=50), node=Spending(seconds=60))
    assert spending_limits(limits, Allowance(tokens=200, cost=0.5)) == SpendingLimits(
        run=Allowance(tokens=200, cost=0.5, turns=50),
        node=Allowance(seconds=60),
        warn_run=Allowance(tokens=160, cost=0.4, turns=40),
        warn_node=Allowance(seconds=48),
    )


def test_a_warning_comes_where_the_settings_want_it_with_and_without_a_limit() -> None:
    limits = Limits(
        run=Spending(tokens=1000), warn_run=Spending(tokens=100), warn_node=Spending(cost=2)
    )
    assert spending_limits(limits) == SpendingLimits(
        run=Allowance(tokens=1000),
        warn_run=Allowance(tokens=100),
        warn_node=Allowance(cost=2),
    )


def test_a_limit_of_one_turn_has_nothing_to_warn_of_before_it() -> None:
    found = spending_limits(Limits(), Allowance(turns=1))
    assert found == SpendingLimits(run=Allowance(turns=1))
