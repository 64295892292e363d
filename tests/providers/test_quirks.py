from __future__ import annotations

from typing import Any

import pytest

from providers.quirks import Quirk, Quirks, quirk_in_refusal

STRICT_TOOL = {"type": "function", "name": "f", "parameters": {}, "strict": True}


@pytest.mark.parametrize(
    ("message", "body", "quirk"),
    [
        (
            "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
            {"tool_choice": "required"},
            Quirk.NO_REQUIRED_CHOICE,
        ),
        ("tool_choice is not supported", {"tool_choice": "auto"}, Quirk.NO_TOOL_CHOICE),
        (
            "No endpoints found that support the provided 'tool_choice' value.",
            {"tool_choice": "required"},
            Quirk.NO_REQUIRED_CHOICE,
        ),
        (
            "body.tool_choice: Input should be 'auto' or 'none'",
            {"tool_choice": "required"},
            Quirk.NO_REQUIRED_CHOICE,
        ),
        (
            "Thinking may not be enabled when tool_choice forces tool use.",
            {"tool_choice": {"type": "any"}},
            Quirk.NO_REQUIRED_CHOICE,
        ),
        (
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            {"max_tokens": 5},
            Quirk.COMPLETION_TOKENS,
        ),
        ("unknown field stream_options", {"stream_options": {}}, Quirk.NO_STREAM_USAGE),
        ("prompt_cache_key: extra inputs", {"prompt_cache_key": "k"}, Quirk.NO_CACHE_KEY),
        ("cache_control: unexpected", {"cache_control": {}}, Quirk.NO_CACHE_KEY),
        (
            "Encrypted content is not supported with this model.",
            {"include": ["reasoning.encrypted_content"]},
            Quirk.NO_ENCRYPTED_REASONING,
        ),
        (
            "Your organization must be verified to generate reasoning summaries.",
            {"reasoning": {"effort": "low", "summary": "auto"}},
            Quirk.NO_REASONING_SUMMARY,
        ),
        (
            "Unrecognized request argument: reasoning_effort",
            {"reasoning_effort": "low"},
            Quirk.NO_REASONING_OPTIONS,
        ),
        (
            "Invalid schema for function 'f': additionalProperties",
            {"tools": [STRICT_TOOL]},
            Quirk.NO_STRICT_TOOLS,
        ),
        ("service_tier is unknown", {"service_tier": "priority"}, Quirk.NO_FAST_MODE),
    ],
)
def test_a_refusal_names_what_was_refused(message: str, body: dict[str, Any], quirk: Quirk) -> None:
    assert quirk_in_refusal(400, message, body) is quirk


def test_what_was_not_sent_cannot_have_been_refused() -> None:
    assert quirk_in_refusal(400, "tool_choice is unknown", {}) is None
    assert quirk_in_refusal(400, "strict is unknown", {"tools": [{"name": "f"}]}) is None
    assert quirk_in_refusal(400, "the context is too long", {"tool_choice": "required"}) is None


def test_a_word_in_passing_is_no_refusal() -> None:
    reasoning = {"reasoning_effort": "low", "tool_choice": "required", "tools": [STRICT_TOOL]}
    for message in (
        "The prompt is too long for this reasoning model: 9000 tokens",
        "Your account is restricted and cannot be used",
        "tool_choice was fine, the prompt was flagged",
    ):
        assert quirk_in_refusal(400, message, reasoning) is None


def test_only_refusals_of_the_request_count() -> None:
    assert quirk_in_refusal(500, "unknown tool_choice", {"tool_choice": "required"}) is None
    assert quirk_in_refusal(401, "unknown tool_choice", {"tool_choice": "required"}) is None


def test_a_model_that_did_not_call_says_nothing_about_the_endpoint() -> None:
    text = "Tool choice is required, but model did not call a tool"
    assert quirk_in_refusal(400, text, {"tool_choice": "required"}) is None


def test_quirks_are_kept_by_model_and_told_once() -> None:
    told: list[tuple[str, Quirk]] = []
    quirks = Quirks(on_learned=lambda model, quirk: told.append((model, quirk)))
    assert quirks.learn("a", Quirk.NO_CACHE_KEY)
    assert not quirks.learn("a", Quirk.NO_CACHE_KEY)
    assert quirks.of("a") == {Quirk.NO_CACHE_KEY}
    assert quirks.of("b") == frozenset()
    assert told == [("a", Quirk.NO_CACHE_KEY)]


def test_quirks_come_back_from_their_data() -> None:
    quirks = Quirks({"m": ["no_cache_key", "from_the_future"]})
    quirks.learn("m", Quirk.NO_STRICT_TOOLS)
    assert Quirks(quirks.as_data()).as_data() == {"m": ["no_cache_key", "no_strict_tools"]}
