"""JSON Schemas for a model that has to be held: every text and every array has an end.

A grammar makes a reply take the form of a schema. Where the schema lets a text go on, a small
model goes on until the reply is cut off. So it is given a narrower schema; what fits that one
fits the original, and the original is what the reply is judged by in the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from engine.vocabulary.tools import JsonObject
from providers.embedded.bounded_pattern import bounded_pattern
from providers.embedded.flat_schema import ALL_TYPES, Flat, Flattener, NoBound, Place
from providers.embedded.prose import prose_pattern

_MAX_PARTS = 2000
_OPEN_PROPERTY = "content"
_STEPS = 20
_FORMATS_OF_GRAMMARS = frozenset({"date", "time", "date-time", "uuid"})
_FORMAT_PATTERNS = {
    "email": r"^[a-z]{2,12}@example\.(com|org)$",
    "uri": r"^https://example\.(com|org)/[a-z]{1,16}$",
    "hostname": r"^[a-z]{2,12}\.example\.(com|org)$",
}


class Bounds(Struct, frozen=True):
    """How much a model may write.

    Attributes:
        text: characters of a text that has no limit of its own.
        least_items: items that an array has at least, unless it can only have fewer.
        items: items of an array at most, unless it must have more.
        count: how far an integer without a limit of its own goes; `None` for any distance.
        prose: whether free text is held to words.
    """

    text: int
    least_items: int
    items: int
    count: int | None
    prose: bool


TINY = Bounds(text=420, least_items=2, items=3, count=99, prose=True)
"""For the bundled model."""

ROOMY = Bounds(text=600, least_items=1, items=6, count=None, prose=False)
"""For a model that the user has chosen."""


def bound(schema: JsonObject, bounds: Bounds = TINY) -> JsonObject:
    """A bounded schema for the same values, or fewer of them.

    References are written out, optional properties dropped (where none is required, all are
    kept), descriptions left out. A schema that no bounded one exists for comes back as it is.
    """
    try:
        return _Bounder(schema, bounds).value([(schema, ("#",))])
    except NoBound:
        return schema


class _Bounder:
    def __init__(self, root: JsonObject, bounds: Bounds) -> None:
        self._flattener = Flattener(root)
        self._bounds = bounds
        self._parts = 0
        self._makers: dict[str, Callable[[Flat], JsonObject]] = {
            "string": self._string,
            "object": self._object,
            "array": self._array,
            "integer": self._integer,
            "number": self._number,
            "boolean": lambda _: {"type": "boolean"},
            "null": lambda _: {"type": "null"},
        }

    def value(self, places: list[Place]) -> JsonObject:
        self._parts += 1
        if self._parts > _MAX_PARTS:
            raise NoBound
        return self._made(self._flattener.flat(places))

    def _made(self, flat: Flat) -> JsonObject:
        if flat.values is not None:
            return {"enum": self._fitting(flat, flat.values)}
        made = self._chosen(flat) if flat.choices else self._typed(flat)
        if not flat.exact or any(key == "oneOf" for key, _ in flat.choices):
            # Grammars pass over `not`; a validator sees the whole schema again.
            made = {**made, "not": {"not": self._closed(flat)}}
        return made

    def _chosen(self, flat: Flat) -> JsonObject:
        (_, options), *others = flat.choices
        made: list[JsonObject] = []
        for option in options:
            branch = flat.copy()
            branch.choices = list(others)
            branch.exact = True
            try:
                self._parts += 1
                self._flattener.add(branch, option)
                form = self._made(branch)
            except NoBound:
                continue
            if form not in made:
                made.append(form)
        filled = [form for form in made if form != {"type": "null"}]
        if not made or self._parts > _MAX_PARTS:
            raise NoBound
        made = filled or made
        return made[0] if len(made) == 1 else {"anyOf": made}

    def _typed(self, flat: Flat) -> JsonObject:
        for kind in _kinds(flat):
            try:
                return self._makers[kind](flat)
            except NoBound:
                continue
        raise NoBound

    def _object(self, flat: Flat) -> JsonObject:
        required = _with_dependents(flat)
        most = flat.numbers.get("maxProperties", math.inf)
        names = required or list(flat.declared())
        properties: JsonObject = {}
        for name in [*names, *(name for name in flat.declared() if name not in names)]:
            wanted = name in names or len(properties) < flat.numbers.get("minProperties", 0)
            if not wanted or len(properties) >= most:
                continue
            try:
                properties[name] = self.value(flat.property_places(name))
            except NoBound:
                if name in required:
                    raise
        if not names and not properties and most > 0:
            properties = self._open_property(flat)
        missing = [name for name in required if name not in properties]
        if missing or len(properties) < flat.numbers.get("minProperties", 0):
            raise NoBound
        if not required and _with_dependents(flat, list(properties)) != list(properties):
            raise NoBound
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def _open_property(self, flat: Flat) -> JsonObject:
        try:
            return {_OPEN_PROPERTY: self.value(flat.property_places(_OPEN_PROPERTY))}
        except NoBound:
            return {}

    def _array(self, flat: Flat) -> JsonObject:
        least = flat.numbers.get("minItems", 0)
        most = flat.numbers.get("maxItems", math.inf)
        if least > most:
            raise NoBound
        prefix = flat.prefix_length()
        if prefix:
            return self._tuple(flat, least, min(max(prefix, least), most))
        try:
            item = self.value(flat.item_places(0)) if most > 0 else None
        except NoBound:
            item = None
        if item is None:
            if least > 0:
                raise NoBound
            return {"type": "array", "items": {"type": "null"}, "minItems": 0, "maxItems": 0}
        # Nothing keeps a model from repeating itself.
        most = max(least, 1) if flat.unique else max(least, min(most, self._bounds.items))
        least = max(least, min(most, self._bounds.least_items))
        form: JsonObject = {"type": "array", "items": item, "minItems": least, "maxItems": most}
        return {**form, "uniqueItems": True} if flat.unique else form

    def _tuple(self, flat: Flat, least: int, count: float) -> JsonObject:
        items: list[JsonObject] = []
        while len(items) < count:
            try:
                items.append(self.value(flat.item_places(len(items))))
            except NoBound:
                break
        if len(items) < least:
            raise NoBound
        if not items:
            return {"type": "array", "items": {"type": "null"}, "minItems": 0, "maxItems": 0}
        form: JsonObject = {"type": "array", "prefixItems": items}
        form |= {"minItems": len(items), "maxItems": len(items)}
        return {**form, "uniqueItems": True} if flat.unique else form

    def _string(self, flat: Flat) -> JsonObject:
        least = flat.numbers.get("minLength", 0)
        most = flat.numbers.get("maxLength", max(self._bounds.text, least))
        if least > most:
            raise NoBound
        limits = {"minLength": max(least, min(most, 1)), "maxLength": most}
        if (flat.patterns or flat.formats) and flat.numbers.keys() & limits.keys():
            # A grammar follows the pattern or counts letters, not both.
            flat.exact = False
        if not flat.patterns:
            return {"type": "string", **self._free_text(flat, limits)}
        pattern = bounded_pattern(flat.patterns[0], most)
        if pattern is None or len(flat.patterns) > 1:
            flat.exact = False
        if pattern is None:
            return {"type": "string", **limits}
        own = {name: size for name, size in limits.items() if name in flat.numbers}
        return {"type": "string", "pattern": pattern, **own}

    def _free_text(self, flat: Flat, limits: dict[str, int]) -> JsonObject:
        for name in flat.formats:
            if name in _FORMATS_OF_GRAMMARS:
                return {"format": name, **limits}
            if name in _FORMAT_PATTERNS:
                return {"format": name, "pattern": _FORMAT_PATTERNS[name], **limits}
        if "maxLength" not in flat.numbers or limits["maxLength"] > self._bounds.text:
            limits = {**limits, "maxLength": max(limits["minLength"], self._bounds.text)}
        if self._bounds.prose:
            pattern = prose_pattern(limits["minLength"], limits["maxLength"])
            if pattern is not None:
                return {"pattern": pattern, **limits}
        return limits

    def _integer(self, flat: Flat) -> JsonObject:
        low, high = _integer_range(flat)
        count = self._bounds.count
        if flat.multiples:
            return self._multiples(flat, low, high)
        if count is not None:
            if low is None and high is None:
                low = 0
            if low is None and high is not None:
                low = high - count
            if high is None and low is not None:
                high = low + count
        if low is not None and high is not None and low > high:
            raise NoBound
        form: JsonObject = {"type": "integer"}
        if low is not None:
            form["minimum"] = low
        if high is not None:
            form["maximum"] = high
        return form

    def _multiples(self, flat: Flat, low: int | None, high: int | None) -> JsonObject:
        step = max(flat.multiples)
        start = 0.0 if low is None else math.ceil(low / step) * step
        if low is None and high is not None:
            start = min(start, math.floor(high / step) * step - _STEPS * step)
        candidates = [start + index * step for index in range(_STEPS + 1)]
        whole = [int(value) if value == int(value) else value for value in candidates]
        return {"enum": self._fitting(flat, whole)}

    def _number(self, flat: Flat) -> JsonObject:
        low = _first(flat.numbers, "minimum", "exclusiveMinimum")
        high = _first(flat.numbers, "maximum", "exclusiveMaximum")
        if flat.multiples:
            return self._multiples(flat, *_integer_range(flat))
        if low is not None and high is not None:
            # A grammar knows no limits of fractions, but it can choose from a list.
            values = [
                _plain(round(low + (high - low) * step / _STEPS, 9)) for step in range(_STEPS + 1)
            ]
            return {"enum": self._fitting(flat, list(dict.fromkeys(values)))}
        if low is None and high is None and not self._bounds.prose:
            return {"type": "number"}
        return self._integer(flat)

    def _fitting(self, flat: Flat, values: list[Any]) -> list[Any]:
        """Those of the values that fit the schema."""
        import jsonschema_rs

        try:
            validator = jsonschema_rs.validator_for(self._closed(flat))
        except (ValueError, jsonschema_rs.ValidationError) as error:
            raise NoBound from error
        fitting = [value for value in values if validator.is_valid(value)]
        if not fitting:
            raise NoBound
        return fitting

    def _closed(self, flat: Flat) -> JsonObject:
        parts = [self._flattener.closed(place) for place in flat.sources]
        return parts[0] if len(parts) == 1 and isinstance(parts[0], dict) else {"allOf": parts}


def _kinds(flat: Flat) -> list[str]:
    """The types that a value may have, the one to be tried first in front."""
    if flat.types is not None:
        found = [kind for kind in ALL_TYPES if kind in flat.types]
        return [kind for kind in found if kind != "integer" or "number" not in found]
    if flat.objects or flat.required:
        return ["object", "string"]
    if flat.arrays:
        return ["array", "string"]
    numeric = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    if flat.multiples or flat.numbers.keys() & numeric:
        return ["number", "string"]
    return ["string", "boolean", "null"]


def _with_dependents(flat: Flat, start: list[str] | None = None) -> list[str]:
    """The names that must be there, with those that they need."""
    names = list(flat.required if start is None else start)
    for name in names:
        for needs in flat.needs:
            names += [needed for needed in needs.get(name, ()) if needed not in names]
    order = {name: index for index, name in enumerate(flat.declared())}
    return sorted(names, key=lambda name: order.get(name, len(order)))


def _integer_range(flat: Flat) -> tuple[int | None, int | None]:
    numbers = flat.numbers
    lows = [math.ceil(numbers["minimum"])] if "minimum" in numbers else []
    if "exclusiveMinimum" in numbers:
        lows.append(math.floor(numbers["exclusiveMinimum"]) + 1)
    highs = [math.floor(numbers["maximum"])] if "maximum" in numbers else []
    if "exclusiveMaximum" in numbers:
        highs.append(math.ceil(numbers["exclusiveMaximum"]) - 1)
    return max(lows, default=None), min(highs, default=None)


def _first(numbers: dict[str, Any], *names: str) -> Any:
    return next((numbers[name] for name in names if name in numbers), None)


def _plain(value: float) -> float | int:
    return int(value) if value == int(value) else value
