"""Output of any length: kept whole up to a limit, and cut between characters after that."""

from __future__ import annotations

from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from orchestration.workspace.captured_output import RECENT_BYTES, CapturedOutput

chunks = st.lists(st.binary(max_size=40), max_size=20)
texts = st.lists(st.text("aé€😀\n", max_size=12), max_size=12)


def captured(parts: list[bytes], head: int = 64, tail: int = 64) -> tuple[str, int]:
    with closing(CapturedOutput(head, tail)) as output:
        for part in parts:
            output.add(part)
        found = output.text()
    return found.text, found.dropped_bytes


@given(chunks)
def test_short_output_is_kept_whole_whatever_its_bytes(parts: list[bytes]) -> None:
    assert captured(parts, 1000, 1000) == (b"".join(parts).decode("utf-8", "replace"), 0)


@given(chunks, st.integers(1, 50), st.integers(1, 50))
def test_of_long_output_the_beginning_and_the_end_are_kept(
    parts: list[bytes], head: int, tail: int
) -> None:
    whole = b"".join(parts).replace(b"\xff", b"x")
    ascii_parts = [bytes(byte & 0x7F for byte in part) for part in parts]
    whole = b"".join(ascii_parts)
    text, dropped = captured(ascii_parts, head, tail)
    assert dropped == max(0, len(whole) - head - tail)
    if dropped:
        marker = f"\n[... {dropped} of {len(whole)} bytes were not kept ...]\n"
        assert text == whole[:head].decode() + marker + whole[-tail:].decode()


@given(texts, st.integers(4, 30), st.integers(4, 30), st.data())
def test_no_character_is_cut_apart(
    texts: list[str], head: int, tail: int, data: st.DataObject
) -> None:
    whole = "".join(texts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    parts = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    text, dropped = captured(parts, head, tail)
    assert "\ufffd" not in text
    if dropped:
        first, _, last = text.partition("\n[... ")
        assert whole.decode().startswith(first)
        assert whole.decode().endswith(last.partition(" ...]\n")[2])


@given(texts, st.data())
def test_what_is_shown_live_has_whole_characters_only(
    texts: list[str], data: st.DataObject
) -> None:
    whole = ("".join(texts) * 400).encode()
    seen = data.draw(st.integers(0, len(whole)))
    with closing(CapturedOutput()) as output:
        output.add(whole[:seen])
        tail = output.recent()
    assert "\ufffd" not in tail
    assert tail in whole[:seen].decode("utf-8", "ignore")
    assert min(seen, RECENT_BYTES) - 6 <= len(tail.encode()) <= RECENT_BYTES


def test_bytes_that_are_no_text_are_replaced_and_the_rest_is_kept() -> None:
    assert (
        captured([b"a\xff\xfeb \xe2\x82", b"\xac \xc3"], 1000, 1000)[0] == "a\ufffd\ufffdb € \ufffd"
    )


def test_output_larger_than_memory_is_for_is_kept_all_the_same() -> None:
    line = b"0123456789" * 100 + b"\n"
    with closing(CapturedOutput()) as output:
        for _ in range(2000):
            output.add(line)
        found = output.text()
    assert found.dropped_bytes == 0
    assert found.text.encode() == line * 2000
