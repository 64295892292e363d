from __future__ import annotations

import pickle

import msgspec
import pytest

from providers.config import Secret, api_root, configured, is_loopback
from providers.specs import SPECS, ProviderSpec, Wire

KEY = "sk-very-secret-0123456789"


def test_every_service_of_the_list_is_there() -> None:
    assert set(SPECS) == {
        "openai",
        "openai-codex",
        "openrouter",
        "groq",
        "together",
        "fireworks",
        "deepseek",
        "xai",
        "mistral",
        "perplexity",
        "gemini",
        "ollama",
        "lmstudio",
        "custom_openai_compatible",
        "bedrock",
        "anthropic",
        "embedded",
    }
    assert {s.id for s in SPECS.values() if s.unavailable} == {"openai-codex", "bedrock"}
    assert {s.id for s in SPECS.values() if s.editable} == {"custom_openai_compatible"}
    assert {s.id for s in SPECS.values() if s.fast_mode} == {"openai", "openai-codex"}


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_every_service_is_complete(spec: ProviderSpec) -> None:
    assert spec.default_model == spec.models[0]
    assert spec.base_url or spec.unavailable or spec.is_demo
    assert spec.auth.env_var or not spec.auth.required or spec.unavailable


@pytest.mark.parametrize(
    ("base_url", "wire", "root"),
    [
        ("https://api.openai.com", Wire.RESPONSES, "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/", Wire.CHAT, "https://api.openai.com/v1"),
        ("http://h:1/v1/chat/completions", Wire.CHAT, "http://h:1/v1"),
        ("http://h:1/openai/v1", Wire.CHAT, "http://h:1/openai/v1"),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai",
            Wire.CHAT,
            "https://generativelanguage.googleapis.com/v1beta/openai",
        ),
        ("http://h:1", Wire.CHAT, "http://h:1/v1"),
        ("https://api.anthropic.com", Wire.MESSAGES, "https://api.anthropic.com"),
        ("http://h:1/v1", Wire.MESSAGES, "http://h:1"),
        ("http://h:1/v1/messages", Wire.MESSAGES, "http://h:1"),
    ],
)
def test_the_version_is_in_the_address_exactly_once(base_url: str, wire: Wire, root: str) -> None:
    assert api_root(base_url, wire) == root


def test_a_service_without_a_version_gets_none() -> None:
    config = configured(SPECS["perplexity"])
    assert config.api_root(Wire.CHAT) == "https://api.perplexity.ai"


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.0.0.1/v1", "http://[::1]:8080"])
def test_addresses_of_this_computer_are_known(url: str) -> None:
    assert is_loopback(url)
    assert configured(SPECS["openai"], base_url=url).is_local


def test_other_addresses_are_not_of_this_computer() -> None:
    assert not is_loopback("https://localhost.example.com")
    assert not configured(SPECS["openai"]).is_local
    assert configured(SPECS["embedded"]).is_local


def test_a_model_can_have_a_wire_of_its_own() -> None:
    config = configured(SPECS["openrouter"], model_wires={"claude-x": Wire.MESSAGES})
    assert config.wire_for("claude-x") is Wire.MESSAGES
    assert config.wire_for("other") is Wire.CHAT


def test_a_key_is_seen_nowhere_by_accident() -> None:
    config = configured(SPECS["openai"], api_key=KEY, extra_headers={"x-auth": KEY})
    assert config.api_key is not None
    assert config.api_key.reveal() == KEY
    for text in (repr(config), str(config), repr(config.api_key), f"{config.api_key}"):
        assert KEY not in text
    with pytest.raises(TypeError):
        msgspec.json.encode(config)
    with pytest.raises(TypeError):
        pickle.dumps(config.api_key)


def test_an_empty_key_is_no_key() -> None:
    assert not Secret("")
    assert configured(SPECS["ollama"], api_key="").api_key is None
