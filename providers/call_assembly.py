"""The calls of one reply, put together from the pieces in which they arrive."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from engine.vocabulary.messages import WireCall
from engine.vocabulary.tools import HARNESS_TOOLS, JsonObject
from providers.arguments import Decoded, capped, decode_arguments
from providers.lenient_json import parse
from providers.surrogates import rejoined

NAMELESS = "unnamed_tool"


class CallSlot:
    """One call under construction."""

    __slots__ = ("_arguments", "_names", "_object", "call_id", "extra")

    def __init__(self, call_id: str | None = None) -> None:
        self.call_id = call_id
        self.extra: JsonObject | None = None
        self._names: list[str] = []
        self._arguments: list[str] = []
        self._object: Any = None

    def add_name(self, name: str) -> None:
        """Take a piece of the name, or the name once more."""
        self._names.append(name)

    def add_arguments(self, piece: Any) -> None:
        """Take a piece of the argument text, or arguments that are decoded already."""
        if isinstance(piece, str):
            self._arguments.append(piece)
        elif piece is not None:
            self._object = piece

    def set_arguments(self, text: str) -> None:
        """Replace what was collected by the whole text."""
        self._arguments = [text]

    @property
    def raw(self) -> str:
        """The argument text as far as it has come."""
        if self._object is not None:
            return json.dumps(self._object)
        return rejoined("".join(self._arguments))

    @property
    def is_whole(self) -> bool:
        """Whether the arguments so far are a complete object."""
        if self._object is not None:
            return True
        if not self._arguments or not self._arguments[-1].rstrip().endswith("}"):
            return False
        try:
            return isinstance(parse("".join(self._arguments)), dict)
        except ValueError:
            return False

    @property
    def has_arguments(self) -> bool:
        """Whether any arguments have come."""
        return self._object is not None or any(self._arguments)

    def name(self, offered: Collection[str]) -> str:
        """The name, which may have come in pieces, once with every piece, or growing."""
        joined = "".join(self._names)
        if joined in offered:
            return joined
        name = ""
        for piece in self._names:
            name = piece if piece.startswith(name) else name + piece
        return name

    def decoded(self, name: str) -> Decoded:
        """The arguments; a harness tool's may be wrapped in a fence."""
        raw = self._object if self._object is not None else self.raw
        harness = any(tool in name for tool in HARNESS_TOOLS)
        return decode_arguments(raw, unwrap_fences=harness)


class CallAssembly:
    """All calls of one reply in the order in which they began."""

    def __init__(self) -> None:
        self._slots: list[CallSlot] = []
        self._by_key: dict[Any, CallSlot] = {}
        self._by_id: dict[str, CallSlot] = {}

    def __bool__(self) -> bool:
        return bool(self._slots)

    def __iter__(self) -> Iterator[CallSlot]:
        return iter(self._slots)

    def knows(self, key: Any) -> bool:
        """Whether a slot has been opened under this key."""
        return key in self._by_key

    def at(self, key: Any, call_id: str | None = None) -> CallSlot:
        """The slot that a wire names by a key of its own; opened if it is new."""
        slot = self._by_key.get(key)
        if slot is None:
            slot = self._by_key[key] = self._open(call_id)
        return slot

    def add(
        self, index: int | None, call_id: str | None, name: str | None, arguments: Any
    ) -> CallSlot:
        """Take a piece of a call as Chat Completions deliver it.

        Servers leave out the index, start it at one, use the same for all calls, repeat id and
        name with every piece, or give neither; a piece that names nothing continues the last call.
        """
        slot = self._slot_for(index, call_id, name, arguments)
        if name:
            slot.add_name(name)
        slot.add_arguments(arguments)
        return slot

    def names(self, offered: Collection[str]) -> tuple[str, ...]:
        """The names of all calls, complete or not."""
        return tuple(slot.name(offered) or NAMELESS for slot in self._slots)

    def wire_calls(self, offered: Collection[str]) -> tuple[list[WireCall], bool]:
        """The calls, and whether one of them was cut off."""
        calls: list[WireCall] = []
        cut_off = False
        for slot in self._slots:
            name = slot.name(offered) or NAMELESS
            decoded = slot.decoded(name)
            cut_off = cut_off or decoded.unterminated
            if not decoded.objects:
                calls.append(
                    WireCall(
                        name,
                        None,
                        slot.call_id,
                        raw_arguments=capped(slot.raw),
                        arguments_error=decoded.problem,
                    )
                )
            for position, arguments in enumerate(decoded.objects):
                call_id = slot.call_id if position == 0 else None
                calls.append(WireCall(name, arguments, call_id, repairs=decoded.repairs))
        return calls, cut_off

    def _open(self, call_id: str | None) -> CallSlot:
        slot = CallSlot(call_id)
        self._slots.append(slot)
        if call_id:
            self._by_id[call_id] = slot
        return slot

    def _slot_for(
        self, index: int | None, call_id: str | None, name: str | None, arguments: Any
    ) -> CallSlot:
        if call_id and call_id in self._by_id:
            return self._by_id[call_id]
        current = self._by_key.get(index) if index is not None else None
        says_nothing_new = index is None or not (call_id or name)
        if current is None and says_nothing_new and self._slots:
            current = self._slots[-1]
        if current is None or self._begins_another(current, call_id, name, arguments):
            current = self._open(call_id)
            if index is not None:
                self._by_key[index] = current
        elif call_id and not current.call_id:
            current.call_id = call_id
            self._by_id[call_id] = current
        return current

    @staticmethod
    def _begins_another(
        current: CallSlot, call_id: str | None, name: str | None, arguments: Any
    ) -> bool:
        if not name:
            return False
        if call_id and current.call_id:
            return True
        return bool(arguments) and current.is_whole
