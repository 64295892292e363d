"""The calls of one reply, put together from the pieces in which they arrive."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from engine.vocabulary.messages import WireCall
from engine.vocabulary.tools import HARNESS_TOOLS, JsonObject, ToolDefinition, ToolTier
from providers.arguments import Decoded, Latitude, capped, decode_arguments
from providers.lenient_json import parse
from providers.surrogates import rejoined

NAMELESS = "unnamed_tool"

_LONGEST_NAME = 256
_MOST_ATTEMPTS = 64


class CallSlot:
    """One call under construction."""

    __slots__ = ("_attempts", "_names", "_pieces", "call_id", "extra")

    def __init__(self, call_id: str | None = None) -> None:
        self.call_id = call_id
        self.extra: JsonObject | None = None
        self._names: list[str] = []
        self._pieces: list[Any] = []
        self._attempts = 0

    def add_name(self, name: str) -> None:
        """Take a piece of the name, or the name once more."""
        self._names.append(name)

    def add_arguments(self, piece: Any) -> None:
        """Take a piece of the argument text, or arguments that are decoded already."""
        if piece is not None and piece != "":
            self._pieces.append(piece)

    def set_arguments(self, text: str) -> None:
        """Replace what was collected by the whole text."""
        self._pieces = [text]

    @property
    def raw(self) -> str:
        """The argument text as far as it has come; decoded pieces as text in their place."""
        return rejoined("".join([p if isinstance(p, str) else json.dumps(p) for p in self._pieces]))

    @property
    def is_whole(self) -> bool:
        """Whether the arguments so far are a complete object.

        Gives up on a call that has looked like one again and again and was none: objects that end
        up in one slot are told apart when they are decoded.
        """
        last = self._pieces[-1] if self._pieces else ""
        if not isinstance(last, str):
            return len(self._pieces) == 1
        if not last.rstrip().endswith("}") or self._attempts >= _MOST_ATTEMPTS:
            return False
        self._attempts += 1
        try:
            return isinstance(parse(self.raw), dict)
        except (ValueError, RecursionError):
            return False

    @property
    def has_name(self) -> bool:
        """Whether any of the name has come."""
        return any(self._names)

    @property
    def size(self) -> int:
        """Characters of the arguments so far; decoded pieces count for nothing."""
        return sum(len(piece) for piece in self._pieces if isinstance(piece, str))

    @property
    def has_arguments(self) -> bool:
        """Whether any arguments have come."""
        return bool(self._pieces)

    def name(self, offered: Collection[str]) -> str:
        """The name, which may have come in pieces, once with every piece, or growing.

        Empty where it can be read in two ways that both name a tool.
        """
        joined = "".join(self._names)
        name = ""
        for piece in self._names:
            name = piece if piece.startswith(name) else name + piece
            if len(name) > _LONGEST_NAME:
                break
        if joined in offered:
            return joined if name == joined or name not in offered else ""
        return name[:_LONGEST_NAME]

    def shown(self) -> str:
        """The argument text for those who repair it, cut where it is too long to be kept."""
        try:
            return capped(self.raw)
        except RecursionError:
            return ""

    def decoded(self, latitude: Latitude) -> Decoded:
        """The arguments, as far from JSON as they may be."""
        if len(self._pieces) == 1:
            piece = self._pieces[0]
            return decode_arguments(rejoined(piece) if isinstance(piece, str) else piece, latitude)
        try:
            return decode_arguments(self.raw, latitude)
        except RecursionError:
            return Decoded(problem="the arguments are nested too deeply")


def latitude_for(name: str, tools: Iterable[ToolDefinition]) -> Latitude:
    """How far from JSON the arguments of a call may be: a call that changes things, hardly."""
    if any(harness in name for harness in HARNESS_TOOLS):
        return Latitude.CHECKED
    for tool in tools:
        if tool.name == name and tool.tier is ToolTier.READ:
            return Latitude.NOTATION
    return Latitude.ENCODING


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

    def opened(self) -> CallSlot:
        """A new slot, for a wire that finds its slots by itself."""
        return self._open(None)

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
        name with every piece, make up a new id for each, or give neither; a piece that names
        nothing continues the last call.
        """
        slot = self._slot_for(index, call_id, name, arguments)
        if name:
            slot.add_name(name)
        slot.add_arguments(arguments)
        return slot

    def names(self, offered: Collection[str]) -> tuple[str, ...]:
        """The names of all calls, complete or not."""
        return tuple(slot.name(offered) or NAMELESS for slot in self._slots)

    def wire_calls(
        self, offered: Collection[str], tools: Sequence[ToolDefinition]
    ) -> tuple[list[WireCall], bool]:
        """The calls, and whether one of them was cut off.

        Args:
            offered: the names of all tools that were offered.
            tools: the executable ones among them.
        """
        calls: list[WireCall] = []
        cut_off = False
        for slot in self._slots:
            name = slot.name(offered) or NAMELESS
            decoded = slot.decoded(latitude_for(name, tools))
            cut_off = cut_off or decoded.unterminated
            if not decoded.objects:
                calls.append(
                    WireCall(
                        name,
                        None,
                        slot.call_id,
                        raw_arguments=slot.shown(),
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
        if current is None or _begins_another(current, index, call_id, name, arguments):
            current = self._open(call_id)
            if index is not None:
                self._by_key[index] = current
        elif call_id and not current.call_id:
            current.call_id = call_id
            self._by_id[call_id] = current
        return current


def _begins_another(
    current: CallSlot, index: int | None, call_id: str | None, name: str | None, arguments: Any
) -> bool:
    """Whether a piece that may belong to the current call is the first one of another."""
    has_new_id = bool(call_id and current.call_id)
    if not name:
        # Some servers make up a new id for every piece, so an index counts for more.
        return has_new_id and (index is None or (bool(arguments) and current.is_whole))
    if not has_new_id:
        return bool(arguments) and current.is_whole
    goes_on = isinstance(arguments, str) and arguments and not arguments.lstrip().startswith("{")
    return not (goes_on and current.has_arguments and not current.is_whole)
