"""Ids of calls as a wire wants them: letters and digits, not too many, each one only once."""

from __future__ import annotations

import hashlib

_WANTED_LENGTH = 24
_DIGEST_BYTES = 12


class WireIds:
    """Maps the ids of one request; the same ids give the same result in every request.

    Args:
        max_length: how many letters and digits the service takes, nine or more.
    """

    def __init__(self, max_length: int) -> None:
        self._length = min(max_length, _WANTED_LENGTH)
        self._taken: set[str] = set()

    def new(self, call_id: str) -> str:
        """An id for the next call that has this id of ours."""
        salt = 0
        while True:
            wire_id = _hashed(f"{call_id}#{salt}" if salt else call_id, self._length)
            if wire_id not in self._taken:
                self._taken.add(wire_id)
                return wire_id
            salt += 1


def _hashed(text: str, length: int) -> str:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES)
    return digest.hexdigest()[:length]
