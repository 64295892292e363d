import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.graph.workflow import RetryPolicy
from engine.run.retry_policy import backoff_s, retry_delay_s


@pytest.mark.parametrize(
    ("retry", "seconds"), [(0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 30), (200, 30)]
)
def test_the_wait_doubles_up_to_its_cap(retry: int, seconds: float) -> None:
    assert backoff_s(RetryPolicy(), retry, 0.0) == pytest.approx(seconds + 0.1)


def test_jitter_adds_a_tenth_to_half_a_second() -> None:
    policy = RetryPolicy(backoff_ms=0)
    assert backoff_s(policy, 1, 0.0) == pytest.approx(0.1)
    assert backoff_s(policy, 1, 0.5) == pytest.approx(0.3)


def test_the_provider_is_given_the_time_that_it_asks_for() -> None:
    policy = RetryPolicy()
    assert retry_delay_s(policy, 1, 0.0, 12.5) == 12.5
    assert retry_delay_s(policy, 1, 0.0, 0.2) == backoff_s(policy, 1, 0.0)
    assert retry_delay_s(policy, 1, 0.0, None) == backoff_s(policy, 1, 0.0)


def test_nobody_waits_for_longer_than_ten_minutes() -> None:
    assert retry_delay_s(RetryPolicy(), 1, 0.0, 86_400.0) == 600.0


@given(
    backoff_ms=st.integers(0, 2**64 - 1),
    retry=st.integers(0, 10_000),
    fraction=st.floats(0, 1, exclude_max=True),
)
def test_the_wait_is_bounded_and_never_shrinks(
    backoff_ms: int, retry: int, fraction: float
) -> None:
    policy = RetryPolicy(backoff_ms=backoff_ms)
    wait = backoff_s(policy, retry, fraction)
    assert 0.1 <= wait <= 30.5
    assert backoff_s(policy, retry + 1, fraction) >= wait
