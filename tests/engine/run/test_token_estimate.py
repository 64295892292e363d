"""How many tokens a text makes: near what tokenizers count, and never too few in dense scripts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.token_estimate import (
    estimate_files,
    estimate_item,
    estimate_json,
    estimate_text,
    estimate_tools,
)
from engine.vocabulary.messages import (
    AssistantMessage,
    Attachment,
    CallItem,
    Reasoning,
    ReasoningPart,
    ResultItem,
    UserMessage,
)
from engine.vocabulary.tools import ToolCall, ToolDefinition, ToolResult

ENGLISH = (
    "The engine schedules agent nodes, assembles what they are given, and moves on when their "
    "outputs fit. Nothing is sent to a model that a person has not seen, and whatever a model "
    "asks for is judged before it happens. When a call would change a file, somebody decides."
)
PYTHON = '''def backoff_s(policy: RetryPolicy, retry: int, fraction: float) -> float:
    """Seconds before a retry; the wait doubles with each one up to a limit."""
    doublings = min(max(retry, 1) - 1, _MAX_DOUBLINGS)
    wait_s = min(policy.backoff_ms * (1 << doublings) / 1000, MAX_BACKOFF_S)
    return wait_s + (_MIN_JITTER_MS + _JITTER_SPAN_MS * fraction) / 1000
'''
DOCUMENT = json.dumps(
    {
        "nodes": [
            {"id": f"node-{n}", "label": "Read the sources", "kind": "agent", "model": "gpt"}
            for n in "abcdef"
        ]
    },
    indent=2,
)
# As a byte-pair tokenizer with a vocabulary of 49,152 counts them.
COUNTED = [(ENGLISH, 57), (PYTHON, 137), (DOCUMENT, 232)]
DENSE = [
    ("人工智能正在改变世界。", 20),
    ("人工知能は世界を変えつつあります。", 30),
    ("인공지능은 세상을 바꾸고 있습니다.", 41),
    ("龘靐齉爨鸞鬱籲灩", 22),
]
CJK = st.text(
    st.one_of(
        st.characters(min_codepoint=0x3041, max_codepoint=0x30FF),
        st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF),
        st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3),
        st.characters(min_codepoint=0x20000, max_codepoint=0x2A6DF),
    )
)


@pytest.mark.parametrize(("text", "tokens"), COUNTED, ids=["english", "python", "json"])
def test_english_and_code_are_told_within_15_per_cent(text: str, tokens: int) -> None:
    assert abs(estimate_text(text) / tokens - 1) <= 0.15
    assert abs(estimate_text(text * 50) / (tokens * 50) - 1) <= 0.15


@pytest.mark.parametrize(("text", "tokens"), DENSE)
def test_a_dense_script_is_never_told_too_short(text: str, tokens: int) -> None:
    assert estimate_text(text) >= tokens


@given(CJK)
def test_a_dense_script_has_as_many_tokens_as_a_byte_tokenizer_could_make(text: str) -> None:
    assert estimate_text(text) >= len(text.encode())


@given(st.text(st.characters(codec=None)))
def test_any_text_has_an_estimate_and_an_empty_one_none(text: str) -> None:
    assert (estimate_text(text) > 0) == bool(text)


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_longer_text_never_has_far_fewer_tokens(one: str, other: str) -> None:
    assert estimate_text(one * 20 + other) >= estimate_text(one) // 2


def test_what_is_no_prose_is_not_taken_for_prose() -> None:
    encoded = "QmFzZTY0IGlzIG5vdCBwcm9zZQ" * 200
    assert estimate_text(encoded) > len(encoded) / 2.5
    assert estimate_text(" " * 6000) >= 500


def test_each_item_counts_with_all_that_it_sends() -> None:
    call = ToolCall("1", "write", {"path": "a.py", "content": PYTHON, "lines": [1, True, None]})
    picture = Attachment("1", "a.png", "image/png", 900_000, "0")
    notes = Attachment("2", "a.txt", "text/plain", 3_000, "0")
    opaque = ReasoningPart("opaque", "", "openai", {"encrypted": "x" * 400})
    assert estimate_item(CallItem(call)) > estimate_text(PYTHON)
    assert estimate_item(ResultItem(ToolResult("1", "read", PYTHON))) > estimate_text(PYTHON)
    assert estimate_item(AssistantMessage(ENGLISH)) > estimate_text(ENGLISH)
    assert estimate_item(UserMessage(ENGLISH, (picture, notes))) > 1_000 + estimate_text(ENGLISH)
    assert estimate_item(Reasoning((opaque,))) > 40
    assert estimate_files((picture,)) < estimate_files((notes,)) * 10


def test_tools_count_with_their_schemas() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    assert estimate_tools([ToolDefinition("read", ENGLISH, schema)]) > (
        estimate_text(ENGLISH) + estimate_json(schema)
    )
