"""What an endpoint cannot do, learned from its refusals and kept for the next request."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from providers.endpoint_report import Profile


class Quirk(StrEnum):
    """One thing that an endpoint refuses for a model."""

    NO_REQUIRED_CHOICE = "no_required_tool_choice"
    """A tool call cannot be demanded; the model is asked for one instead."""
    NO_TOOL_CHOICE = "no_tool_choice"
    """The choice of tools cannot be steered at all."""
    NO_STRICT_TOOLS = "no_strict_tools"
    """Strict schemas are refused; outputs are checked here only."""
    NO_ENCRYPTED_REASONING = "no_encrypted_reasoning"
    """Reasoning is not kept from one turn to the next."""
    NO_REASONING_SUMMARY = "no_reasoning_summary"
    """Reasoning is not summarised."""
    NO_REASONING_OPTIONS = "no_reasoning_options"
    """Reasoning effort and budget are refused and left out."""
    PLAIN_SCHEMAS = "plain_schemas"
    """Schemas are sent without references and rarer keywords; outputs are checked here only."""
    NO_STREAM = "no_stream"
    """Replies come in one piece."""
    NO_STREAM_USAGE = "no_stream_usage"
    """Token counts cannot be asked for."""
    NO_CACHE_KEY = "no_cache_key"
    """Prompt-cache settings are refused and left out."""
    NO_FAST_MODE = "no_fast_mode"
    """There is no fast mode."""
    COMPLETION_TOKENS = "max_completion_tokens"
    """The output limit is called max_completion_tokens."""


class Quirks:
    """What is known about the models of one endpoint: their quirks, and what checks have found.

    Args:
        known: what was learned before, as `as_data` gave it; what is unknown in it is ignored.
        on_learned: told of each new quirk with the model's name, to store it.
        on_checked: told of the model whose check has been noted, to store it.
    """

    def __init__(
        self,
        known: Mapping[str, Iterable[str] | Mapping[str, Any]] | None = None,
        on_learned: Callable[[str, Quirk], None] | None = None,
        on_checked: Callable[[str], None] | None = None,
    ) -> None:
        self._by_model: dict[str, frozenset[Quirk]] = {}
        self._profiles: dict[str, Profile] = {}
        for model, data in (known or {}).items():
            quirks = data.get("refuses", ()) if isinstance(data, Mapping) else data
            self._by_model[model] = frozenset(Quirk(name) for name in quirks if name in _NAMES)
            if isinstance(data, Mapping):
                self._profiles[model] = msgspec.convert(data["checked"], Profile)
        self._on_learned = on_learned
        self._on_checked = on_checked

    def of(self, model: str) -> frozenset[Quirk]:
        """The quirks that are known of the model."""
        return self._by_model.get(model, frozenset())

    def profile_of(self, model: str) -> Profile | None:
        """What the last check of the model found, `None` if there has been none."""
        return self._profiles.get(model)

    def learn(self, model: str, quirk: Quirk) -> bool:
        """Note a quirk; false if it was known."""
        known = self.of(model)
        if quirk in known:
            return False
        self._by_model[model] = known | {quirk}
        if self._on_learned is not None:
            self._on_learned(model, quirk)
        return True

    def checked(
        self,
        model: str,
        profile: Profile,
        *,
        refused: Iterable[Quirk] = (),
        accepted: Iterable[Quirk] = (),
    ) -> None:
        """Note what a check has found; quirks that are gone are forgotten."""
        self._by_model[model] = (self.of(model) - frozenset(accepted)) | frozenset(refused)
        self._profiles[model] = profile
        if self._on_checked is not None:
            self._on_checked(model)

    def forget(self) -> None:
        """Know nothing any more; the next requests find out anew."""
        self._by_model.clear()
        self._profiles.clear()

    def models(self) -> tuple[str, ...]:
        """The models of which something is known, by name."""
        return tuple(self.as_data())

    def as_data(self) -> dict[str, Any]:
        """Everything that is known, as plain JSON data in a fixed order."""
        return {
            model: self._model_data(model)
            for model in sorted(self._by_model)
            if self._by_model[model] or model in self._profiles
        }

    def _model_data(self, model: str) -> Any:
        quirks = sorted(quirk.value for quirk in self._by_model[model])
        profile = self._profiles.get(model)
        if profile is None:
            return quirks
        return {"refuses": quirks, "checked": msgspec.to_builtins(profile)}

    def __repr__(self) -> str:
        return f"Quirks({self.as_data()!r})"


_NAMES = frozenset(quirk.value for quirk in Quirk)


def quirk_in_refusal(status: int, message: str, body: Mapping[str, Any]) -> Quirk | None:
    """Which quirk a refused request points to, if the request had what was refused.

    Args:
        status: the HTTP status of the refusal.
        message: its text, as long as it is.
        body: the request that was refused.
    """
    if status not in (400, 404, 422):
        return None
    text = message.lower()
    # A model that did not call keeps to a choice badly; the choice itself was accepted.
    if "did not call" in text or not _REFUSING.search(text):
        return None
    if "tool_choice" in text or "tool choice" in text:
        return _choice_quirk(body)
    for words, fields, quirk in _REFUSALS:
        if re.search(words, text) and any(_has(body, name) for name in fields):
            return quirk
    return None


def _choice_quirk(body: Mapping[str, Any]) -> Quirk | None:
    choice = body.get("tool_choice")
    if choice in ("required", {"type": "any"}):
        return Quirk.NO_REQUIRED_CHOICE
    return Quirk.NO_TOOL_CHOICE if choice is not None else None


def _has(body: Mapping[str, Any], name: str) -> bool:
    if name == "strict":
        return any(
            tool.get("strict") or tool.get("function", {}).get("strict")
            for tool in body.get("tools", ())
        )
    head, _, tail = name.partition(".")
    value = body.get(head)
    return value is not None and (not tail or (isinstance(value, Mapping) and tail in value))


_REFUSING = re.compile(
    r"unsupported|not support|doesn't support|no endpoints|unknown|unrecogni[sz]ed|invalid"
    r"|failed to|expected|extra|not (?:permitted|allowed|available|enabled)|unavailable|forbidden"
    r"|may not|cannot|can't|should be|must be"
)
_REFUSALS: tuple[tuple[str, tuple[str, ...], Quirk], ...] = (
    (r"max_completion_tokens", ("max_tokens",), Quirk.COMPLETION_TOKENS),
    (r"stream_options", ("stream_options",), Quirk.NO_STREAM_USAGE),
    (r"prompt_cache|cache_control", ("prompt_cache_key", "cache_control"), Quirk.NO_CACHE_KEY),
    (r"service.tier", ("service_tier",), Quirk.NO_FAST_MODE),
    (r"encrypted|\binclude\b", ("include",), Quirk.NO_ENCRYPTED_REASONING),
    (r"summar", ("reasoning.summary",), Quirk.NO_REASONING_SUMMARY),
    (
        r"reasoning|thinking|effort|output_config",
        ("reasoning", "reasoning_effort", "reasoning_budget_tokens", "thinking", "output_config"),
        Quirk.NO_REASONING_OPTIONS,
    ),
    (r"\bstrict\b|invalid schema for function", ("strict",), Quirk.NO_STRICT_TOOLS),
    (
        r"\$(?:ref|defs|schema)|\bdefs\b|additional_?properties|any_?of|schema|grammar"
        r"|tools?\W.{0,60}(?:parameters|properties|keyword)",
        ("tools",),
        Quirk.PLAIN_SCHEMAS,
    ),
    (r"\bstream(?:ing|ed)?\b", ("stream",), Quirk.NO_STREAM),
)
