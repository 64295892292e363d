from __future__ import annotations

import pytest

from providers.model_catalog import context_window


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("gpt-4o-mini", 128_000),
        ("GPT-4O", 128_000),
        ("openai/gpt-4o-2024-08-06", 128_000),
        ("gpt-4", 8_192),
        ("llama3.1:8b", 131_072),
        ("accounts/fireworks/models/llama-v3p1-70b-instruct", 131_072),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", 200_000),
        ("claude-opus-4-6", 1_000_000),
    ],
)
def test_a_known_model_is_found_whatever_surrounds_its_name(model: str, tokens: int) -> None:
    assert context_window(model) == tokens


@pytest.mark.parametrize("model", ["", "local-model", "o3x", "my-gpt-4o"])
def test_an_unknown_model_has_no_known_window(model: str) -> None:
    assert context_window(model) is None
