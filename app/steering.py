"""What a person asks of the shown run: answers, decisions, retries, messages, stop and continue."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMenu

from app.chat.cards import Card
from app.chat.composer import Address
from app.chat.handoffs import Handoffs
from app.chat.mentions import Mentions
from app.chat.rows import APPROVAL, FAILURE, QUESTION, UNCERTAIN, Row
from app.kit.desktop_notices import Channel, Pressed, channel_for
from app.kit.dialogs import confirm
from app.kit.formats import plural
from app.main_window import MainWindow
from app.notifications import Notifier, RunStanding, Target
from app.presenter import Presenter
from app.run_controls.controls import RunControls
from app.run_session import RunSession, ShownRun
from app.waiting_list import WaitingEntry
from engine.vocabulary.recovery import UncertainChoice
from orchestration.backend import Backend
from orchestration.errors import EditNotUndone

Do = Callable[[Coroutine[Any, Any, Any], str], None]
"""Starts work that has a name; what it refuses is said in the window."""


class Steering(QObject):
    """Turns the intents of chat and cards into calls of the backend for the run that is shown.

    Attributes:
        may_tell: Whether this window is the one that tells somebody who looks elsewhere.
    """

    def __init__(
        self,
        window: MainWindow,
        backend: Backend,
        presenter: Presenter,
        do: Do,
        start: Callable[[str], None],
    ) -> None:
        """Listen to the window's chat; `start` begins a run with a text."""
        super().__init__(window)
        self._window = window
        self._backend = backend
        self._presenter = presenter
        self._do = do
        self._start = start
        self._chat = window.dock.chat
        intents = self._chat.intents
        self._chat.composer.sent.connect(self._on_sent)
        self._chat.composer.refused.connect(window.toasts.show_error)
        self._chat.transcript.menu_opening.connect(self._offer_revert)
        intents.answered.connect(self._on_answered)
        intents.decided.connect(self._on_decided)
        intents.settled.connect(self._on_settled)
        intents.turn_allowed.connect(self._on_turn_allowed)
        intents.retried.connect(self._on_retried)
        intents.continued.connect(self.continue_run)
        intents.reverted.connect(self._on_reverted)
        self.mentions = Mentions(
            self._chat.composer, backend, do, lambda: window.document.path, self._run_id
        )
        self.handoffs = Handoffs(self._chat, backend, do, self._run_id)
        self.controls = RunControls(window, backend, presenter, do)
        self.may_tell: Callable[[], bool] = lambda: True
        self.notifier = Notifier(
            window,
            is_wanted=self._wants_notices,
            make_channel=self._channel,
        )
        self.notifier.chosen.connect(self._on_notice)
        presenter.refreshed.connect(self._follow)

    def act(self, action_id: str) -> bool:
        """Do what an action asks; tells whether it is one of these."""
        if action_id == "next_waiting":
            self._window.waiting_list.go_to_next()
            return True
        return self.controls.act(action_id)

    def go_into(self, entry: WaitingEntry) -> None:
        """Put the focus into what waits; its conversation is in front by now."""
        card = self._card_of(entry)
        if card is not None and card.focusPolicy() != Qt.FocusPolicy.NoFocus:
            card.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            self._chat.composer.field.setFocus()

    def _run_id(self) -> str | None:
        """The run that is shown, if there is one."""
        session = self._presenter.session
        return session.run_id if session is not None else None

    def _card_of(self, entry: WaitingEntry) -> Card | None:
        """The card of what waits, in view; `None` where it has none."""
        model, transcript = self._chat.model, self._chat.transcript
        rows = [] if model is None else [each.row for each in model.shown if each.row.is_card]
        row = next((each for each in rows if is_about(each, entry)), None)
        if row is None:
            return None
        transcript.reveal(row.id)
        return transcript.card_of(row.id)

    def _follow(self, sessions: Sequence[RunSession]) -> None:
        """Tell somebody who looks elsewhere; in the window everything is told already."""
        runs = [
            RunStanding(
                each.run_id,
                each.workflow.name,
                each.view.ended_as or "",
                each.view.last_error or "",
            )
            for each in sessions
        ]
        waiting = self._window.waiting_list.entries
        self._window.show_waiting_count(len(waiting))
        self.notifier.follow(waiting, runs)

    def _on_notice(self, target: Target) -> None:
        entry = target.entry or WaitingEntry(target.run_id, "", "run", "")
        self._window.waiting_list.chosen.emit(entry)

    def _wants_notices(self) -> bool:
        return self.may_tell() and self._backend.settings.notifications

    def _channel(self, parent: QObject, pressed: Pressed) -> Channel | None:
        return channel_for(parent, pressed, self._window.windowIcon())

    def close(self) -> None:
        """Take back what the system still shows."""
        self.notifier.close()

    def stop(self) -> None:
        """Stop the run."""
        session = self._presenter.session
        if session is not None:
            self._do(self._backend.stop_run(session.run_id), "stop the run")

    def continue_run(self) -> None:
        """Go on with a run that was stopped or has failed."""
        session = self._presenter.session
        if session is not None:
            self._do(self._backend.continue_run(session.run_id), "continue the run")

    def _on_sent(self, address: Address, text: str) -> None:
        session = self._presenter.session
        if address.kind == "start":
            self._start(text)
        elif session is not None:
            self._do(self._send(session, address, text), "send a message")

    async def _send(self, session: ShownRun, address: Address, text: str) -> None:
        run_id, node_id = session.run_id, address.node_id
        if address.kind == "answer":
            pending = session.view.pending_inputs.get(node_id)
            pause_id = pending.pause_id if pending is not None else ""
            await self._backend.answer(run_id, node_id, text, pause_id)
        elif address.kind == "retry":
            await self._backend.retry_node(run_id, node_id, text or None)
        else:
            await self._backend.send_message(run_id, node_id, text)
        if self._chat.composer.text == text:
            self._chat.composer.clear()

    def _on_answered(self, node_id: str, pause_id: str, text: str) -> None:
        session = self._presenter.session
        if session is not None:
            work = self._backend.answer(session.run_id, node_id, text, pause_id)
            self._do(work, "answer a question")

    def _on_decided(self, approval_id: str, allow: bool, reason: str, for_run: bool) -> None:
        session = self._presenter.session
        if session is not None:
            work = self._backend.decide(
                session.run_id, approval_id, allow, reason or None, for_run=for_run
            )
            self._do(work, "decide about a call")

    def _on_turn_allowed(self, approval_id: str) -> None:
        session = self._presenter.session
        for other_id in session.turn_of(approval_id) if session is not None else ():
            self._on_decided(other_id, True, "", False)

    def _on_settled(self, call_id: str, choice: str) -> None:
        session = self._presenter.session
        if session is not None:
            work = self._backend.settle_uncertain(session.run_id, call_id, UncertainChoice(choice))
            self._do(work, "settle a call of unknown end")

    def _on_retried(self, node_id: str) -> None:
        session = self._presenter.session
        if session is not None:
            self._do(self._backend.retry_node(session.run_id, node_id), "retry a node")

    def _offer_revert(self, row: Row, menu: QMenu) -> None:
        """Offer to undo what an editing call did, as long as that is what the files hold."""
        session = self._presenter.session
        if session is None or session.is_replay or row.tool is None:
            return
        for batch in session.view.edit_batches:
            if batch.tool_call_id == row.tool.call_id:
                files = plural(len(batch.snapshots), "file")
                entry = menu.addAction(f"Revert This Edit ({files})")
                revert = partial(self._start_revert, session.run_id, batch.batch_id)
                entry.triggered.connect(revert)

    def _on_reverted(self, batch_id: str) -> None:
        session = self._presenter.session
        if session is not None:
            self._start_revert(session.run_id, batch_id)

    def _start_revert(self, run_id: str, batch_id: str, _: bool = False) -> None:
        self._do(self._revert(run_id, batch_id), "revert an edit")

    async def _revert(self, run_id: str, batch_id: str) -> None:
        try:
            await self._backend.revert_edit_batch(run_id, batch_id)
        except EditNotUndone as refusal:
            if not refusal.labels or not await confirm(
                self._window,
                "Revert all the same?",
                f"Changed since this edit: {', '.join(refusal.labels)}. "
                "What was changed there is lost.",
                "Revert",
            ):
                raise
            await self._backend.revert_edit_batch(run_id, batch_id, force=True)


def is_about(row: Row, entry: WaitingEntry) -> bool:
    """Whether a row with controls is about what waits."""
    if row.kind == FAILURE:
        return entry.kind == "retry" and row.node_id == entry.node_id
    names = {QUESTION: "pause_id", APPROVAL: "approval_id", UNCERTAIN: "call_id"}
    name = names.get(row.kind)
    return name is not None and getattr(row.payload, name) == entry.matter
