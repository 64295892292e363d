"""From how things stand to what the window shows; it decides nothing and asks for nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

import resources
from app.canvas.run_overlay import RunOverlay
from app.chat.addressing import IDLE_FACTS, address_for
from app.chat.composer import Address
from app.chat.transcript_model import TranscriptModel
from app.chats.chat_address import chat_address
from app.common import Common
from app.first_window import EXAMPLE
from app.kit.formats import duration_text, plural, usage_texts
from app.main_window import MainWindow
from app.open_workflow import OpenWorkflow, ReadyState
from app.run_session import RunSession, ShownRun
from app.sidebar import WorkflowEntry
from app.theme.statuses import WORKING
from orchestration.chats.chat_files import NODE_ID, is_chat_file
from orchestration.runs.view_values import RunStatus

_MOST_NAMED = 3
_REPLAYING = Address("none", placeholder="This is a replay. Resume the run to go on with it.")


class Presenter(QObject):
    """Shows the tab in front with its run, if it has one, and what waits in all runs.

    Signals:
        refreshed: The window is in line; the sessions of every run that there is.
        ticked: Another second has passed for what is at work.
    """

    refreshed = Signal(object)
    ticked = Signal()

    def __init__(
        self, window: MainWindow, common: Common, front: Callable[[], OpenWorkflow]
    ) -> None:
        """Show in `window` what `front` gives."""
        super().__init__(window)
        self._window = window
        self._common = common
        self._front = front
        self._chat = window.dock.chat
        self._overlay = RunOverlay(window.scene, self)
        self._overlay.ticked.connect(self._show_activity)
        self._overlay.ticked.connect(self.ticked)
        self._shown_model: TranscriptModel | None = None

    @property
    def session(self) -> ShownRun | None:
        """The run that is shown."""
        return self._front().session

    @property
    def ready(self) -> ReadyState:
        """Whether the workflow in front can run."""
        return self._front().ready

    @property
    def is_starting(self) -> bool:
        """Whether a run of it is being prepared."""
        return self._front().is_starting

    def refresh(self) -> None:
        """Bring the whole window in line."""
        all_sessions = self._common.runs.sessions
        session = self.session
        view = session.view if session is not None else None
        active = session is not None and session.is_active
        model = session.model if session is not None else self._front().draft
        if model is not self._shown_model:
            self._shown_model = model
            self._chat.show_model(model)
        self._overlay.look_at(self._window.scene)
        self._overlay.show_view(view, session.moment if session is not None else None)
        self._window.dock.trace.follow(view.trace if view is not None else ())
        replays = session is not None and session.is_replay
        can_run = (
            self.ready.state == "ready" and not active and not self.is_starting and not replays
        )
        is_chat = is_chat_file(self._window.document.path)
        answering = is_chat and session is not None and bool(session.activity())
        self._window.actions_.enable(
            {
                "run": can_run and not is_chat,
                "stop": active and (answering or not is_chat),
                "continue": view is not None
                and not is_chat
                and not active
                and view.status in (RunStatus.STOPPED, RunStatus.FAILED),
            }
        )
        self._window.top_bar.show_running(active and (answering or not is_chat))
        self._show_run_tip(can_run)
        self._window.top_bar.chip.show_state(*self.ready)
        self._window.top_bar.show_save_state(*self._front().saving.state)
        self.show_address()
        self._show_activity()
        waiting = [entry for each in all_sessions for entry in each.waiting()]
        self._window.waiting_list.show_entries(waiting)
        self._window.top_bar.show_waiting(len(waiting))
        self._show_sidebar(all_sessions)
        self._show_empty_text()
        self.refreshed.emit(all_sessions)

    def show_address(self) -> None:
        """Say whom the composer speaks to."""
        facts = self.session.facts() if self.session is not None else IDLE_FACTS
        is_ready = self.ready.state == "ready" and not self.is_starting
        why_not = "Starting…" if self.is_starting else self.ready.sentence
        if is_chat_file(self._window.document.path):
            address = chat_address(facts, is_ready=is_ready, why_not=why_not)
            if address != self._chat.composer.address:
                self._chat.composer.show_address(address)
            return
        if self.session is not None and self.session.is_replay:
            self._chat.composer.show_address(_REPLAYING)
            return
        address = address_for(
            facts,
            self._window.scene.chosen_node(),
            is_ready=is_ready,
            why_not=why_not,
        )
        if address != self._chat.composer.address:
            self._chat.composer.show_address(address)

    def _show_run_tip(self, can_run: bool) -> None:
        action = self._window.actions_["run"]
        tip = self._window.actions_.tip("run")
        if not can_run and self.ready.state != "ready":
            tip = f"{tip}: {self.ready.sentence}"
        if action.toolTip() != tip:
            action.setToolTip(tip)

    def _show_activity(self) -> None:
        session = self.session
        if session is None or not session.is_active:
            self._chat.show_activity("Starting…" if self.is_starting else "", "dots", "idle")
            return
        infos = self._overlay.infos
        at_work = [key for key in session.activity() if infos[key].status in WORKING]
        queued = len(session.activity()) - len(at_work)
        labels = session.view.labels
        if len(at_work) == 1:
            info = infos[at_work[0]]
            verb = "is running a tool" if info.status == "running_tool" else "is thinking"
            text = f"{labels[at_work[0]]} {verb}"
            if info.seconds is not None and info.seconds >= 1:
                text += f" · {duration_text(info.seconds)}"
        elif at_work:
            named = ", ".join(labels[key] for key in at_work[:_MOST_NAMED])
            more = f" and {len(at_work) - _MOST_NAMED} more" if len(at_work) > _MOST_NAMED else ""
            text = f"{plural(len(at_work), 'node')} at work: {named}{more}"
        else:
            text = session.view.waiting_reason or ""
        if queued and text:
            text += f" · {queued} queued"
        used = session.view.usage
        if text and used.tokens_out is not None:
            tokens = (used.tokens_in or 0) + used.tokens_out
            text += f" · {' · '.join(usage_texts(tokens, used.cost))} so far"
        is_edited = self._window.document.workflow is not session.workflow
        if text and is_edited and not is_chat_file(self._window.document.path):
            text += " · edits count from the next run on"
        self._chat.show_activity(text)

    def _show_sidebar(self, sessions: Sequence[RunSession]) -> None:
        status = {
            each.path: str(each.view.status)
            for each in sessions
            if each.path is not None and not each.is_resting
        }
        known = dict(example_workflows())
        for path, name in self._window.state.recent():
            known[path] = name or known.get(path, path.stem)
        for each in self._common.opened:
            if each.document.path is not None and each.document.graph.name:
                known[each.document.path] = each.document.graph.name
        document = self._window.document
        if document.path is not None:
            known[document.path] = document.graph.name or document.path.stem
        twice = {name for name, count in Counter(known.values()).items() if count > 1}
        entries = [
            WorkflowEntry(
                path,
                f"{name} ({path.parent.name})" if name in twice else name,
                status.get(path, ""),
            )
            for path, name in known.items()
        ]
        self._window.sidebar.show_entries(entries, document.path)

    def _show_empty_text(self) -> None:
        document = self._window.document
        chosen = self._window.scene.chosen_node()
        if document.path is None:
            self._chat.show_empty_text(
                "Open a workflow",
                "Drop a workflow file on the window, or choose Open Workflow in the sidebar.",
            )
        elif is_chat_file(document.path) and self.ready.state == "ready":
            agent = document.label(NODE_ID)
            self._chat.show_empty_text(
                "What can I help with?" if agent == "Assistant" else f"Talk with {agent}",
                "Write below and press Enter. It is kept, and goes on where you leave it.",
            )
        elif chosen and self._shown_model is not None and self._shown_model.rows:
            self._chat.show_empty_text(
                f"Nothing from {document.label(chosen)} yet", "Choose All to see everything."
            )
        elif self.ready.state == "ready":
            name = document.graph.name or "the workflow"
            self._chat.show_empty_text(
                f"What should {name} work on?",
                "Write it below and press Enter, or press Run to start without a text.",
            )
        else:
            self._chat.show_empty_text(self.ready.sentence, "")


def example_workflows() -> list[tuple[Path, str]]:
    """The workflows that come with the program: file and name, the first one to look at first."""
    folder = Path(resources.__file__ or "").parent / "examples"
    return [
        (file, file.name.removesuffix(".workflow.json").replace("-", " ").capitalize())
        for file in sorted(
            folder.glob("*.workflow.json"), key=lambda file: (file.name != EXAMPLE, file.name)
        )
    ]
