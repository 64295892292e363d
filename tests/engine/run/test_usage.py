from hypothesis import given
from hypothesis import strategies as st

from engine.run.usage import add_usage
from engine.vocabulary.messages import Usage

_COUNT = st.none() | st.integers(0, 10**6)
_USAGE = st.none() | st.builds(Usage, _COUNT, _COUNT, _COUNT, _COUNT, _COUNT)


def test_known_numbers_are_added_and_unknown_ones_stay_unknown() -> None:
    total = add_usage(Usage(10, 2, 12), Usage(prompt_tokens=5, cached_input_tokens=4))
    assert total == Usage(15, 2, 12, cached_input_tokens=4)


def test_a_call_without_usage_adds_nothing() -> None:
    assert add_usage(None, None) is None
    assert add_usage(Usage(1), None) == add_usage(None, Usage(1)) == Usage(1)


@given(one=_USAGE, two=_USAGE, three=_USAGE)
def test_order_and_grouping_do_not_matter(
    one: Usage | None, two: Usage | None, three: Usage | None
) -> None:
    assert add_usage(one, two) == add_usage(two, one)
    assert add_usage(add_usage(one, two), three) == add_usage(one, add_usage(two, three))
