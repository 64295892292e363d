"""How much each model can take in: what the user says, else what is known of it."""

from __future__ import annotations

from collections.abc import Callable

from orchestration.settings.model import Settings
from providers.model_catalog import context_window
from providers.specs import EMBEDDED


def window_look_up(settings: Settings) -> Callable[[str], int | None]:
    """What gives the context window of a model by name in tokens, `None` where nobody knows it."""
    chosen = {
        name.strip().lower(): model.context_window
        for name, model in settings.models.items()
        if model.context_window is not None
    }
    chosen.setdefault(EMBEDDED, settings.embedded.n_ctx)
    known: dict[str, int | None] = {}

    def window_of(model: str) -> int | None:
        if model not in known:
            window = chosen.get(model.strip().lower())
            known[model] = context_window(model) if window is None else window
        return known[model]

    return window_of
