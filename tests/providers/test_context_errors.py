"""A request that is too long, in the words of each service, on each wire."""

from __future__ import annotations

import pytest

from engine.vocabulary.errors import ContextTooLong, PermanentFailure, RequestFailure
from providers.context_errors import is_too_long
from tests.support.loopback import LoopbackServer, sse
from tests.support.wire_runs import fail
from tests.support.wire_scripts import WireScript

REFUSALS = {
    "openai": (
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted "
        "in 150000 tokens. Please reduce the length of the messages.",
        "context_length_exceeded",
    ),
    "openai-responses": (
        400,
        "Your input exceeds the context window of this model. Please adjust your input.",
        "",
    ),
    "openai-minute": (
        429,
        "Request too large for gpt-4 in organization org on tokens per min (TPM): Limit 10000, "
        "Requested 15000.",
        "rate_limit_exceeded",
    ),
    "anthropic": (400, "prompt is too long: 213462 tokens > 200000 maximum", ""),
    "anthropic-reply": (
        400,
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease "
        "input length or `max_tokens` and try again",
        "",
    ),
    "anthropic-bytes": (413, "Request exceeds the maximum size", "request_too_large"),
    "gemini": (
        400,
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).",
        "",
    ),
    "groq": (
        413,
        "Request too large for model `llama-3.3-70b` in organization `o` on tokens per minute",
        "rate_limit_exceeded",
    ),
    "mistral": (
        400,
        "Prompt contains 33000 tokens and 0 draft tokens, too large for model with 32768 maximum "
        "context length",
        "",
    ),
    "xai": (
        400,
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "",
    ),
    "together": (
        422,
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000",
        "",
    ),
    "fireworks": (400, "The prompt is too long: 150000, model maximum context length: 131071", ""),
    "openrouter": (
        400,
        "Provider returned error: This endpoint's maximum context length is 131072 tokens. "
        "However, you requested about 140000 tokens.",
        "",
    ),
    "llama.cpp": (
        400,
        "the request exceeds the available context size. try increasing the context size",
        "exceed_context_size_error",
    ),
    "llama.cpp-before": (500, "context overflow", "exceed_context_size_error"),
    "lmstudio": (
        400,
        "Trying to keep the first 9000 tokens when context the overflows. However, the model is "
        "loaded with context length of only 4096 tokens",
        "",
    ),
    "ollama": (400, "the input length exceeds the context length", ""),
    "bedrock": (400, "Input is too long for requested model.", ""),
}


@pytest.mark.parametrize("service", REFUSALS)
def test_a_refusal_for_length_is_known_in_the_words_of_each_service(
    script: WireScript, server: LoopbackServer, service: str
) -> None:
    status, message, code = REFUSALS[service]
    failure = fail(script, server, script.refusal(status, message, code))
    assert isinstance(failure, ContextTooLong)
    assert message[:40] in failure.message
    assert len(server.asked) == 1, "nothing was learned from it, and nothing tried again"


def test_a_refusal_for_length_in_mid_stream_is_known(
    script: WireScript, server: LoopbackServer
) -> None:
    event = script.error_event("prompt is too long: 213462 tokens > 200000 maximum")
    assert isinstance(fail(script, server, sse(event)), ContextTooLong)


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "max_tokens is too large: this model supports at most 16384 completion tokens",
         RequestFailure),
        (400, "tool name is too long: at most 64 characters", RequestFailure),
        (404, "the model has no context caching", PermanentFailure),
    ],
)  # fmt: skip
def test_other_refusals_are_not_taken_for_it(
    script: WireScript, server: LoopbackServer, status: int, message: str, kind: type[object]
) -> None:
    assert not is_too_long(message)
    assert isinstance(fail(script, server, script.refusal(status, message)), kind)
