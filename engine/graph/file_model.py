"""What all parts of a workflow file have in common: they remember how they were written.

Each key is read in both spellings, `camelCase` and `snake_case`; where both stand, the camelCase
one counts. A model that was read from a file keeps the object that it was read from, so that keys
nobody knows, the order of keys and the way values are written survive an edit.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self, get_args, get_origin

from pydantic import (
    AliasChoices,
    AliasGenerator,
    BaseModel,
    ConfigDict,
)
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from engine.vocabulary.tools import JsonObject

_NO_FIELDS: set[str] = set()
_NOTHING: frozenset[str] = frozenset()


def _both_spellings(field: str) -> str | AliasChoices:
    camel = to_camel(field)
    return field if camel == field else AliasChoices(camel, field)


class FileModel(BaseModel):
    """Base of the parts of a workflow file: frozen, and checked when made or copied.

    Equality means equal fields and equal unknown keys; spelling and order do not count.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_by_name=True,
        validate_by_alias=True,
        alias_generator=AliasGenerator(validation_alias=_both_spellings),
    )

    skipped_when_default: ClassVar[frozenset[str]] = frozenset()
    """Fields that a newly written object leaves out while they have their defaults."""

    remembered: ClassVar[tuple[str, ...]] = ("_origin",)
    """What a changed copy takes over besides the fields; see `_remember`."""

    def model_post_init(self, context: Any, /) -> None:
        """Drop the record of which fields were given: a kilobyte a node that nobody asks for."""
        object.__setattr__(self, "__pydantic_fields_set__", _NO_FIELDS)

    def _remember(self, name: str, value: Any) -> None:
        # Beside the fields, as `cached_property` does it: a private attribute of pydantic costs
        # a dictionary for each model and is fifty times slower to read.
        self.__dict__[name] = value

    @classmethod
    def from_document(cls, document: JsonObject) -> Self:
        """Read a decoded JSON object; it is kept, and must not be changed afterwards.

        Raises:
            pydantic.ValidationError: listing everything that does not fit.
        """
        model = cls.model_validate(
            cls.readable(document), extra="ignore", by_alias=True, by_name=False
        )
        model.remember(document)
        return model

    @classmethod
    def readable(cls, document: JsonObject) -> JsonObject:
        """The part of a document that has to fit the model."""
        return document

    def remember(self, document: JsonObject) -> None:
        """Keep `document` as what this model and its parts were read from."""
        self._remember("_origin", document)
        for key in keys_of(type(self)):
            if not key.nested:
                continue
            raw = next((document[name] for name in key.spellings if name in document), None)
            value = getattr(self, key.field)
            if isinstance(value, FileModel) and isinstance(raw, dict):
                value.remember(raw)
            elif isinstance(value, tuple) and isinstance(raw, list):
                for part, raw_part in zip(value, raw, strict=True):
                    part.remember(raw_part)

    @property
    def origin(self) -> JsonObject | None:
        """The object that this was read from, edits since then not included."""
        return self.__dict__.get("_origin")

    @property
    def edited(self) -> frozenset[str]:
        """The fields that were replaced since this was read."""
        edited: frozenset[str] = self.__dict__.get("_edited", _NOTHING)
        return edited

    @property
    def unknown_keys(self) -> JsonObject:
        """What the file says in this place under keys that this program does not know."""
        origin = self.origin
        if not origin:
            return {}
        known = known_spellings(type(self))
        return {key: value for key, value in origin.items() if key not in known}

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with the fields of `update` replaced, checked like a new one.

        The copy still knows the file that the original was read from.

        Raises:
            pydantic.ValidationError: if a replaced field does not fit.
        """
        changes = dict(update or {})
        values = self._fields()
        copied = type(self).model_validate(
            {**(copy.deepcopy(values) if deep else values), **changes},
            by_alias=False,
            by_name=True,
        )
        for name in self.remembered:
            if name in self.__dict__:
                copied._remember(name, self.__dict__[name])
        copied._remember("_edited", self.edited.union(changes))
        return copied

    def _fields(self) -> dict[str, Any]:
        values = self.__dict__
        return {key.field: values[key.field] for key in keys_of(type(self))}

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, FileModel) or type(self) is not type(other):
            return NotImplemented
        return self._fields() == other._fields() and self.unknown_keys == other.unknown_keys

    def __hash__(self) -> int:
        return hash((type(self), *self._fields().values()))


class Key(NamedTuple):
    """How a field is called in a file: as it is written, and as it may be read.

    A nested field has models inside; one that holds parts is a tuple of them.
    """

    field: str
    written: str
    spellings: tuple[str, ...]
    nested: bool
    holds_parts: bool
    info: FieldInfo


@cache
def keys_of(model: type[FileModel]) -> tuple[Key, ...]:
    """The keys of a model in the order in which they are written."""
    return tuple(_key(field, info) for field, info in model.model_fields.items())


@cache
def known_spellings(model: type[FileModel]) -> frozenset[str]:
    """Every name under which a key of the model may be read."""
    return frozenset(name for key in keys_of(model) for name in key.spellings)


def _key(field: str, info: FieldInfo) -> Key:
    alias = info.validation_alias
    names = alias.choices if isinstance(alias, AliasChoices) else [alias]
    spellings = tuple(dict.fromkeys(name for name in names if isinstance(name, str)))
    return Key(
        field=field,
        written=info.serialization_alias or field,
        spellings=spellings,
        nested=_mentions_model(info.annotation),
        holds_parts=get_origin(info.annotation) is tuple and _mentions_model(info.annotation),
        info=info,
    )


def _mentions_model(annotation: Any) -> bool:
    if isinstance(annotation, type):
        return issubclass(annotation, FileModel) or any(map(_mentions_model, get_args(annotation)))
    return any(map(_mentions_model, get_args(annotation)))
