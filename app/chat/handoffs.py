"""The documents that nodes have handed on, read when somebody wants to see them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from app.chat.panel import ChatPanel
from app.chat.rows import Row
from app.chat.transcript_model import TranscriptModel
from orchestration.errors import UserError

if TYPE_CHECKING:
    from orchestration.backend import Backend

GONE = "*The document is not there any more.*"

Do = Callable[[Coroutine[Any, Any, None], str], None]


class Handoffs(QObject):
    """Puts the text of a document into its row, off the window's thread."""

    def __init__(
        self, chat: ChatPanel, backend: Backend, do: Do, run_id: Callable[[], str | None]
    ) -> None:
        """`do` starts work; `run_id` gives the run that is shown."""
        super().__init__(chat)
        self._chat = chat
        self._backend = backend
        self._do = do
        self._run_id = run_id
        chat.transcript.handoff_wanted.connect(self._want)

    def _want(self, row: Row) -> None:
        run_id, model = self._run_id(), self._chat.model
        if run_id is not None and model is not None:
            self._do(self._read(model, row, run_id), "read the handoff document")

    async def _read(self, model: TranscriptModel, row: Row, run_id: str) -> None:
        try:
            text = await self._backend.handoff_text(run_id, row.handoff)
            row.handoff_text = GONE if text is None else text
        except UserError:
            row.shows_handoff = False
            raise
        finally:
            model.touch(row)
            model.flush()
