"""Transcripts: the append-only conversation of one node, and what a person is asked in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from msgspec import Struct

from engine.vocabulary.tools import JsonObject, ToolCall, ToolResult


class Attachment(Struct, frozen=True, gc=False, omit_defaults=True):
    """A file given along with a text. `size` is in bytes; the bytes themselves stay outside."""

    id: str
    name: str
    mime_type: str
    size: int
    sha256: str


class ReasoningPart(Struct, frozen=True, gc=False, omit_defaults=True):
    """One piece of a model's reasoning.

    `kind` is `text` or `summary` (may be shown) or `opaque`. An opaque part holds the provider's
    own object in `data`; it goes back unchanged to the provider named by `provider_id` and to
    nobody else.
    """

    kind: str
    text: str = ""
    provider_id: str = ""
    data: JsonObject | None = None


class AssistantMessage(Struct, frozen=True, gc=False, tag="assistant_message"):
    """Text that the model said."""

    content: str


class UserMessage(Struct, frozen=True, gc=False, tag="user_message", omit_defaults=True):
    """Text that a person, or the engine in the person's place, said to the model."""

    content: str
    attachments: tuple[Attachment, ...] = ()


class Reasoning(Struct, frozen=True, gc=False, tag="reasoning"):
    """What the model thought before the items that follow."""

    parts: tuple[ReasoningPart, ...]


class CallItem(Struct, frozen=True, gc=False, tag="tool_call"):
    """A call that the model made."""

    call: ToolCall


class ResultItem(Struct, frozen=True, gc=False, tag="tool_result"):
    """The result of an earlier call."""

    result: ToolResult


TranscriptItem = AssistantMessage | UserMessage | Reasoning | CallItem | ResultItem


class TranscriptView(Sequence[TranscriptItem]):
    """The first `length` items of a transcript that only ever grows.

    Taking one costs the same at any length, and it does not change when the node goes on.
    """

    __slots__ = ("_items", "_length")

    def __init__(self, items: list[TranscriptItem] | None = None) -> None:
        self._items = [] if items is None else items
        self._length = len(self._items)

    @overload
    def __getitem__(self, index: int) -> TranscriptItem: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TranscriptItem]: ...
    def __getitem__(self, index: int | slice) -> TranscriptItem | Sequence[TranscriptItem]:
        if isinstance(index, slice):
            return [self._items[i] for i in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._items[index if index >= 0 else self._length + index]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[TranscriptItem]:
        for index in range(self._length):
            yield self._items[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash((id(self._items), self._length))

    def __repr__(self) -> str:
        return f"TranscriptView({list(self)!r})"


class QuestionOption(Struct, frozen=True, gc=False):
    """One choice of a structured question."""

    label: str
    description: str


class Question(Struct, frozen=True, gc=False):
    """One structured question; `header` is a short tag for it."""

    id: str
    header: str
    question: str
    options: tuple[QuestionOption, ...]


class StructuredInput(Struct, frozen=True, gc=False):
    """One to three questions that are asked together."""

    questions: tuple[Question, ...]


class Usage(Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens of one model call, and what they cost in US dollars.

    `prompt_tokens` counts everything that was sent, cached tokens included. A field is `None`
    where the provider did not say: unknown is not zero.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cost: float | None = None


class HandoffArtifact(Struct, frozen=True, gc=False):
    """Where a node's handoff document is kept and what it is."""

    format: str
    uri: str
    media_type: str
    sha256: str
    size_bytes: int


class WireCall(Struct, frozen=True, gc=False):
    """A call as a provider adapter read it off the wire.

    `arguments` is the decoded object, or `None` where the text is not a JSON object even after
    the repairs that are allowed; then `raw_arguments` holds the text (at most 64 KiB of it) and
    `arguments_error` says what is wrong with it. `repairs` names the repairs that were made.
    """

    name: str
    arguments: JsonObject | None
    provider_call_id: str | None = None
    raw_arguments: str = ""
    arguments_error: str | None = None
    repairs: tuple[str, ...] = ()

    def __repr__(self) -> str:
        size = len(self.raw_arguments.encode("utf-8", "surrogatepass"))
        return f"WireCall(name={self.name!r}, arguments=<{size} bytes>)"


class ModelTurn(Struct, frozen=True, gc=False):
    """One finished reply of a model, provider differences removed, nothing judged yet.

    `finish_reason` is `stop`, `tool_calls`, `length`, `content_filter` or the wire's own word.
    `truncated` is true where the reply was cut off whatever the finish reason says.
    """

    text: str = ""
    calls: tuple[WireCall, ...] = ()
    reasoning: tuple[ReasoningPart, ...] = ()
    usage: Usage | None = None
    finish_reason: str = "stop"
    truncated: bool = False


class Completed(Struct, frozen=True, gc=False, tag="completed"):
    """The node submitted an output that fits its schema; `repairs` is that of its call."""

    output: Any
    assistant_message: str | None = None
    reasoning: tuple[ReasoningPart, ...] = ()
    usage: Usage | None = None
    handoff: HandoffArtifact | None = None
    repairs: tuple[str, ...] = ()


class ToolCallsTurn(Struct, frozen=True, gc=False, tag="tool_calls"):
    """The node called executable tools and nothing else."""

    calls: tuple[ToolCall, ...]
    assistant_message: str | None = None
    reasoning: tuple[ReasoningPart, ...] = ()
    usage: Usage | None = None


class InputRequest(Struct, frozen=True, gc=False, tag="input_request"):
    """The node asked the person something; not yet checked against the rules for questions."""

    assistant_message: str = ""
    structured_input: StructuredInput | None = None
    reasoning: tuple[ReasoningPart, ...] = ()
    usage: Usage | None = None
    repairs: tuple[str, ...] = ()


class MessageTurn(Struct, frozen=True, gc=False, tag="message"):
    """The node said something and called nothing."""

    assistant_message: str
    reasoning: tuple[ReasoningPart, ...] = ()
    usage: Usage | None = None


TurnOutcome = Completed | ToolCallsTurn | InputRequest | MessageTurn
