"""Finding out whether a service can be used, and saying in one sentence what is wrong if not."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.vocabulary.errors import ModelCallError, PermanentFailure, failure_text
from providers.config import ProviderConfig
from providers.connection import Connection
from providers.errors import (
    failure_of,
    redacted,
    refusal_text,
    status_of,
    transport_cause,
    unconnected,
)

_SHOWN_MODELS = 3


_WINDOWS = (
    "loaded_context_length",
    "context_length",
    "context_window",
    "max_context_length",
    "max_model_len",
    "max_input_tokens",
    "inputTokenLimit",
    "n_ctx",
    "n_ctx_train",
)
_PARTS = ("meta", "top_provider", "limits", "capabilities", "model_info")


class ProbeReport(Struct, frozen=True):
    """What a probe found. `models` are sorted; empty where the service lists none.

    `windows` has the context window in tokens of each model for which the list says it.
    `is_hopeless`: there is no use in asking the service anything else.
    """

    ok: bool
    sentence: str
    models: tuple[str, ...] = ()
    windows: dict[str, int] = {}
    is_hopeless: bool = False

    def lists(self, model: str) -> bool:
        """Whether the model is among those listed, with or without a tag."""
        known = {name.lower() for name in self.models}
        known |= {name.partition(":")[0].lower() for name in self.models}
        return model.lower() in known


async def probe(config: ProviderConfig, connection: Connection, model: str = "") -> ProbeReport:
    """Ask a service for its models; costs nothing.

    Args:
        config: a service that is available.
        connection: its connection; a server of our own is started by this.
        model: a model that has to be among those it lists; empty for any.
    """
    spec = config.spec
    if spec.auth.required and config.api_key is None:
        sentence = f"{spec.label} needs a key: set {spec.auth.env_var}."
        return ProbeReport(False, sentence, is_hopeless=True)
    try:
        client = await connection.client(config.wire_for(model))
    except ModelCallError as error:
        return ProbeReport(False, _sentence(_plainly(error)), is_hopeless=True)
    try:
        reply = await client.models()
    except client.errors as error:
        sentence = _sentence(_reason(error, config, connection))
        is_hopeless = status_of(error) == 401 or transport_cause(error) is not None
        return ProbeReport(False, sentence, is_hopeless=is_hopeless)
    models = _names(reply)
    if models is None:
        return ProbeReport(
            False,
            f"{config.base_url} answers, but not with a list of models: check the address "
            "(it usually ends with /v1).",
        )
    return _judged(config, model, ProbeReport(True, "", models, _windows(reply)))


def _judged(config: ProviderConfig, model: str, listed: ProbeReport) -> ProbeReport:
    label, models = config.spec.label, listed.models
    if model and models and not config.spec.is_demo and not listed.lists(model):
        shown = ", ".join(models[:_SHOWN_MODELS])
        more = len(models) - _SHOWN_MODELS
        rest = f" and {more} more" if more > 0 else ""
        return ProbeReport(
            False, f"{label} does not list the model '{model}'; it has {shown}{rest}.", models
        )
    count = "1 model" if len(models) == 1 else f"{len(models)} models"
    return ProbeReport(True, f"{label} is ready and lists {count}.", models, listed.windows)


def _reason(error: Exception, config: ProviderConfig, connection: Connection) -> str:
    spec, base_url = config.spec, config.base_url
    status = status_of(error)
    if status == 401:
        hint = f"check {spec.auth.env_var}" if spec.auth.env_var else "enter another key"
        if config.api_key is None:
            return f"{spec.label} wants a key (401): {hint}"
        return f"{spec.label} refuses the key (401): {hint}"
    if status == 403:
        return f"{spec.label} does not let this key list its models (403): check its permissions"
    if status in (404, 405):
        return (
            f"{spec.label} has no list of models at {base_url} ({status}): check the address "
            "(it usually ends with /v1)"
        )
    cause = transport_cause(error) if status is None else None
    if cause is not None:
        return unconnected(cause, spec.label, base_url, is_local=config.is_local)
    if status is None:
        return f"{base_url} answers with something that is no list of models: check the address"
    failure = failure_of(error, label=spec.label, secrets=connection.secrets)
    return redacted(getattr(failure, "message", "") or refusal_text(error), connection.secrets)


def _plainly(error: ModelCallError) -> str:
    failure = error.failure
    return failure.message if isinstance(failure, PermanentFailure) else failure_text(failure)


def _names(reply: Any) -> tuple[str, ...] | None:
    """The models in a list of them; `None` if the reply is none."""
    entries = _entries(reply)
    if entries is None:
        return None
    return tuple(sorted({name for name in map(_name, entries) if isinstance(name, str)}))


def _entries(reply: Any) -> list[Any] | None:
    entries = reply.get("data", reply.get("models")) if isinstance(reply, dict) else reply
    return entries if isinstance(entries, list) else None


def _name(entry: Any) -> Any:
    return entry.get("id") or entry.get("name") if isinstance(entry, dict) else entry


def _windows(reply: Any) -> dict[str, int]:
    """What the list says of the context windows, which every server says in its own way."""
    found = {}
    for entry in _entries(reply) or ():
        name = _name(entry)
        parts = [entry, *map(entry.get, _PARTS)] if isinstance(entry, dict) else []
        sizes = [part.get(key) for key in _WINDOWS for part in parts if isinstance(part, dict)]
        size = next((size for size in sizes if type(size) is int and size > 0), None)
        if isinstance(name, str) and size is not None:
            found[name] = size
    return found


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
