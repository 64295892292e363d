"""The services that OpenFlow knows: where they are, what they speak and how they want the key."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from msgspec import Struct


class Wire(StrEnum):
    """The protocol of an endpoint."""

    CHAT = "chat"
    RESPONSES = "responses"
    MESSAGES = "messages"


class ReasoningStyle(StrEnum):
    """How reasoning options are written in a request."""

    OPENAI = "openai"
    CLAUDE = "claude"
    NONE = "none"


class Auth(Struct, frozen=True, kw_only=True):
    """Where the key comes from and how it is sent.

    `env_var` is empty where no key is known of. `header` names the header that carries the key;
    in `authorization` it follows the word `Bearer`.
    """

    env_var: str = ""
    header: str = "authorization"
    required: bool = True


class ProviderSpec(Struct, frozen=True, kw_only=True):
    """One service.

    Attributes:
        models: the models that are offered in menus; the default model is the first.
        editable: the address may be changed by the user.
        unavailable: why it cannot be used; empty for those that can.
        offers_tools: whether its models are given executable tools; otherwise they can only submit.
        is_demo: its models are too small to be trusted with anything.
        sends_cache_key: each request names a prompt-cache key.
        caches_automatically: each request asks the service to cache its beginning.
        fast_mode: a faster tier can be asked for.
        efforts: the reasoning efforts to choose from.
        adds_version: `/v1` is added to an address that names no version.
        id_length: how many letters and digits an id of a call may have.
        strict_tools: closed schemas are sent with `strict`.
        plain_schemas: only a subset of JSON Schema is understood, no references among it.
        token_limit_field: what Chat Completions call the output limit.
        reasoning_field: the field in which earlier reasoning goes back, for services that want it.
        max_output_tokens: the output limit where a request names none.
        keep_alive: connections are kept for the next request.
    """

    id: str
    label: str
    base_url: str
    wire: Wire
    auth: Auth
    models: tuple[str, ...]
    editable: bool = False
    unavailable: str = ""
    offers_tools: bool = True
    is_demo: bool = False
    sends_cache_key: bool = True
    caches_automatically: bool = False
    fast_mode: bool = False
    reasoning: ReasoningStyle = ReasoningStyle.OPENAI
    efforts: tuple[str, ...] = ("none", "low", "medium", "high")
    adds_version: bool = True
    id_length: int = 40
    strict_tools: bool = False
    plain_schemas: bool = False
    token_limit_field: str = "max_tokens"
    reasoning_field: str = ""
    max_output_tokens: int | None = None
    keep_alive: bool = True

    @property
    def default_model(self) -> str:
        """The model of nodes that name none."""
        return self.models[0]


EMBEDDED = "embedded"
CLAUDE_EFFORTS = ("none", "adaptive", "low", "medium", "high")
_NO_KEY = Auth(required=False)

_ALL = (
    ProviderSpec(
        id="openai",
        label="OpenAI",
        base_url="https://api.openai.com",
        wire=Wire.RESPONSES,
        auth=Auth(env_var="OPENAI_API_KEY"),
        models=("gpt-4o-mini", "gpt-4o", "gpt-4.5", "o3"),
        fast_mode=True,
        strict_tools=True,
        token_limit_field="max_completion_tokens",
    ),
    ProviderSpec(
        id="openai-codex",
        label="ChatGPT (Codex)",
        base_url="https://chatgpt.com/backend-api/codex",
        wire=Wire.RESPONSES,
        auth=Auth(),
        models=("gpt-5.4", "gpt-5.4-pro", "gpt-5.3-codex", "gpt-5.3-codex-spark"),
        unavailable="it needs a login with a ChatGPT account, which OpenFlow does not have yet",
        fast_mode=True,
        adds_version=False,
    ),
    ProviderSpec(
        id="openrouter",
        label="OpenRouter",
        base_url="https://openrouter.ai/api/v1",
        wire=Wire.CHAT,
        auth=Auth(env_var="OPENROUTER_API_KEY"),
        models=(
            "openai/gpt-4o-mini",
            "anthropic/claude-3.5-sonnet",
            "meta-llama/llama-3.1-70b-instruct",
        ),
    ),
    ProviderSpec(
        id="groq",
        label="Groq",
        base_url="https://api.groq.com/openai/v1",
        wire=Wire.CHAT,
        auth=Auth(env_var="GROQ_API_KEY"),
        models=("llama-3.1-8b-instant", "llama-3.3-70b-versatile", "openai/gpt-oss-120b"),
    ),
    ProviderSpec(
        id="together",
        label="Together AI",
        base_url="https://api.together.xyz/v1",
        wire=Wire.CHAT,
        auth=Auth(env_var="TOGETHER_API_KEY"),
        models=(
            "meta-llama/Meta-Llama-3.1-70B-Instruct-Turbo",
            "meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo",
            "Qwen/Qwen2.5-72B-Instruct-Turbo",
        ),
    ),
    ProviderSpec(
        id="fireworks",
        label="Fireworks AI",
        base_url="https://api.fireworks.ai/inference/v1",
        wire=Wire.CHAT,
        auth=Auth(env_var="FIREWORKS_API_KEY"),
        models=(
            "accounts/fireworks/models/llama-v3p1-70b-instruct",
            "accounts/fireworks/models/llama-v3p1-8b-instruct",
        ),
    ),
    ProviderSpec(
        id="deepseek",
        label="DeepSeek",
        base_url="https://api.deepseek.com/v1",
        wire=Wire.CHAT,
        auth=Auth(env_var="DEEPSEEK_API_KEY"),
        models=("deepseek-chat", "deepseek-reasoner"),
        reasoning_field="reasoning_content",
    ),
    ProviderSpec(
        id="xai",
        label="xAI / Grok",
        base_url="https://api.x.ai/v1",
        wire=Wire.CHAT,
        auth=Auth(env_var="XAI_API_KEY"),
        models=("grok-2-latest", "grok-3", "grok-3-mini"),
    ),
    ProviderSpec(
        id="mistral",
        label="Mistral AI",
        base_url="https://api.mistral.ai/v1",
        wire=Wire.CHAT,
        auth=Auth(env_var="MISTRAL_API_KEY"),
        models=("mistral-small-latest", "mistral-medium-latest", "mistral-large-latest"),
        id_length=9,
    ),
    ProviderSpec(
        id="perplexity",
        label="Perplexity",
        base_url="https://api.perplexity.ai",
        wire=Wire.CHAT,
        auth=Auth(env_var="PERPLEXITY_API_KEY"),
        models=("sonar", "sonar-pro", "sonar-reasoning-pro"),
        adds_version=False,
    ),
    ProviderSpec(
        id="gemini",
        label="Gemini OpenAI compatibility",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        wire=Wire.CHAT,
        auth=Auth(env_var="GEMINI_API_KEY"),
        models=("gemini-2.0-flash", "gemini-2.5-flash", "gemini-2.5-pro"),
        plain_schemas=True,
    ),
    ProviderSpec(
        id="ollama",
        label="Ollama local",
        base_url="http://localhost:11434/v1",
        wire=Wire.CHAT,
        auth=_NO_KEY,
        models=("llama3.1", "qwen3", "gpt-oss:20b"),
        sends_cache_key=False,
    ),
    ProviderSpec(
        id="lmstudio",
        label="LM Studio local",
        base_url="http://localhost:1234/v1",
        wire=Wire.CHAT,
        auth=_NO_KEY,
        models=("local-model",),
        sends_cache_key=False,
    ),
    ProviderSpec(
        id="custom_openai_compatible",
        label="Custom OpenAI-compatible API",
        base_url="http://localhost:11434/v1",
        wire=Wire.CHAT,
        auth=Auth(env_var="OPENAI_COMPATIBLE_API_KEY", required=False),
        models=("model-name",),
        editable=True,
    ),
    ProviderSpec(
        id="bedrock",
        label="Amazon Bedrock",
        base_url="",
        wire=Wire.MESSAGES,
        auth=Auth(env_var="AWS_PROFILE"),
        models=("anthropic.claude-sonnet-4-20250514-v1:0",),
        unavailable="it signs its requests with AWS credentials, which OpenFlow cannot do yet",
        reasoning=ReasoningStyle.CLAUDE,
        efforts=CLAUDE_EFFORTS,
    ),
    ProviderSpec(
        id="anthropic",
        label="Anthropic",
        base_url="https://api.anthropic.com",
        wire=Wire.MESSAGES,
        auth=Auth(env_var="ANTHROPIC_API_KEY", header="x-api-key"),
        models=("claude-3-5-sonnet-latest", "claude-3-5-haiku-latest", "claude-3-opus-latest"),
        reasoning=ReasoningStyle.CLAUDE,
        efforts=CLAUDE_EFFORTS,
        caches_automatically=True,
    ),
    ProviderSpec(
        id=EMBEDDED,
        label="Embedded demo model",
        base_url="",
        wire=Wire.CHAT,
        auth=_NO_KEY,
        models=("embedded",),
        offers_tools=False,
        is_demo=True,
        sends_cache_key=False,
        reasoning=ReasoningStyle.NONE,
        efforts=(),
        max_output_tokens=1024,
        keep_alive=False,
    ),
)

SPECS: Mapping[str, ProviderSpec] = MappingProxyType({spec.id: spec for spec in _ALL})
"""All services by id, in the order in which they are listed."""
