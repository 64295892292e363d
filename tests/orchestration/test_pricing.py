"""What calls cost: by the lists, by the user's own prices, or unknown, which is not nothing."""

from __future__ import annotations

import pytest

from engine.vocabulary.messages import Usage
from orchestration.pricing import Prices
from orchestration.settings.model import ModelSettings, Settings
from providers.config import configured
from providers.specs import SPECS

CALL = Usage(1000, 100, 1100)


def test_a_listed_model_costs_what_the_list_says_in_and_out() -> None:
    prices = Prices(Settings())
    one = prices.cost("openai", "gpt-4o", CALL)
    assert one is not None
    assert prices.cost("openai", "gpt-4o", Usage(2000, 200, 2200)) == pytest.approx(2 * one)
    cached = prices.cost("openai", "gpt-4o", Usage(1000, 100, 1100, cached_input_tokens=800))
    assert cached is not None
    assert 0 < cached < one


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("anthropic", "claude-sonnet-4-5"),
        ("gemini", "gemini-2.5-pro"),
        ("xai", "grok-3"),
        ("groq", "llama-3.3-70b-versatile"),
        ("mistral", "mistral-large-latest"),
        ("openrouter", "openai/gpt-4o"),
    ],
)
def test_each_service_is_found_under_its_name_in_the_lists(provider: str, model: str) -> None:
    assert Prices(Settings()).is_known(provider, model)


@pytest.mark.parametrize(
    ("provider", "model", "usage"),
    [
        ("openai", "nobody-knows-it", CALL),
        ("ollama", "qwen3", CALL),
        ("custom_openai_compatible", "gpt-4o", CALL),
        (None, "gpt-4o", CALL),
        ("openai", "gpt-4o", Usage(1000)),
        ("openai", "gpt-4o", Usage()),
        ("openai", "gpt-4o", Usage(10, 1, 11, cached_input_tokens=500)),
    ],
)
def test_what_nobody_knows_is_unknown_and_not_nothing(
    provider: str | None, model: str, usage: Usage
) -> None:
    assert Prices(Settings()).cost(provider, model, usage) is None


def test_the_embedded_model_is_free() -> None:
    assert Prices(Settings()).cost("embedded", "embedded", CALL) == 0


def test_the_users_own_prices_come_first() -> None:
    own = ModelSettings(input_price=2, output_price=10)
    cheaper = ModelSettings(input_price=2, output_price=10, cached_price=0.5)
    prices = Prices(Settings(models={"GPT-4o": own, "local": cheaper, "half": ModelSettings()}))
    assert prices.cost("openai", "gpt-4o", CALL) == pytest.approx(0.003)
    assert prices.cost("ollama", "local", CALL) == pytest.approx(0.003)
    half = Usage(1000, 100, 1100, cached_input_tokens=500)
    assert prices.cost("ollama", "local", half) == pytest.approx(0.00225)
    assert prices.cost("openai", "gpt-4o", half) == pytest.approx(0.003)
    assert prices.cost("ollama", "half", CALL) is None


def test_another_address_is_priced_by_who_is_there() -> None:
    def at(base_url: str) -> float | None:
        connection = configured(SPECS["openai"], base_url=base_url, api_key="k")
        return Prices(Settings(), {"openai": connection}).cost("openai", "gpt-4o", CALL)

    assert at("http://127.0.0.1:9/v1") is None
    assert at("https://api.openai.com/v1") == at("https://api.openai.com/v1/")
    assert at("https://api.openai.com/v1") is not None
