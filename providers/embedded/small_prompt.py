"""Requests made short: a small model repeats whatever it is told about how to work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from engine.vocabulary.messages import ModelTurn
from engine.vocabulary.ports import ModelPort, StreamSink
from engine.vocabulary.requests import AgentRequest

IsPreamble = Callable[[str], bool]
"""Whether a system message is the program's own rather than the workflow's."""

_LONGEST_INPUT = 8000
_CUT = "\n[The rest is left out.]"


def no_preamble(_: str) -> bool:
    """For requests in which every system message is the workflow's own."""
    return False


class SmallPromptPort:
    """Passes requests on without the program's own instructions and with their input as text.

    Args:
        port: where requests go.
        is_preamble: tells which system messages to leave out.
    """

    def __init__(self, port: ModelPort, is_preamble: IsPreamble) -> None:
        self._port = port
        self._is_preamble = is_preamble

    async def invoke(self, request: AgentRequest, sink: StreamSink | None = None) -> ModelTurn:
        """Make the call with less in it; see `ModelPort.invoke`."""
        return await self._port.invoke(shortened(request, self._is_preamble), sink)


def shortened(request: AgentRequest, is_preamble: IsPreamble) -> AgentRequest:
    """The request as a small model understands it best."""
    return replace(
        request,
        system_messages=tuple(text for text in request.system_messages if not is_preamble(text)),
        input=input_text(request.input),
    )


def input_text(value: Any) -> str:
    """A node's input as plain text, cut where it is longer than such a model can read."""
    text = "\n\n".join(_parts(value)) if isinstance(value, dict) else _plain(value)
    return text if len(text) <= _LONGEST_INPUT else text[:_LONGEST_INPUT].rstrip() + _CUT


def _parts(value: dict[str, Any]) -> Iterator[str]:
    for name, part in value.items():
        if name == "upstream" and _are_outputs(part):
            for entry in part:
                output = _plain(entry["output"])
                yield output if len(part) == 1 else f"{_words(entry['node_id'])}:\n{output}"
        elif name == "entrypoint" and isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]
        else:
            yield f"{_words(name)}:\n{_plain(part)}"


def _are_outputs(upstream: Any) -> bool:
    return isinstance(upstream, list) and all(
        isinstance(entry, dict) and isinstance(entry.get("node_id"), str) and "output" in entry
        for entry in upstream
    )


def _plain(value: Any, indent: str = "") -> str:
    """Keys and dashes in place of brackets and quotes."""
    if isinstance(value, dict):
        return "\n".join(
            _entry(f"{indent}{_words(key)}:", part, indent) for key, part in value.items()
        )
    if isinstance(value, list):
        return "\n".join(_entry(f"{indent}-", part, indent) for part in value)
    return "" if value is None else str(value)


def _entry(head: str, value: Any, indent: str) -> str:
    if isinstance(value, dict | list):
        return f"{head}\n{_plain(value, indent + '  ')}" if value else head
    return f"{head} {_plain(value)}".rstrip()


def _words(name: str) -> str:
    return name.replace("_", " ")
