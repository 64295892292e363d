"""A model that says what it is told to: for tests, demonstrations and measurements."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from engine.vocabulary.errors import CallFailure, ModelCallError
from engine.vocabulary.messages import ModelTurn
from engine.vocabulary.ports import StreamSink
from engine.vocabulary.requests import AgentRequest

Reply = ModelTurn | CallFailure
Script = Iterable[Reply] | Callable[[AgentRequest], Reply]


class ScriptedAdapter:
    """A model port that plays replies in order, or makes each one from its request.

    Args:
        script: replies, the first for the first request; or a function that gives the reply to a
            request. A failure is raised as a port raises it.
        piece: how many characters of text are streamed at a time.
    """

    def __init__(self, script: Script, *, piece: int = 16) -> None:
        self._function = script if callable(script) else None
        self._replies: deque[Reply] = deque(() if callable(script) else script)
        self._piece = piece
        self.requests: list[AgentRequest] = []

    async def invoke(self, request: AgentRequest, sink: StreamSink | None = None) -> ModelTurn:
        """Play the next reply and stream its reasoning and text.

        Raises:
            ModelCallError: if the reply is a failure.
            LookupError: if the script has come to its end.
        """
        self.requests.append(request)
        reply = self._next(request)
        if not isinstance(reply, ModelTurn):
            raise ModelCallError(reply)
        if sink is not None:
            for part in reply.reasoning:
                if part.kind != "opaque" and part.text:
                    sink.thinking(part.text)
            for start in range(0, len(reply.text), self._piece):
                sink.text(reply.text[start : start + self._piece])
        return reply

    def _next(self, request: AgentRequest) -> Reply:
        if self._function is not None:
            return self._function(request)
        if not self._replies:
            raise LookupError(f"the script has no reply left for node '{request.node_id}'")
        return self._replies.popleft()
