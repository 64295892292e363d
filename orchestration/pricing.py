"""What model calls cost, by the price lists of `genai-prices` or the user's own.

Nothing is fetched: the lists are those of the installed package. What is in none of them has no
known price, which is not the same as none; the embedded model alone is known to be free.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType

from engine.vocabulary.messages import Usage
from orchestration.settings.model import ModelSettings, Settings
from providers.config import ProviderConfig
from providers.specs import EMBEDDED, SPECS

logger = logging.getLogger(__name__)

_A_MILLION = 1_000_000
# By whom our services are known to the price lists, where that is not their own id.
_LISTED_AS = MappingProxyType({"gemini": "google", "xai": "x-ai", "bedrock": "aws"})
# Paid otherwise than by the token, or wherever the user has it from.
_UNLISTED = frozenset({"openai-codex", "ollama", "lmstudio", "custom_openai_compatible"})


class Prices:
    """The prices of one run."""

    def __init__(
        self,
        settings: Settings,
        connections: Mapping[str, ProviderConfig] = MappingProxyType({}),
    ) -> None:
        """Take the user's own prices, and how each provider of the run is reached, by its id."""
        self._own = {name.strip().lower(): model for name, model in settings.models.items()}
        self._connections = connections

    def load(self) -> None:
        """Read the price lists, which takes a fifth of a second; later calls are quick."""
        import genai_prices  # noqa: F401

    def cost(self, provider_id: str | None, model: str, usage: Usage) -> float | None:
        """What a call cost in US dollars; `None` where its tokens or its price are unknown."""
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        own = self._own.get(model.strip().lower())
        if own is not None and own.input_price is not None and own.output_price is not None:
            return _own_cost(own, usage)
        if provider_id == EMBEDDED:
            return 0.0
        return self._listed_cost(provider_id, model, usage)

    def is_known(self, provider_id: str | None, model: str) -> bool:
        """Whether calls of a model have a price."""
        return self.cost(provider_id, model, Usage(1000, 1000, 2000)) is not None

    def _listed_cost(self, provider_id: str | None, model: str, usage: Usage) -> float | None:
        from genai_prices import Usage as ListedUsage
        from genai_prices import calc_price

        listed, address = self._listed(provider_id)
        if listed is None and address is None:
            return None
        counted = ListedUsage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            cache_read_tokens=usage.cached_input_tokens,
            cache_write_tokens=usage.cache_creation_input_tokens,
        )
        try:
            if listed is not None:
                found = calc_price(counted, model, provider_id=listed)
            else:
                found = calc_price(counted, model, provider_api_url=address)
        except LookupError:
            return None
        except ValueError as error:  # more tokens from the cache than there were
            logger.info("a call of %s has no price: %s", model, error)
            return None
        return float(found.total_price)

    def _listed(self, provider_id: str | None) -> tuple[str | None, str | None]:
        """Under which name a provider is listed, or the address that may tell."""
        spec = SPECS.get(provider_id or "")
        if spec is None:
            return None, None
        connection = self._connections.get(spec.id)
        if connection is not None and connection.base_url.rstrip("/") != spec.base_url.rstrip("/"):
            return None, connection.base_url
        if spec.id in _UNLISTED:
            return None, None
        return _LISTED_AS.get(spec.id, spec.id), None


def _own_cost(price: ModelSettings, usage: Usage) -> float:
    assert price.input_price is not None
    assert price.output_price is not None
    prompt, cached = usage.prompt_tokens or 0, usage.cached_input_tokens or 0
    cached = min(cached, prompt)
    cached_price = price.input_price if price.cached_price is None else price.cached_price
    spent = (prompt - cached) * price.input_price + cached * cached_price
    return (spent + (usage.completion_tokens or 0) * price.output_price) / _A_MILLION
