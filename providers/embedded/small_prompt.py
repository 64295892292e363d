"""Requests made short: a small model repeats whatever it is told about how to work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from msgspec.structs import replace

from engine.vocabulary.messages import ModelTurn, WireCall
from engine.vocabulary.ports import ModelPort, StreamSink
from engine.vocabulary.requests import AgentRequest
from providers.embedded.handoff_sections import (
    DOCUMENT,
    Section,
    document,
    sections,
    sections_schema,
)

_LONGEST_INPUT = 8000
_CUT = "\n[The rest is left out.]"
_OUTPUT = "output"


class Preamble(Protocol):
    """Tells the program's own system messages from those of the workflow."""

    def is_ours(self, system_message: str, /) -> bool:
        """Whether it is the program's own."""

    def handoff_template(self, system_message: str, /) -> str | None:
        """The template of the Markdown document that it asks for, if it does."""


class SmallPromptPort:
    """Passes requests on without the program's own instructions and with their input as text.

    A node that has to hand on a Markdown document is asked for its sections.

    Args:
        port: where requests go.
        preamble: without it every system message counts as the workflow's.
    """

    def __init__(self, port: ModelPort, preamble: Preamble | None = None) -> None:
        self._port = port
        self._preamble = preamble

    async def invoke(self, request: AgentRequest, sink: StreamSink | None = None) -> ModelTurn:
        """Make the call with less in it; see `ModelPort.invoke`."""
        parts = self._sections(request)
        short = shortened(request, self._preamble)
        if parts is None:
            return await self._port.invoke(short, sink)
        turn = await self._port.invoke(replace(short, output_schema=sections_schema(parts)), sink)
        return replace(turn, calls=tuple(_with_document(call, parts) for call in turn.calls))

    def _sections(self, request: AgentRequest) -> tuple[Section, ...] | None:
        if self._preamble is None or request.handoff_format != DOCUMENT:
            return None
        for message in request.system_messages:
            template = self._preamble.handoff_template(message)
            if template is not None:
                return sections(template)
        return None


def shortened(request: AgentRequest, preamble: Preamble | None) -> AgentRequest:
    """The request as a small model understands it best."""
    return replace(
        request,
        system_messages=tuple(
            message
            for message in request.system_messages
            if preamble is None or not preamble.is_ours(message)
        ),
        input=input_text(request.input),
    )


def _with_document(call: WireCall, parts: tuple[Section, ...]) -> WireCall:
    output = call.arguments.get(_OUTPUT) if call.arguments is not None else None
    if not isinstance(output, dict):
        return call
    return replace(call, arguments={_OUTPUT: {DOCUMENT: document(parts, output)}})


def input_text(value: Any) -> str:
    """A node's input as plain text, cut where it is longer than such a model can read."""
    text = "\n\n".join(_parts(value)) if isinstance(value, dict) else _plain(value)
    return text if len(text) <= _LONGEST_INPUT else text[:_LONGEST_INPUT].rstrip() + _CUT


def _parts(value: dict[str, Any]) -> Iterator[str]:
    for name, part in value.items():
        if name == "upstream" and _are_outputs(part):
            for entry in part:
                output = _document(entry) or _plain(entry["output"])
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


def _document(entry: dict[str, Any]) -> str | None:
    """The text of a node's document, where it came along because nobody here can open it."""
    handoff = entry.get("handoff")
    content = handoff.get("content") if isinstance(handoff, dict) else None
    return content if isinstance(content, str) else None


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
