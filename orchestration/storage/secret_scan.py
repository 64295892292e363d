"""Looks for the values of known keys in what is about to leave this computer."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable
from typing import BinaryIO
from urllib.parse import quote

SHORTEST = 8
"""Shorter values are no keys, and would be found everywhere."""
CHUNK = 1 << 20
JSON_DEPTH = 3
"""JSON may be a text within JSON, as in the arguments of a call, and that once more."""


class SecretScanner:
    """Finds values as they are, escaped for JSON or for an address, and in base64."""

    def __init__(self, values: Iterable[str]) -> None:
        forms: set[bytes] = set()
        for value in values:
            if len(value) >= SHORTEST:
                forms.update(_forms(value))
        self._forms = tuple(sorted(forms))
        self._overlap = max((len(form) for form in self._forms), default=1) - 1

    def is_in(self, data: bytes) -> bool:
        """Whether one of the values is in there."""
        return any(form in data for form in self._forms)

    def is_in_file(self, file: BinaryIO) -> bool:
        """Whether one of the values is in what is left of a file; reads it to the end."""
        tail = b""
        while chunk := file.read(CHUNK):
            if self.is_in(tail + chunk):
                return True
            tail = (tail + chunk)[-self._overlap :] if self._overlap else b""
        return False


def _forms(value: str) -> Iterable[bytes]:
    data = value.encode("utf-8", "surrogatepass")
    yield data
    for is_ascii in (True, False):
        escaped = value
        for _ in range(JSON_DEPTH):
            escaped = json.dumps(escaped, ensure_ascii=is_ascii)[1:-1]
            yield escaped.encode("utf-8", "surrogatepass")
    yield quote(data, safe="").encode()
    for before in range(3):
        # The characters at both ends also depend on what surrounds the value.
        skipped, left = -(-before * 4 // 3), (before + len(data)) % 3
        whole = b64encode(b"\0" * before + data).rstrip(b"=")
        yield whole[skipped : len(whole) - 1 if left else len(whole)]
