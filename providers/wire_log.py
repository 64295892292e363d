"""What goes out and comes back, for the debug log; nothing is put together unless it is wanted."""

from __future__ import annotations

import logging

from engine.vocabulary.messages import ModelTurn
from engine.vocabulary.requests import AgentRequest

logger = logging.getLogger(__name__)

_SHOWN_BYTES = 16_000


def log_request(request: AgentRequest, address: str, content: bytes) -> None:
    """Tell of a request with its body, cut where it is long."""
    if logger.isEnabledFor(logging.DEBUG):
        body = content[:_SHOWN_BYTES].decode("utf-8", "replace")
        rest = f"… ({len(content)} bytes)" if len(content) > _SHOWN_BYTES else ""
        logger.debug("node %s asks %s: %s%s", request.node_id, address, body, rest)


def log_reply(request: AgentRequest, turn: ModelTurn) -> None:
    """Tell what came back, without arguments: they hold whatever a node writes into files."""
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug(
            "node %s is answered by %s: %d characters, calls of %s, %s, %s",
            request.node_id,
            request.model,
            len(turn.text),
            [call.name for call in turn.calls],
            turn.finish_reason,
            turn.usage,
        )
