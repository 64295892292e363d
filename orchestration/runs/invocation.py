"""One model call of a node: streamed into the run's events, its handoff stored, timed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from engine.run.markup import strip_tool_markup
from engine.vocabulary.effects import AsideText, CallModel
from engine.vocabulary.errors import CallFailure, ModelCallError, failure_text
from engine.vocabulary.events import (
    AiInvokeFailed,
    ChatMessage,
    ChatMessageDelta,
    NodeStarted,
    PhaseTimed,
    RunEvent,
)
from engine.vocabulary.messages import Completed, ReasoningPart, TurnOutcome, Usage
from engine.vocabulary.ports import AiPort
from engine.vocabulary.requests import AgentRequest
from orchestration.runs.handoffs import HandoffStore

_Reply = TypeVar("_Reply", bound=TurnOutcome | CallFailure)
Emit = Callable[[RunEvent], None]
Price = Callable[[str | None, str, Usage], float | None]
"""What a call cost by provider, model and tokens in US dollars; `None` where it is unknown."""

PutAside = Callable[[str, tuple[AsideText, ...]], Awaitable[None]]


class StreamRelay(Struct, eq=False):
    """The `StreamSink` of one call: pieces of text become events with the ids of this call."""

    emit: Emit
    node_id: str
    call: int
    has_begun: bool = False
    texts: list[str] | None = None
    text_id: str = ""
    thinking_id: str = ""

    def text(self, delta: str) -> None:
        """A piece of the assistant's text."""
        if self.texts is None:
            self.has_begun, self.texts = True, []
            self.text_id = f"{self.node_id}/{self.call}/text"
        self.texts.append(delta)
        self.emit(ChatMessageDelta(self.node_id, self.text_id, "assistant", delta))

    def thinking(self, delta: str) -> None:
        """A piece of reasoning that may be shown."""
        if not self.thinking_id:
            self.has_begun = True
            self.thinking_id = f"{self.node_id}/{self.call}/thinking"
        self.emit(ChatMessageDelta(self.node_id, self.thinking_id, "thinking", delta))

    def event(self, event: RunEvent) -> None:
        """Something that the call tells about itself."""
        self.emit(event)

    def close(self) -> None:
        """Complete the messages that were begun."""
        if self.thinking_id:
            self.emit(ChatMessageDelta(self.node_id, self.thinking_id, "thinking", "", True))
        if self.texts is not None:
            self.emit(ChatMessageDelta(self.node_id, self.text_id, "assistant", "", True))

    def tell_rest(self, message: str | None, reasoning: tuple[ReasoningPart, ...]) -> None:
        """Tell what the reply holds and the stream did not show."""
        if reasoning and not self.thinking_id:
            shown = "\n\n".join(part.text for part in reasoning if part.kind != "opaque")
            if shown.strip():
                self.emit(ChatMessage(self.node_id, "thinking", shown))
        rest = message if self.texts is None else self._unseen(message)
        if rest is not None and rest.strip():
            self.emit(ChatMessage(self.node_id, "assistant", rest))

    def _unseen(self, message: str | None) -> str | None:
        seen = strip_tool_markup("".join(self.texts or ())) or ""
        if message is None or not message.strip().startswith(seen):
            return message
        return message.strip()[len(seen) :].lstrip()


class ModelInvocation:
    """Makes the model calls of one run; `put_aside` keeps what their requests leave out."""

    __slots__ = (
        "_context_window",
        "_emit",
        "_handoffs",
        "_port",
        "_price",
        "_put_aside",
        "_started",
    )

    def __init__(
        self,
        port: AiPort,
        *,
        emit: Emit,
        handoffs: HandoffStore,
        put_aside: PutAside | None = None,
        context_window: Callable[[str], int | None] | None = None,
        price: Price | None = None,
    ) -> None:
        self._port = port
        self._emit = emit
        self._handoffs = handoffs
        self._put_aside = put_aside
        self._context_window = context_window
        self._price = price
        self._started: dict[str, int] = {}

    def context_window(self, model: str) -> int | None:
        """How many tokens a model can take in, where that is known."""
        return None if self._context_window is None else self._context_window(model)

    async def call(self, effect: CallModel) -> TurnOutcome | CallFailure:
        """Make the call and tell all there is to tell; a failure is a value, not an exception.

        Cancelling completes the messages that were begun and ends the call on the wire.
        """
        request = effect.request
        node_id, label, emit = request.node_id, request.node_label, self._emit
        if self._started.get(node_id) != request.model_attempt:
            self._started[node_id] = request.model_attempt
            emit(NodeStarted(node_id, label))
        if effect.put_aside and self._put_aside is not None:
            await self._keep_aside(effect, self._put_aside)
        relay = StreamRelay(emit, node_id, effect.call)
        began = perf_counter()
        reply: TurnOutcome
        try:
            reply = await self._port.invoke(self._handoffs.with_inline_documents(request), relay)
            if type(reply) is Completed:
                reply, writing = self._handoffs.accept(request, reply)
                if writing is not None:
                    await writing
        except ModelCallError as error:
            emit(PhaseTimed("ai_invoke", label, _since_ms(began), node_id))
            emit(AiInvokeFailed(node_id, label, failure_text(error.failure)))
            return self._priced(request, error.failure)
        finally:
            if relay.has_begun:
                relay.close()
        emit(PhaseTimed("ai_invoke", label, _since_ms(began), node_id))
        if reply.assistant_message is not None or reply.reasoning:
            relay.tell_rest(reply.assistant_message, reply.reasoning)
        return self._priced(request, reply)

    def _priced(self, request: AgentRequest, reply: _Reply) -> _Reply:
        """The reply with what it cost, where that is known."""
        if self._price is None:
            return reply
        usage = getattr(reply, "usage", None)
        if usage is None:
            return reply
        cost = self._price(request.provider_id, request.model, usage)
        if cost is None:
            return reply
        return replace(reply, usage=replace(usage, cost=cost))

    async def _keep_aside(self, effect: CallModel, put_aside: PutAside) -> None:
        """Put aside what the request names; if it cannot be, the model goes on without it."""
        try:
            await put_aside(effect.node_id, effect.put_aside)
        except OSError as error:
            why = error.strerror or str(error)
            text = (
                "Old results of tools were left out of the conversation, because it is too long, "
                f"and could not be put aside for the model ({why})"
            )
            self._emit(ChatMessage(effect.node_id, "system", text))


def _since_ms(began: float) -> int:
    return int((perf_counter() - began) * 1000)
