"""Bodies of rows: small, and read back as they were."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.storage.bodies import COMPRESSED_FROM, BodyReader, encode, packed, unpacked

TEXT = st.text(st.characters(exclude_categories=()), max_size=10)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
READER: BodyReader[Any] = BodyReader(dict[str, Any])


@given(st.lists(st.dictionaries(TEXT, JSON, max_size=3), max_size=3))
def test_whatever_a_model_wrote_comes_back(values: list[dict[str, Any]]) -> None:
    bodies = [packed(encode(value)) for value in values]

    assert [READER.one(body) for body in bodies] == values
    assert READER.many(bodies) == values


def test_long_bodies_are_compressed_where_that_helps() -> None:
    short, long = {"a": "x" * 100}, {"a": "some words, " * 1000}
    noise = {"a": random.Random(1).randbytes(3000).hex()}

    assert packed(encode(short)) == encode(short)
    assert len(packed(encode(long))) < len(encode(long)) / 20
    assert len(packed(encode(noise))) <= len(encode(noise))
    assert READER.many(map(packed, map(encode, (short, long, noise)))) == [short, long, noise]
    assert len(encode(long)) > COMPRESSED_FROM


@pytest.mark.parametrize("body", [b"", b"nothing", b"\x78\x9cnothing", b"{", b'{"a":', b"[1]"])
def test_a_body_that_is_none_is_told(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"(?i)stored body|json|expecting"):
        READER.one(body)


def test_a_compressed_body_is_what_it_was() -> None:
    data = encode({"a": "b" * 5000})

    assert unpacked(packed(data)) == data
