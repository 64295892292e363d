"""What a run needs of whoever runs its tool calls, besides running them."""

from __future__ import annotations

import asyncio
from typing import Protocol

from engine.vocabulary.ports import ToolPort
from engine.vocabulary.tools import ToolEffects, ToolResult
from orchestration.tools.file_edits.edit_log import RevertReport


class BatchStopped(asyncio.CancelledError):
    """A batch was cancelled after some of its calls had ended; has what they gave and did."""

    def __init__(self, results: tuple[ToolResult, ...], effects: ToolEffects) -> None:
        self.results, self.effects = results, effects
        super().__init__()


class HostedTools(ToolPort, Protocol):
    """The tools of one run."""

    def discard(self, node_id: str) -> None:
        """What the last batch of a node or subagent gave may not reach its transcript."""

    async def revert(self, batch_id: str, *, force: bool = False) -> RevertReport:
        """Undo what one editing call did; `force`: also where a file was changed since.

        Raises:
            RevertRefused: it cannot be undone, and why.
        """

    def close(self) -> None:
        """The run is over; calls come again only if it goes on."""
