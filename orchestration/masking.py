"""Keys taken out of a text: those that are known, and whatever looks like one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

MASKED = "[masked]"

_SHORTEST = 6
_LOOKS_SECRET = (
    # What stands before stays readable: group 1 of each.
    re.compile(
        r"((?:authorization|proxy-authorization)[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+)"
        r"[^\s\"',;}]+",
        re.IGNORECASE,
    ),
    re.compile(r"(\bbearer\s+)[\w\-.~+/=]{8,}", re.IGNORECASE),
    re.compile(
        r"((?:x-api-key|api[_-]?key|access[_-]?key|secret[_-]?key|client[_-]?secret|auth[_-]?token"
        r"|access[_-]?token|refresh[_-]?token|password|passwd)(?:\\?[\"'])?\s*[:=]\s*(?:\\?[\"'])?)"
        r"[^\s\"',;&}\\]{4,}",
        re.IGNORECASE,
    ),
    re.compile(r"(://[^\s/:@\"']*:)[^\s/@\"']+(?=@)"),
    re.compile(
        r"()\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|pplx|fw|tvly|AIza)[-_]?[A-Za-z0-9][\w\-]{18,}"
    ),
)


class Mask:
    """Takes these values out of texts, however they are written in there."""

    def __init__(self, values: Iterable[str]) -> None:
        forms: set[str] = set()
        for value in values:
            if len(value) >= _SHORTEST:
                forms.update(_forms(value))
        longest_first = sorted(forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def applied(self, text: str) -> str:
        """The text without them, and without what looks like a key or a password."""
        if self._known is not None:
            text = self._known.sub(MASKED, text)
        for pattern in _LOOKS_SECRET:
            text = pattern.sub(rf"\1{MASKED}", text)
        return text


def _forms(value: str) -> Iterable[str]:
    yield value
    escaped = value
    for _ in range(2):
        escaped = json.dumps(escaped)[1:-1]
        yield escaped
    yield repr(value)[1:-1]
    yield quote(value, safe="")
    yield quote_plus(value)
