"""Ids and bytes on the wire, and the check for prompts that were cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.vocabulary.messages import Usage
from providers.prompt_check import words_if_cut
from providers.surrogates import HalfKeeper, rejoined
from providers.wire_ids import WireIds
from providers.wire_json import encoded


@settings(deadline=None)
@given(st.lists(st.text(max_size=50), max_size=30), st.sampled_from([9, 24, 40]))
def test_ids_are_short_plain_unique_and_stable(call_ids: list[str], length: int) -> None:
    ids = WireIds(length)
    sent = [ids.new(call_id) for call_id in call_ids]
    assert len(set(sent)) == len(sent)
    assert all(i.isascii() and i.isalnum() and len(i) <= length for i in sent)
    again = WireIds(length)
    assert [again.new(call_id) for call_id in call_ids] == sent


@settings(deadline=None)
@given(st.text())
def test_any_text_can_be_sent(text: str) -> None:
    sent = json.loads(encoded({"text": text}))["text"]
    sent.encode("utf-8")
    if not any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        assert sent == text


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("\ud83c\udf0d", "🌍"),
        ("\ud83c", "\ufffd"),
        ("a\udf0db", "a\ufffdb"),
        ("\\ud83c \udf0d", "\\ud83c \ufffd"),
        ("\udf0d\ud83c", "\ufffd\ufffd"),
        ("\ud83c\ud83c\udf0d", "\ufffd🌍"),
    ],
)
def test_halves_become_characters_or_are_replaced(text: str, sent: str) -> None:
    assert json.loads(encoded([text])) == [sent]


def test_members_are_sent_in_their_order() -> None:
    assert encoded({"b": 1, "a": [1.5, None, "ü"]}) == '{"b":1,"a":[1.5,null,"ü"]}'.encode()


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=20), st.data())
def test_a_text_cut_anywhere_in_its_halves_comes_out_whole(text: str, data: st.DataObject) -> None:
    halves = text.encode("utf-16-le").decode("utf-16-le", "surrogatepass")
    units = [
        unit
        for char in halves
        for unit in (
            [char]
            if ord(char) < 0x10000
            else [chr(0xD800 + (ord(char) - 0x10000 >> 10)), chr(0xDC00 + (ord(char) & 0x3FF))]
        )
    ]
    cut = data.draw(st.integers(0, len(units)))
    keeper = HalfKeeper()
    passed = keeper.pass_on("".join(units[:cut])) + keeper.pass_on("".join(units[cut:]))
    assert passed == text
    assert rejoined("".join(units)) == text


WORDS = {"messages": [{"role": "user", "content": "word " * 15_750}]}


@pytest.mark.parametrize(
    ("usage", "was_cut"),
    [
        (Usage(2_051, 9), True),
        (Usage(15_800, 9), False),
        (Usage(12_000, 9), False),
        (Usage(51, 9, cached_input_tokens=15_700), False),
        (Usage(None, 9), False),
        (None, False),
    ],
)
def test_far_fewer_tokens_than_words_mean_that_the_prompt_was_cut(
    usage: Usage | None, was_cut: bool
) -> None:
    words = words_if_cut(WORDS, len(encoded(WORDS)), usage)
    assert (words is not None) is was_cut


def test_tools_and_short_prompts_are_no_grounds_for_suspicion() -> None:
    tools = {"messages": [], "tools": [{"description": "word " * 9_000}]}
    assert words_if_cut(tools, len(encoded(tools)), Usage(20, 9)) is None
    short = {"messages": [{"content": "word " * 1_000}]}
    assert words_if_cut(short, len(encoded(short)), Usage(20, 9)) is None
