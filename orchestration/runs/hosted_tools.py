"""What a run needs of whoever runs its tool calls, besides running them."""

from __future__ import annotations

from typing import Protocol

from engine.vocabulary.ports import ToolPort
from orchestration.tools.file_edits.edit_log import RevertReport


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
