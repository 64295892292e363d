"""How many tokens well-known models can take in."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources

import msgspec

_REGION = re.compile(r"^(?:(?:us|eu|apac|global|jp|au)\.)?(?:anthropic|meta|amazon|mistral)\.")


@lru_cache(maxsize=512)
def context_window(model: str) -> int | None:
    """The context window of a model in tokens, `None` if it is not a well-known one.

    Case does not matter, nor does what stands before the last `/`, nor what follows the name
    (a date, a size, a tag): the longest name in the table that the model's name begins with counts.
    """
    name = model.strip().lower().rpartition("/")[2]
    name = _REGION.sub("", name)
    windows = _windows()
    for end in range(len(name), 0, -1):
        if name[:end] in windows and not name[end : end + 1].isalpha():
            return windows[name[:end]]
    return None


@lru_cache(maxsize=1)
def _windows() -> dict[str, int]:
    text = resources.files("resources").joinpath("models.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, int])
