"""How much each model can take in: what the user says, else its endpoint, else what is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from orchestration.settings.model import Settings
from providers.model_catalog import context_window
from providers.quirks import Quirks
from providers.specs import EMBEDDED


def window_look_up(
    settings: Settings, checked: Iterable[Quirks] = ()
) -> Callable[[str], int | None]:
    """What gives the context window of a model by name in tokens, `None` where nobody knows it.

    Args:
        settings: what the user says of models.
        checked: the records of the endpoints that may be asked. Where two have checked a model of
            one name, the smaller window counts.
    """
    records = tuple(checked)
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
            if window is None:
                window = _checked(model, records)
            known[model] = context_window(model) if window is None else window
        return known[model]

    return window_of


def _checked(model: str, records: Iterable[Quirks]) -> int | None:
    profiles = [record.profile_of(model) for record in records]
    windows = [p.context_window for p in profiles if p is not None and p.context_window is not None]
    return min(windows, default=None)
