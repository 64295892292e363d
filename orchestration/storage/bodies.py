"""Facts as the bytes of a row: JSON, and compressed where it is long.

A body says itself which it is: JSON begins with a bracket, a compressed body with another byte.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import msgspec

COMPRESSED_FROM = 2000
"""Bodies of so many bytes are compressed: from there on rows no longer pack well into a page."""
FASTEST = 1

Value = TypeVar("Value")
_encode = msgspec.json.Encoder().encode


def encode(value: Any) -> bytes:
    """A value as JSON, whatever texts and numbers a model put into it."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError):
        # Half a surrogate pair, or a number beyond what the encoder takes.
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode()


def packed(data: bytes) -> bytes:
    """The bytes to store for JSON; compressed where that is shorter."""
    if len(data) < COMPRESSED_FROM:
        return data
    shorter = zlib.compress(data, FASTEST)
    return shorter if len(shorter) < len(data) else data


def unpacked(body: bytes) -> bytes:
    """The JSON of a stored body.

    Raises:
        ValueError: it is neither JSON nor compressed by us.
    """
    if body[:1] in (b"{", b"["):
        return body
    try:
        return zlib.decompress(body)
    except zlib.error as error:
        raise ValueError(f"a stored body cannot be decompressed: {error}") from error


class BodyReader(Generic[Value]):
    """Reads bodies of one type."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._one = msgspec.json.Decoder(kind)

    def one(self, body: bytes) -> Value:
        """One value.

        Raises:
            ValueError: the body holds something else.
        """
        data = unpacked(body)
        try:
            value: Value = self._one.decode(data)
        except msgspec.DecodeError:
            value = self._leniently(data)
        return value

    def many(self, bodies: Iterable[bytes]) -> list[Value]:
        """Values in order.

        Raises:
            ValueError: a body holds something else.
        """
        bodies, decode = list(bodies), self._one.decode
        try:
            return [decode(body if body[:1] == b"{" else unpacked(body)) for body in bodies]
        except msgspec.DecodeError:
            return [self.one(body) for body in bodies]

    def _leniently(self, data: bytes) -> Value:
        """Half a surrogate pair is no text for msgspec, but a model may have written one."""
        try:
            value: Value = msgspec.convert(json.loads(data), self._kind)
        except (msgspec.ValidationError, RecursionError) as error:
            raise ValueError(f"a stored body does not hold what it has to: {error}") from error
        return value
