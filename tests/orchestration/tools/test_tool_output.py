from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.tools.output import EDGE_BYTES, MAX_INLINE_BYTES, cut_in_the_middle


def test_a_short_output_is_left_alone() -> None:
    text = "é" * (MAX_INLINE_BYTES // 2)
    assert cut_in_the_middle(text, "see elsewhere") == (text, None)


@given(st.text(st.sampled_from("aé€😀\n"), min_size=1, max_size=40), st.integers(0, 3))
def test_a_long_output_keeps_both_ends_and_whole_characters(unit: str, shift: int) -> None:
    text = "x" * shift + unit * (MAX_INLINE_BYTES // len(unit.encode()) + 40)
    shown, cut = cut_in_the_middle(text, "see elsewhere")
    assert cut is not None
    head, _, rest = shown.partition("\n[... ")
    tail = rest.partition(" ...]\n")[2]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert EDGE_BYTES - 4 < len(head.encode()) <= EDGE_BYTES
    assert EDGE_BYTES <= len(tail.encode()) < EDGE_BYTES + 4
    assert cut.shown_bytes == len(head.encode()) + len(tail.encode())
    assert cut.shown_bytes + cut.elided_bytes == cut.total_bytes == len(text.encode())
    assert str(cut.elided_bytes) in shown
