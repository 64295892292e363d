"""How services say that a request is too long for their model."""

from __future__ import annotations

import re

_TOO_LONG = re.compile(
    # OpenAI, Azure, DeepSeek, OpenRouter, vLLM, Mistral, Fireworks; xAI says "prompt".
    r"context_length_exceeded|maximum (?:context|prompt) length|max_model_len"
    r"|exceeds? (?:the|this|its) (?:\w+ )*context (?:window|length|size|limit)"
    # Anthropic, Bedrock, Fireworks.
    r"|prompt is too long|input is too long|exceed context limit|request_too_large"
    # Gemini; Cohere.
    r"|input token count .{0,40}exceeds|too many tokens: total number of tokens"
    # Groq and OpenAI where a request is larger than what a minute allows: waiting does not help.
    r"|request too large for model|request too large for \S+ in organization"
    # Together and text-generation-inference.
    r"|inputs` tokens \+ `max_new_tokens` must be"
    # llama.cpp, LM Studio, Ollama.
    r"|exceed_context_size_error|context the overflows|context length of only"
    r"|context overflow",
    re.IGNORECASE,
)


def is_too_long(text: str) -> bool:
    """Whether a service's refusal, as long as it is, says that the request is too long."""
    return _TOO_LONG.search(text) is not None
