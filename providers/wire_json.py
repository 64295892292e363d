"""Request bodies as bytes."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

_LONE_HALF = re.compile(
    r"(?<!\\)((?:\\\\)*)(?:\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)


def encoded(value: Any) -> bytes:
    """The value as JSON in UTF-8, members in their order.

    Half of a character, which a file name or a tool's output may hold, becomes U+FFFD.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return _LONE_HALF.sub(r"\1\\ufffd", json.dumps(value)).encode("ascii")
