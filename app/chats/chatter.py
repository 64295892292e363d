"""The chats of a window: made, shown without a canvas, talked in, changed and deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QBoxLayout

from app.chats.chat_bar import ChatBar, ChatSettings, ModelChoice
from app.chats.past_chat import PastChat
from app.common import Common
from app.kit.dialogs import choose_folder, confirm
from app.kit.formats import count_text
from app.library.rows import Row
from app.main_window import MainWindow
from app.open_workflow import OpenWorkflow, ReadyState
from app.opening import Opening
from app.presenter import Presenter
from app.problem_words import in_short
from app.run_session import ShownRun
from engine.graph.workflow import Workflow
from orchestration.chats.chat_files import NODE_ID, is_chat_file
from orchestration.chats.chat_shape import (
    agent_of,
    folder_of,
    titled,
    with_agent,
    with_folder,
)
from orchestration.errors import RunRefused, UserError
from orchestration.library.entries import Removed
from orchestration.runs.view_values import RunStatus

Do = Callable[[Coroutine[Any, Any, None], str], None]


class Chatter(QObject):
    """Joins chats and the backend.

    Signals:
        changed: The chats are other ones, or are called otherwise.
    """

    changed = Signal()

    def __init__(
        self, window: MainWindow, common: Common, opening: Opening, presenter: Presenter, do: Do
    ) -> None:
        """`do` starts work and says what it refuses."""
        super().__init__(window)
        self._window = window
        self._common = common
        self._backend = common.backend
        self._opening = opening
        self._do = do
        self._chat = window.dock.chat
        self._recalled: WeakKeyDictionary[OpenWorkflow, Path] = WeakKeyDictionary()
        self._in_front: OpenWorkflow | None = None
        self.bar = ChatBar(window.theme, self._chat)
        parent = self._chat.composer.parentWidget()
        layout = parent.layout() if parent is not None else None
        assert isinstance(layout, QBoxLayout)
        layout.insertWidget(layout.indexOf(self._chat.composer), self.bar)
        self.bar.hide()
        self.bar.folder_asked.connect(self._on_folder)
        self.bar.mode_chosen.connect(self._on_mode)
        self.bar.model_chosen.connect(self._on_model)
        self.bar.effort_chosen.connect(self._on_effort)
        window.sidebar.library.asked.connect(self._on_asked)
        presenter.refreshed.connect(self._show)

    def act(self, action_id: str) -> bool:
        """Do what an action asks for; tells whether it is one of chats, or another one in them."""
        work = self._opening.front
        if action_id == "new_chat":
            self._do(self.create(), "make a chat")
        elif not is_chat_file(work.document.path):
            return False
        elif action_id == "stop":
            self._stop(work.session)
        elif action_id == "run":
            self._chat.composer.send()
        else:
            return False
        return True

    def takes(self, text: str) -> bool:
        """Say the text in the chat in front; tells whether there is one."""
        work = self._opening.front
        if not is_chat_file(work.document.path):
            return False
        if text and not work.is_starting:
            work.is_starting = True
            self._do(self._say(work, text), "say something")
        return True

    async def create(self, agent_id: str = "") -> None:
        """Make a chat, perhaps with a saved agent, and open it."""
        path = await self._backend.create_chat(agent_id)
        await self._opening.open(path)
        self.changed.emit()
        self._chat.composer.field.setFocus()

    async def _say(self, work: OpenWorkflow, text: str) -> None:
        document = work.document
        path = document.path
        try:
            if path is None or document.workflow is None:
                return
            document.edit("Name the chat", partial(titled, message=text))
            chat = document.workflow
            if work.saving.has_edits:
                await work.saving.save()
            try:
                await asyncio.to_thread(self._backend.library.run_folder, path)
                run_id = await self._backend.say(chat, text, path, work.overrides)
            except RunRefused as refusal:
                work.session = None
                work.tell_problems(refusal.problems, offers_demo=False)
                work.ready = ReadyState("blocked", in_short(refusal.problems))
                return
            self._follow(run_id, path, chat)
            if self._chat.composer.text == text and work is self._opening.front:
                self._chat.composer.clear()
            self.changed.emit()
        finally:
            work.is_starting = False

    def _follow(self, run_id: str, path: Path, chat: Workflow) -> None:
        known = self._common.runs.of(path)
        if known is None or known.view is not self._backend.view(run_id):
            self._common.runs.follow(run_id, path, chat)

    def _stop(self, session: ShownRun | None) -> None:
        """End the answer that is on its way; the chat stays open for more."""
        if session is not None and session.is_active:
            self._do(self._backend.interrupt_node(session.run_id, NODE_ID), "stop the answer")

    def _show(self, *_: object) -> None:
        work = self._opening.front
        document = work.document
        chat = document.workflow
        is_chat = is_chat_file(document.path)
        self.bar.setVisible(is_chat)
        is_new = work is not self._in_front
        self._in_front = work
        if not is_chat or chat is None:
            return
        if is_new:
            self._do(self._load_models(), "look for models")
            self._window.dock.show_tab(0)
            self._chat.composer.field.setFocus()
        if document.path is not None and self._recalled.get(work) != document.path:
            self._recalled[work] = document.path
            if work.session is None:
                self._do(self._recall(work, chat), "show a chat")
        agent = agent_of(chat)
        if agent is not None:
            self.bar.show_settings(
                ChatSettings(
                    folder_of(chat),
                    work.session is not None or work.is_starting,
                    agent.tools.effective().approval_mode,
                    agent.provider_id or "",
                    agent.model,
                    agent.reasoning_effort or "",
                    *_usage(work.session),
                )
            )

    async def _recall(self, work: OpenWorkflow, chat: Workflow) -> None:
        """Show what was said on other days; what waits for a person goes on waiting."""
        path = work.document.path
        stored = await self._backend.chat_run(chat.id)
        if stored is None or path is None:
            return
        if self._backend.active_run(chat.id) is None:
            refusal: UserError | None = None
            if stored.status is RunStatus.PAUSED and stored.can_resume:
                try:
                    await self._backend.take_up_chat(chat, stored.run_id)
                except UserError as error:
                    refusal = error
            if self._backend.active_run(chat.id) is None:
                view = await self._backend.replay(stored.run_id)
                records = await self._backend.stored_events(stored.run_id)
                past = PastChat(stored.run_id, path, chat, view, stored.updated, work)
                await past.show(records)
                if work.session is None and work.document.path == path:
                    work.session = past
                if refusal is not None:
                    raise refusal
                return
        if work.document.path == path:
            self._follow(self._backend.active_run(chat.id) or stored.run_id, path, chat)

    async def _load_models(self) -> None:
        providers = await asyncio.to_thread(self._backend.providers)
        self.bar.show_models(
            [
                ModelChoice(each.id, each.label, model, each.efforts)
                for each in providers
                if each.ready
                for model in dict.fromkeys((*filter(None, (each.default_model,)), *each.models))
            ]
        )

    def _on_folder(self, is_wanted: bool) -> None:
        self._do(self._choose_folder(is_wanted), "choose a folder")

    async def _choose_folder(self, is_wanted: bool) -> None:
        folder = None
        if is_wanted:
            folder = await choose_folder(self._window, "Project Folder of This Chat", None)
            if folder is None:
                return
        if self._opening.front.session is None:
            await self._change("Choose a folder", partial(with_folder, folder=folder))

    def _on_mode(self, mode: object) -> None:
        change = partial(with_agent, approval_mode=mode)
        self._do(self._change("Change approval", change), "change approval")

    def _on_model(self, choice: ModelChoice | None) -> None:
        settings: dict[str, Any] = {"model": choice.model if choice is not None else ""}
        if self._opening.front.session is None:
            settings["provider_id"] = choice.provider if choice is not None else None
        self._do(self._change("Change the model", partial(with_agent, **settings)), "change model")

    def _on_effort(self, effort: str) -> None:
        change = partial(with_agent, reasoning_effort=effort or None)
        self._do(self._change("Change the effort", change), "change effort")

    async def _change(self, text: str, change: Callable[[Workflow], Workflow]) -> None:
        """Change the chat in front, on disk and in its run at once."""
        work = self._opening.front
        if not is_chat_file(work.document.path) or work.document.workflow is None:
            return
        work.document.edit(text, change)
        if work.saving.has_edits:
            await work.saving.save()
        await self._backend.patch_chat(work.document.workflow)

    def _on_asked(self, verb: str, row: Row) -> None:
        if verb == "new_chat":
            self._do(self.create(), "make a chat")
        elif verb == "chat" and row.kind == "agent":
            self._do(self.create(row.key.partition(":")[2]), "chat with an agent")
        elif verb == "delete" and row.kind == "chat" and row.path is not None:
            self._do(self._delete(row.path, row.name), "delete a chat")

    async def _delete(self, path: Path, name: str) -> None:
        known, session = self._common.find(path), self._common.runs.of(path)
        is_answering = session is not None and session.is_active and bool(session.activity())
        if is_answering and not await confirm(
            self._window,
            f"Delete “{name}” while it answers?",
            "The answer is stopped, and the chat goes.",
            "Stop and Delete",
        ):
            return
        if session is not None and session.is_active:
            await self._backend.stop_run(session.run_id)
        if known is not None:
            await known.saving.flush()
        removed = await asyncio.to_thread(self._backend.library.delete, path)
        self._window.state.forget(path)
        if known is not None:
            self._common.file_gone.emit(path)
        self.changed.emit()

        def undo() -> None:
            self._do(self._restore(removed, was_open=known is not None), "undo deleting")

        self._window.toasts.show_offer(f"“{name}” was deleted", "Undo", undo)

    async def _restore(self, removed: Removed, *, was_open: bool) -> None:
        path = await asyncio.to_thread(self._backend.library.restore, removed)
        self.changed.emit()
        if was_open and isinstance(path, Path):
            await self._opening.open(path)


def _usage(session: ShownRun | None) -> tuple[str, str]:
    """How much of the context window the conversation takes, and whose window that is."""
    reported = session.view.context_windows.get(NODE_ID) if session is not None else None
    if reported is None or reported.usage.total_tokens is None:
        return "", ""
    used = count_text(reported.usage.total_tokens)
    if reported.max_context_tokens:
        of = count_text(reported.max_context_tokens)
        return f"{used} / {of} tokens", f"Of the context window of {reported.model}"
    return f"{used} tokens", f"In the last call of {reported.model}"
