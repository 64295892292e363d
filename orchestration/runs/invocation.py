"""One model call of a node: streamed into the run's events, its handoff stored, timed."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from engine.run.markup import strip_tool_markup
from engine.vocabulary.effects import CallModel
from engine.vocabulary.errors import CallFailure, ModelCallError, failure_text
from engine.vocabulary.events import (
    AiInvokeFailed,
    ChatMessage,
    ChatMessageDelta,
    NodeStarted,
    PhaseTimed,
    RunEvent,
)
from engine.vocabulary.messages import Completed, ReasoningPart, TurnOutcome
from engine.vocabulary.ports import AiPort
from engine.vocabulary.requests import AgentRequest
from orchestration.runs.handoffs import HandoffStore

Emit = Callable[[RunEvent], None]


class StreamRelay:
    """The `StreamSink` of one call: pieces of text become events with the ids of this call."""

    __slots__ = ("_emit", "_node_id", "_prefix", "_texts", "_thinking")

    def __init__(self, emit: Emit, node_id: str, prefix: str) -> None:
        self._emit = emit
        self._node_id = node_id
        self._prefix = prefix
        self._texts: list[str] | None = None
        self._thinking = False

    def text(self, delta: str) -> None:
        """A piece of the assistant's text."""
        if self._texts is None:
            self._texts = []
        self._texts.append(delta)
        self._emit(ChatMessageDelta(self._node_id, self._prefix + "a", "assistant", delta))

    def thinking(self, delta: str) -> None:
        """A piece of reasoning that may be shown."""
        self._thinking = True
        self._emit(ChatMessageDelta(self._node_id, self._prefix + "t", "thinking", delta))

    def event(self, event: RunEvent) -> None:
        """Something that the call tells about itself."""
        self._emit(event)

    def close(self) -> None:
        """Complete the messages that were begun."""
        if self._thinking:
            self._finalize("t", "thinking")
        if self._texts is not None:
            self._finalize("a", "assistant")

    def tell_rest(self, message: str | None, reasoning: tuple[ReasoningPart, ...]) -> None:
        """Tell what the reply holds and the stream did not show."""
        if reasoning and not self._thinking:
            shown = "\n\n".join(part.text for part in reasoning if part.kind != "opaque")
            if shown.strip():
                self._emit(ChatMessage(self._node_id, "thinking", shown))
        rest = message if self._texts is None else self._unseen(message)
        if rest is not None and rest.strip():
            self._emit(ChatMessage(self._node_id, "assistant", rest))

    def _unseen(self, message: str | None) -> str | None:
        seen = strip_tool_markup("".join(self._texts or ())) or ""
        if message is None or not message.strip().startswith(seen):
            return message
        return message.strip()[len(seen) :].lstrip()

    def _finalize(self, suffix: str, role: str) -> None:
        self._emit(ChatMessageDelta(self._node_id, self._prefix + suffix, role, "", finalize=True))


class ModelInvocation:
    """Makes the model calls of one run."""

    __slots__ = ("_emit", "_handoffs", "_port", "_started")

    def __init__(self, port: AiPort, *, emit: Emit, handoffs: HandoffStore) -> None:
        self._port = port
        self._emit = emit
        self._handoffs = handoffs
        self._started: dict[str, int] = {}

    async def call(self, effect: CallModel) -> TurnOutcome | CallFailure:
        """Make the call and tell all there is to tell; a failure is a value, not an exception.

        Cancelling completes the messages that were begun and ends the call on the wire.
        """
        request = effect.request
        node_id, label, emit = request.node_id, request.node_label, self._emit
        if self._started.get(node_id) != request.model_attempt:
            self._started[node_id] = request.model_attempt
            emit(NodeStarted(node_id, label))
        relay = StreamRelay(emit, node_id, f"{node_id}/{effect.call}/")
        began = perf_counter()
        reply: TurnOutcome
        try:
            reply = await self._port.invoke(self._handoffs.with_inline_documents(request), relay)
            if type(reply) is Completed:
                reply = await self._handoffs.accept(request, reply)
        except ModelCallError as error:
            self._tell_time(request, began)
            emit(AiInvokeFailed(node_id, label, failure_text(error.failure)))
            return error.failure
        finally:
            relay.close()
        self._tell_time(request, began)
        relay.tell_rest(reply.assistant_message, reply.reasoning)
        return reply

    def _tell_time(self, request: AgentRequest, began: float) -> None:
        spent_ms = round((perf_counter() - began) * 1000)
        self._emit(PhaseTimed("ai_invoke", request.node_label, spent_ms, request.node_id))
