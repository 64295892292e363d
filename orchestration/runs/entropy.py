"""Ids and randomness of one run, made from its seed."""

from __future__ import annotations

from hashlib import blake2b

SEED_BYTES = 16


class SeededEntropy:
    """The engine's `Entropy`: equal seeds give equal values for equal serials, for ever."""

    __slots__ = ("_prefix", "_seed")

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._prefix = blake2b(b"id", key=seed, digest_size=5).hexdigest()

    def identifier(self, serial: int) -> str:
        """An id of letters, digits and `-`; runs with different seeds do not share any."""
        return f"{self._prefix}-{serial}"

    def fraction(self, serial: int) -> float:
        """A number in [0, 1) that looks random."""
        digest = blake2b(serial.to_bytes(8, "big"), key=self._seed, digest_size=8).digest()
        return (int.from_bytes(digest, "big") >> 11) / (1 << 53)
