"""Interrupt, retry, settings, queued messages and meters of the run that is shown."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.main_window import MainWindow
from app.presenter import Presenter
from app.run_controls.queued_strip import Queued, QueuedStrip
from app.run_controls.run_bar import BarState, RunBar
from app.run_controls.settings_popover import SettingsPopover
from app.run_controls.usage import (
    fullness,
    node_seconds,
    run_seconds,
    summary,
    unpriced_words,
    usage_rows,
)
from app.run_controls.usage_popover import UsagePopover
from app.run_session import ShownRun
from engine.vocabulary.errors import UnknownMessage, UnknownNode
from engine.vocabulary.inputs import RuntimePatch
from engine.vocabulary.reconfiguration import patch_text
from engine.vocabulary.spending import NO_LIMIT
from engine.vocabulary.tools import ApprovalMode
from orchestration.backend import Backend
from orchestration.chats.chat_files import is_chat_id
from orchestration.runs.steered import NodeSettings
from orchestration.runs.view_values import NodeStatus

Do = Callable[[Coroutine[Any, Any, Any], str], None]

_CAN_BE_INTERRUPTED = frozenset(
    {NodeStatus.STARTED, NodeStatus.RUNNING_TOOL, NodeStatus.AWAITING_TOOL_APPROVAL}
)
_APPROVAL = {
    ApprovalMode.READ_ONLY: "read only",
    ApprovalMode.ALWAYS_ASK: "asks before every call",
    ApprovalMode.WRITE: "asks before writing",
    ApprovalMode.YOLO: "never asks",
}
_DELIVERED = "The message was delivered before it could be changed"


class RunControls(QObject):
    """Keeps bar and strip in line with the run, and hands wishes to the backend."""

    def __init__(self, window: MainWindow, backend: Backend, presenter: Presenter, do: Do) -> None:
        super().__init__(window)
        self._window = window
        self._backend = backend
        self._presenter = presenter
        self._do = do
        self._chat = chat = window.dock.chat
        self.bar = RunBar(window.theme, chat)
        self.strip = QueuedStrip(window.theme, chat)
        _put_before(chat.transcript, self.bar)
        _put_before(chat.composer, self.strip)
        self.bar.interrupt_asked.connect(self.interrupt)
        self.bar.retry_asked.connect(self.retry)
        self.bar.settings_asked.connect(self.open_settings)
        self.bar.usage_asked.connect(self._open_usage)
        self.strip.edited.connect(self._edit_message)
        self.strip.removed.connect(self._remove_message)
        chat.intents.refused.connect(self.bar.unlock)
        presenter.refreshed.connect(self._show)
        presenter.ticked.connect(self._show)
        self._settings: SettingsPopover | None = None
        self._usage: UsagePopover | None = None

    @property
    def settings(self) -> SettingsPopover:
        """Where the settings of a node are changed; made when it is first asked for."""
        if self._settings is None:
            self._settings = SettingsPopover(self._window.theme, self._window)
            self._settings.applied.connect(self._patch)
        return self._settings

    @property
    def usage(self) -> UsagePopover:
        """Where it is told what each node has used up."""
        if self._usage is None:
            self._usage = UsagePopover(self._window)
        return self._usage

    def act(self, action_id: str) -> bool:
        """Do what an action asks for the chosen node; tells whether it is one of these."""
        handler = {
            "interrupt_node": self.interrupt,
            "retry_node": self.retry,
            "node_settings": self.open_settings,
        }.get(action_id)
        if handler is None:
            return False
        state = self.bar.state
        if state is not None and state.node_id:
            handler(state.node_id)
        return True

    def interrupt(self, node_id: str) -> None:
        """Interrupt a node at work; the others go on."""
        session = self._presenter.session
        if session is not None and session.is_active:
            self._do(self._backend.interrupt_node(session.run_id, node_id), "interrupt a node")

    def retry(self, node_id: str) -> None:
        """Let a node try again, with what is written in the composer if that is for it."""
        session = self._presenter.session
        if session is None or not session.is_active:
            return
        composer = self._chat.composer
        address = composer.address
        is_for_it = (address.kind, address.node_id) == ("retry", node_id)
        text = composer.text if is_for_it else ""
        self._do(self._retry(session.run_id, node_id, text), "retry a node")

    async def _retry(self, run_id: str, node_id: str, text: str) -> None:
        await self._backend.retry_node(run_id, node_id, text or None)
        if text and self._chat.composer.text == text:
            self._chat.composer.clear()

    def open_settings(self, node_id: str) -> None:
        """Let the person change what counts for a node in this run."""
        session = self._presenter.session
        if session is not None and session.is_active:
            self._do(self._open_settings(session, node_id), "show settings of a node")

    async def _open_settings(self, session: ShownRun, node_id: str) -> None:
        settings = self._backend.node_settings(session.run_id, node_id)
        providers = await asyncio.to_thread(self._backend.providers)
        known = next((each for each in providers if each.id == settings.provider_id), None)
        popover = self.settings
        popover.show_settings(
            node_id,
            session.view.labels[node_id],
            settings,
            () if known is None else known.models,
            () if known is None else known.efforts,
        )
        anchor = self.bar.settings
        popover.open_at(anchor if anchor.isVisible() else self._window.top_bar, popover.model)

    def _patch(self, node_id: str, patch: RuntimePatch) -> None:
        session = self._presenter.session
        if session is not None:
            self._do(self._change(session, node_id, patch), "change settings of a node")

    async def _change(self, session: ShownRun, node_id: str, patch: RuntimePatch) -> None:
        await self._backend.patch_node(session.run_id, node_id, patch)
        label = session.view.labels.get(node_id, node_id)
        self._window.toasts.show_done(f"{label}, from its next model call on: {patch_text(patch)}")

    def _edit_message(self, message_id: str, text: str) -> None:
        session = self._presenter.session
        if session is not None:
            work = self._backend.edit_message(session.run_id, message_id, text)
            self._do(self._while_queued(work), "edit a message")

    def _remove_message(self, message_id: str) -> None:
        session = self._presenter.session
        if session is not None:
            work = self._backend.withdraw_message(session.run_id, message_id)
            self._do(self._while_queued(work), "take a message back")

    async def _while_queued(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except UnknownMessage:
            self._window.toasts.show_error(_DELIVERED)

    def _open_usage(self) -> None:
        session = self._presenter.session
        if session is None:
            return
        self._fill_usage(session)
        self.usage.open_at(self.bar.usage)

    def _show(self, *_: object) -> None:
        session = self._presenter.session
        is_chat = session is not None and is_chat_id(session.workflow.id)
        state = None if session is None or is_chat else self._state(session)
        self.bar.show_state(state)
        live = session is not None and session.is_active
        at_node = state is not None and bool(state.node_id)
        self._window.actions_.enable(
            {
                "interrupt_node": state is not None and state.can_interrupt,
                "retry_node": state is not None and state.can_retry,
                "node_settings": live and at_node and bool(state and state.settings),
            }
        )
        self.strip.show_queued(self._queued(session) if session is not None and live else ())
        if self._usage is not None and self._usage.isVisible():
            if session is None:
                self._usage.close_popover()
            else:
                self._fill_usage(session)

    def _fill_usage(self, session: ShownRun) -> None:
        now = session.moment if session.moment is not None else time.time()
        view = session.view
        self.usage.show_rows(usage_rows(view, now), unpriced_words(view.usage))

    def _queued(self, session: ShownRun) -> Sequence[Queued]:
        labels = session.view.labels
        return [
            Queued(each.message_id, labels.get(each.node_id, each.node_id), each.text)
            for each in self._backend.queued_messages(session.run_id)
        ]

    def _state(self, session: ShownRun) -> BarState | None:
        view = session.view
        now = session.moment if session.moment is not None else time.time()
        chosen = self._window.scene.chosen_node()
        node_id = chosen if chosen in view.status_by_node else ""
        live = session.is_active
        if node_id:
            label, status = view.labels[node_id], str(view.status_by_node[node_id])
            totals, seconds = view.usage_by_node.get(node_id), node_seconds(view, node_id, now)
        else:
            label, status = session.workflow.name or "Whole run", f"run:{view.status}"
            totals, seconds = view.usage, run_seconds(view, now)
        allowed = self._backend.allowance(session.run_id, node_id) if live else NO_LIMIT
        limit, limit_words = fullness(allowed, totals, seconds)
        settings = self._settings_of(session, node_id) if node_id and live else None
        return BarState(
            node_id,
            label,
            status,
            summary(totals, seconds),
            "Press for each node",
            limit,
            limit_words,
            "" if settings is None else _settings_words(settings),
            "Change model, approval and effort for this run",
            live and view.status_by_node.get(node_id) in _CAN_BE_INTERRUPTED,
            live and node_id in view.retryables,
        )

    def _settings_of(self, session: ShownRun, node_id: str) -> NodeSettings | None:
        try:
            return self._backend.node_settings(session.run_id, node_id)
        except UnknownNode:
            return None


def _settings_words(settings: NodeSettings) -> str:
    parts = [settings.model or "Default model", _APPROVAL[settings.approval_mode]]
    if settings.reasoning_effort:
        parts.append(settings.reasoning_effort)
    words = " · ".join(parts)
    return f"{words} (changed)" if settings.changed else words


def _put_before(widget: QWidget, new: QWidget) -> None:
    """Put a widget into the layout of another one, right before it."""
    parent = widget.parentWidget()
    assert parent is not None
    layout = parent.layout()
    assert isinstance(layout, QBoxLayout)
    layout.insertWidget(layout.indexOf(widget), new)
