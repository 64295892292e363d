import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.runs.limits import Budget, Claim, Permits


def test_permits_go_to_those_who_wait_first_come_first_served() -> None:
    permits = Permits(1)
    got: list[str] = []
    assert permits.try_take()
    permits.claim(lambda: got.append("a"))
    permits.claim(lambda: got.append("b"))
    assert got == []
    permits.give_back()
    assert got == ["a"]
    permits.give_back()
    assert got == ["a", "b"]
    permits.give_back()
    assert permits.in_use == 0


def test_nobody_jumps_the_queue() -> None:
    permits = Permits(2)
    permits.try_take()
    permits.try_take()
    permits.claim(lambda: None)
    assert not permits.try_take()
    permits.give_back()
    assert permits.in_use == 2


def test_a_withdrawn_claim_is_passed_over() -> None:
    permits = Permits(1)
    got: list[str] = []
    permits.try_take()
    gone = permits.claim(lambda: got.append("gone"))
    permits.claim(lambda: got.append("next"))
    permits.withdraw(gone)
    assert permits.waiting == 1
    permits.give_back()
    assert got == ["next"]


def test_a_larger_limit_serves_the_queue_at_once_and_a_smaller_one_takes_nothing_away() -> None:
    permits = Permits(1)
    got: list[int] = []
    permits.try_take()
    for number in range(3):
        permits.claim(lambda number=number: got.append(number))  # type: ignore[misc]
    permits.resize(3)
    assert got == [0, 1]
    permits.resize(1)
    assert permits.in_use == 3
    permits.give_back()
    permits.give_back()
    assert got == [0, 1]
    permits.give_back()
    assert got == [0, 1, 2]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Budget(provider_calls=limit)
    with pytest.raises(ValueError, match="at least 1"):
        Permits(2).resize(limit)


@given(
    st.integers(1, 4),
    st.lists(st.sampled_from(["claim", "take", "withdraw", "give back"]), max_size=60),
)
def test_permits_are_never_lost_and_never_more_than_the_limit(limit: int, steps: list[str]) -> None:
    permits = Permits(limit)
    held: list[object] = []
    claims: list[Claim] = []
    for step in steps:
        if step == "claim":
            if permits.try_take():
                held.append(step)
            else:
                claims.append(permits.claim(lambda: held.append("granted")))
        elif step == "take" and permits.try_take():
            held.append(step)
        elif step == "withdraw" and claims:
            permits.withdraw(claims.pop())
        elif step == "give back" and held:
            held.pop()
            permits.give_back()
        assert len(held) == permits.in_use <= limit
        assert not (permits.waiting and permits.in_use < limit)
    while held:
        held.pop()
        permits.give_back()
    assert (permits.in_use, permits.waiting) == (0, 0)


def test_a_budget_is_resized_as_a_whole_or_not_at_all() -> None:
    budget = Budget(1, 1)
    assert budget.provider_calls.try_take()
    with pytest.raises(ValueError, match="at least 1"):
        budget.resize(5, 0)
    assert not budget.provider_calls.try_take()
    budget.resize(2, 3)
    assert budget.provider_calls.try_take()
    assert not budget.provider_calls.try_take()
    assert [budget.tools.try_take() for _ in range(4)] == [True, True, True, False]
