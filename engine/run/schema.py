"""JSON Schemas, compiled once: validity, what is wrong with a value, and lossless coercion.

`jsonschema_rs` judges, because it takes a microsecond and bounds what a regular expression may
cost. Nothing is ever fetched: a reference that leaves the schema makes it uncompilable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from math import isinf
from typing import TYPE_CHECKING, Any, NoReturn

from engine.graph.schema_check import refuse_to_fetch, why_unusable
from engine.graph.schema_cost import UNFOLDS_TOO_FAR, SchemaCost
from engine.vocabulary.errors import EngineError

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

MAX_PROBLEMS = 16
MAX_PROBLEM_CHARS = 512

MAX_PARTS = 2000
"""A wrong part costs up to 10 us, and the event loop waits for it."""

_FIRST_ENTRIES = 8
_OF_WHOLE_LISTS = frozenset({"minItems", "contains", "uniqueItems"})
_COMPILED_SCHEMAS = 512
_SCHEMAS_BY_IDENTITY = 4096
_COERCION_ROUNDS = 6
_SINGLE_ATTEMPTS = 32
_DEEPEST_SPELLED = 128
_LONGEST_COUNTED = 64 * 1024
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{\]}]')
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,4000})")
_INDEX = re.compile(r"\+?[0-9]{1,20}")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,300})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")

_Path = tuple[str | int, ...]


class UncompilableSchema(EngineError):
    """A schema that is not one, or that refers to something outside of itself."""


class CompiledSchema:
    """A schema that is ready to judge values; made by `compiled`."""

    __slots__ = ("_cost", "_declared_names", "_validator", "is_valid")

    def __init__(
        self, validator: Validator, declared_names: frozenset[str], cost: SchemaCost
    ) -> None:
        self._validator = validator
        self._cost = cost
        self._declared_names = declared_names
        self.is_valid = _guarded(validator)

    def problems(self, value: Any) -> tuple[str, ...]:
        """Say what is wrong with `value`, each with its path, none with any of its content.

        At most `MAX_PROBLEMS` are told. They may go to a model and into a trace: names come from
        the schema only.
        """
        if is_large(value):
            return self._problems_of_large(value)
        if not self._cost.can_word(value):
            return ("does not fit; the schema offers too many forms within forms to say where",)
        try:
            errors = islice(self._validator.iter_errors(value), MAX_PROBLEMS)
            return tuple([self._worded(error) for error in errors])
        except UnicodeEncodeError:
            return ("holds text that is not valid Unicode (half of a surrogate pair)",)
        except ValueError:
            return ("cannot be judged: it is nested too deeply or is not JSON",)

    def coerce(self, value: Any) -> Any:
        """Give `value` with texts replaced by what they spell, where the schema wants that.

        Only a text whose path the schema finds invalid is touched, and only where it spells an
        integer, a number, a boolean, null, an array or an object that is wanted there. The value
        itself is never changed; what needs no replacement is shared with the result. What is
        `is_large` is not looked into.
        """
        for _ in range(_COERCION_ROUNDS):
            if self.is_valid(value) or is_large(value):
                return value
            better = self._coerced_once(value)
            if better is value:
                return value
            value = better
        return value

    def _problems_of_large(self, value: Any) -> tuple[str, ...]:
        """What is wrong with the first entries of each list, lengths aside."""
        if self.is_valid(value):
            return ()
        beginning = _beginning(value)
        if not is_large(beginning) and self._cost.can_word(beginning):
            errors = [e for e in self._errors(beginning) if e.kind.name not in _OF_WHOLE_LISTS]
            if errors:
                return tuple([self._worded(error) for error in errors[:MAX_PROBLEMS]])
        return ("does not fit, and is too large to say where; send fewer entries",)

    def _coerced_once(self, value: Any) -> Any:
        errors = self._errors(value)
        certain = _replacements(value, errors)
        if certain:
            return _replaced(value, certain)
        # Inside of anyOf and oneOf a mismatch belongs to one form among several, so there a
        # replacement counts only if it mends something.
        possible = _replacements(value, [inner for error in errors for inner in _inner(error)])
        together = _replaced(value, possible)
        if len(self._errors(together)) < len(errors):
            return together
        if len(possible) > _SINGLE_ATTEMPTS:
            return value
        for path, replacement in possible.items():
            alone = _replaced(value, {path: replacement})
            if len(self._errors(alone)) < len(errors):
                return alone
        return value

    def _errors(self, value: Any) -> list[ValidationError]:
        if not self._cost.can_word(value):
            return []
        try:
            return list(self._validator.iter_errors(value))
        except ValueError:
            return []

    def _worded(self, error: ValidationError) -> str:
        where = "".join(self._step(step) for step in error.instance_path).lstrip(".")
        words = _words(error)
        if error.kind.name in ("anyOf", "oneOf"):
            words += self._branches(error)
        return shortened(f"{where}: {words}" if where else words)

    def _step(self, step: str | int) -> str:
        if isinstance(step, int):
            return f"[{step}]"
        return f".{step}" if step in self._declared_names else ".(undeclared field)"

    def _branches(self, error: ValidationError) -> str:
        context: Iterable[list[ValidationError]] = getattr(error.kind, "context", ())
        worded = [self._worded(branch[0]) for branch in context if branch]
        return " (" + "; or: ".join(worded) + ")" if worded else ""


def compiled(schema: Any) -> CompiledSchema:
    """Compile a schema, or find it compiled; the same dict object is found in 0.1 us.

    A schema must not be changed after it was given here.

    Raises:
        UncompilableSchema: with words for the author of the schema.
    """
    known = _by_identity.get(id(schema))
    if known is not None and known[0] is schema:
        return known[1]
    result = _compiled_text(_canonical(schema))
    if isinstance(result, str):
        raise UncompilableSchema(result)
    if len(_by_identity) >= _SCHEMAS_BY_IDENTITY:
        _by_identity.clear()
    _by_identity[id(schema)] = (schema, result)
    return result


def is_large(value: Any) -> bool:
    """Whether a value has so many parts that finding all that is wrong could take long."""
    pending, parts = [value], 0
    while pending:
        part = pending.pop()
        if isinstance(part, dict | list):
            parts += len(part)
            if parts > MAX_PARTS:
                return True
            pending.extend(part.values() if isinstance(part, dict) else part)
    return False


def shortened(text: str, limit: int = MAX_PROBLEM_CHARS) -> str:
    """Cut `text` to `limit` characters, the last one an ellipsis where something was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


# The schema is kept beside its compiled form, so its id cannot go to another object.
_by_identity: dict[int, tuple[Any, CompiledSchema]] = {}


def _canonical(schema: Any) -> str:
    try:
        return json.dumps(schema, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise UncompilableSchema(f"the schema is not JSON: {error}") from error


@lru_cache(maxsize=_COMPILED_SCHEMAS)
def _compiled_text(text: str) -> CompiledSchema | str:
    import jsonschema_rs

    schema = json.loads(text)
    try:
        validator = jsonschema_rs.validator_for(schema, retriever=refuse_to_fetch, mask="the value")
    except ValueError as error:
        return why_unusable(schema, error)
    cost = SchemaCost(schema)
    if cost.unfolds_too_far():
        return UNFOLDS_TOO_FAR
    return CompiledSchema(validator, frozenset(_property_names(schema)), cost)


def _guarded(validator: Validator) -> Callable[[Any], bool]:
    """Bind `is_valid` of the validator, with values that it cannot read counted as invalid."""
    judge = validator.is_valid

    def is_valid(value: Any) -> bool:
        try:
            return judge(value)
        except ValueError:
            return False

    return is_valid


def _property_names(schema: Any) -> Iterator[str]:
    pending = [schema]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            properties = part.get("properties")
            if isinstance(properties, dict):
                yield from properties
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)


def _words(error: ValidationError) -> str:
    match error.kind.name:
        case "additionalProperties" | "unevaluatedProperties":
            return "has fields that the schema does not declare"
        case "propertyNames":
            return "has a field whose name the schema does not allow"
        case "anyOf" | "oneOf":
            return f"does not fit the forms that '{error.kind.name}' offers"
        case _:
            return error.message


def _inner(error: ValidationError) -> Iterator[ValidationError]:
    for branch in getattr(error.kind, "context", ()):
        for inner in branch:
            yield inner
            yield from _inner(inner)


def _replacements(value: Any, errors: Iterable[ValidationError]) -> dict[_Path, Any]:
    found: dict[_Path, Any] = {}
    for error in errors:
        if error.kind.name != "type":
            continue
        path, text = _found(value, error.instance_path)
        if isinstance(text, str) and path not in found:
            for replacement in _spelled(text, getattr(error.kind, "types", ())):
                found[path] = replacement
    return found


def _found(value: Any, steps: Iterable[str | int]) -> tuple[_Path, Any]:
    """The part of a value that an error is about, and its path; nothing where that is not certain.

    A name that looks like a number comes as that number.
    """
    path: list[str | int] = []
    for given in steps:
        step = given
        if isinstance(value, dict) and isinstance(given, int):
            names = [name for name in value if _INDEX.fullmatch(name) and int(name) == given]
            if len(names) != 1:
                return (), None
            step = names[0]
        value = value[step]
        path.append(step)
    return tuple(path), value


def _beginning(value: Any) -> Any:
    """The value with the first entries of each list only."""
    if isinstance(value, list):
        return [_beginning(entry) for entry in value[:_FIRST_ENTRIES]]
    if isinstance(value, dict) and len(value) <= MAX_PARTS:
        return {name: _beginning(part) for name, part in value.items()}
    return value


def _replaced(value: Any, replacements: Mapping[_Path, Any]) -> Any:
    """Copy what leads to the replacements, once, and share the rest."""
    if not replacements:
        return value
    if () in replacements:
        return replacements[()]
    root = value.copy()
    copied: dict[_Path, Any] = {(): root}
    for path, replacement in replacements.items():
        parent = root
        for depth in range(1, len(path)):
            prefix = path[:depth]
            if prefix not in copied:
                copied[prefix] = parent[path[depth - 1]] = parent[path[depth - 1]].copy()
            parent = copied[prefix]
        parent[path[-1]] = replacement
    return root


def _spelled(text: str, wanted: Collection[str]) -> Iterator[Any]:
    spelled = text.strip(" \t\r\n")
    if "integer" in wanted and _INTEGER.fullmatch(spelled):
        yield int(spelled)
    elif "number" in wanted and _NUMBER.fullmatch(spelled):
        number = json.loads(spelled)
        if not isinf(number):
            yield number
    if "boolean" in wanted and spelled in ("true", "false"):
        yield spelled == "true"
    if "null" in wanted and spelled == "null":
        yield None
    if ("array" in wanted and spelled.startswith("[")) or (
        "object" in wanted and spelled.startswith("{")
    ):
        if spelled.count("[") + spelled.count("{") > _DEEPEST_SPELLED and (
            len(spelled) > _LONGEST_COUNTED or _depth(spelled) > _DEEPEST_SPELLED
        ):
            return
        try:
            yield json.loads(spelled, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            return


def _depth(text: str) -> int:
    """How many brackets stand open at once at most, those within strings left out."""
    deepest = depth = 0
    for token in _STRING_OR_BRACKET.findall(text):
        if token in ("[", "{"):
            depth += 1
            deepest = max(deepest, depth)
        elif token in ("]", "}"):
            depth -= 1
    return deepest


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
