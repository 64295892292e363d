"""Whether a JSON Schema can be used at all; nothing is ever fetched."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NoReturn

from engine.graph.schema_cost import UNFOLDS_TOO_FAR, SchemaCost
from engine.vocabulary.tools import JsonObject

_MAX_CHARS = 400


def schema_error(schema: JsonObject) -> str | None:
    """Say why the schema cannot be used (wrong keywords, references that lead nowhere)."""
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return f"it is not JSON ({error})"
    return _error_in(text)


@lru_cache(maxsize=4096)
def _error_in(text: str) -> str | None:
    # The compiled library decides, as it does when outputs are judged, and takes microseconds;
    # the other one explains better.
    import jsonschema_rs

    schema = json.loads(text)
    try:
        jsonschema_rs.validator_for(schema, retriever=refuse_to_fetch)
    except ValueError as error:
        return why_unusable(schema, error)
    return UNFOLDS_TOO_FAR if SchemaCost(schema).unfolds_too_far() else None


def refuse_to_fetch(uri: str) -> NoReturn:
    """Stand in for whatever looks up references that lead out of a schema."""
    raise ValueError("schemas are never fetched; copy the definition into this one")


def why_unusable(schema: Any, error: ValueError) -> str:
    """What is wrong with a schema that `jsonschema_rs` refused with this error, in a clause."""
    words = _explained(schema) or str(getattr(error, "message", "") or error).partition("\n")[0]
    return words if len(words) <= _MAX_CHARS else words[: _MAX_CHARS - 1] + "…"


def _explained(schema: Any) -> str | None:
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.validators import validator_for

    if not isinstance(schema, dict):
        return "a schema is an object"
    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        return f"{error.message} at {error.json_path}"
    return None
