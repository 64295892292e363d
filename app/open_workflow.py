"""What stands behind one tab: the file, whether it can run and why not, and the run it shows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from app.canvas.document import WorkflowDocument
from app.chat.rows import PROBLEMS
from app.chat.transcript_model import TranscriptModel
from app.desk import Desk
from app.problem_words import in_short, in_window_words, sentence
from app.saving import Saving
from engine.graph.problems import Problem
from engine.graph.workflow import Workflow
from orchestration.runs.requests import RunOverrides

if TYPE_CHECKING:
    from app.run_session import ShownRun
    from orchestration.backend import Backend

DEMO = RunOverrides(provider="embedded")
DEMO_SENTENCE = "Demo model: runs on your computer, makes things up"
_CHECK_MS = 250


class ReadyState(NamedTuple):
    """Whether the open workflow can run: `state` as the chip shows it."""

    state: str
    sentence: str


CHECKING = ReadyState("checking", "Getting ready…")
NOTHING_OPEN = ReadyState("empty", "No workflow is open")


class OpenWorkflow(QObject):
    """One tab's workflow, wherever its desk is.

    Attributes:
        desk: Its document and canvas.
        saving: Its file.
        ready: Whether it can run.
        problems: What stands in the way, in the words of the window.
        draft: What the conversation shows where there is no run.
        overrides: What its runs are started with.
        message: What was being written in the composer when another tab came to the front.
        is_starting: A run is being prepared.
        reading: Held while its file is read.
        read: Reads the file, if that has not been done.
        has_swap: There are unsaved edits of an earlier time that have not been offered yet.

    Signals:
        changed: Something of it is to be shown anew.
        check_wanted: It was edited a moment ago; has this object, as those below.
        reopened: It was read anew, or has another file.
        front_wanted: The person wants to see it.
    """

    changed = Signal()
    check_wanted = Signal(object)
    reopened = Signal(object)
    front_wanted = Signal(object)

    def __init__(self, desk: Desk, backend: Backend, saving: Saving) -> None:
        super().__init__(desk)
        self.desk = desk
        self.saving = saving
        saving.setParent(self)
        self._backend = backend
        self.ready = NOTHING_OPEN if desk.is_empty else CHECKING
        self.problems: tuple[Problem, ...] = ()
        self._session: ShownRun | None = None
        self.draft = TranscriptModel(self)
        self.overrides = RunOverrides()
        self.message = ""
        self.is_starting = False
        self.has_swap = False
        self.reading = asyncio.Lock()
        self.read: Callable[[], Awaitable[None]]
        self._checking = QTimer(self)
        self._checking.setSingleShot(True)
        self._checking.setInterval(_CHECK_MS)
        self._checking.timeout.connect(self._ask_for_check)
        self.document.edited.connect(self._on_edited)
        saving.state_changed.connect(self.changed)
        saving.reopened.connect(self._on_reopened)

    @property
    def document(self) -> WorkflowDocument:
        """The workflow."""
        return self.desk.document

    @property
    def session(self) -> ShownRun | None:
        """The run that is shown; a replay ends when another one is."""
        return self._session

    @session.setter
    def session(self, session: ShownRun | None) -> None:
        old, self._session = self._session, session
        if old is not None and old is not session and old.is_replay:
            old.close()
            old.deleteLater()

    @property
    def is_unread(self) -> bool:
        """Whether no more than the place of the file is known, or its outline."""
        return self.document.path is not None and self.document.workflow is None

    @property
    def may_be_replaced(self) -> bool:
        """Whether nothing is lost if another workflow takes this place: nobody has touched it."""
        return self.desk.is_empty or (
            self.session is None and not self.is_starting and self.saving.is_untouched
        )

    def take(self, path: Path, workflow: Workflow, base: str) -> None:
        """Show a workflow that was read from a file with this digest."""
        self.overrides = RunOverrides()
        self.has_swap = False
        self.document.show_workflow(path, workflow)
        self.desk.look_as_before()
        self.saving.took(path, base)

    def show_nothing(self) -> None:
        """Have nothing open."""
        self.document.clear()
        self.ready, self.problems, self.has_swap = NOTHING_OPEN, (), False
        self.session = None
        self.show_draft()

    def show_draft(self) -> None:
        """Forget what was told where there was no run."""
        self.draft.clear()
        self.draft.flush()

    async def check(self, *, is_new: bool = True) -> None:
        """Find out whether it can run, and what stands in its way.

        What was found out of an earlier version of it stays on screen until then.
        """
        workflow = self.document.workflow
        if workflow is None:
            return
        if is_new:
            self.ready = CHECKING
            self.changed.emit()
        readiness, problems = await asyncio.to_thread(self._judge, workflow, self.overrides)
        offers_demo = False
        if problems or not readiness.ready:
            demo, others = await asyncio.to_thread(self._judge, workflow, DEMO)
            offers_demo = demo.ready and not others
        if self.document.workflow is not workflow:
            return
        self.problems = self._in_words(problems)
        self.desk.scene.show_problems(self.problems)
        if not problems:
            self.show_draft()
        if problems:
            self.ready = ReadyState("blocked", in_short(problems))
            self.tell_problems(problems, offers_demo=offers_demo)
        elif not readiness.ready:
            self.ready = ReadyState("blocked", sentence(readiness.sentence))
        else:
            words = DEMO_SENTENCE if readiness.is_demo else sentence(readiness.sentence)
            self.ready = ReadyState("ready", words)
        self.changed.emit()

    def tell_problems(self, problems: tuple[Problem, ...], *, offers_demo: bool) -> None:
        """List what stands in the way where the conversation would be."""
        self.draft.clear()
        row = self.draft.add(PROBLEMS, "", "", 0.0)
        row.payload = (self._in_words(problems), offers_demo)
        row.is_open = True
        self.draft.flush()

    def _in_words(self, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
        label = self.document.label
        return tuple(in_window_words(p, label(p.node_id) if p.node_id else "") for p in problems)

    async def close(self) -> None:
        """Look at nothing any longer; what was edited last is written before."""
        self._checking.stop()
        self.session = None
        await self.saving.close()

    def _judge(
        self, workflow: Workflow, overrides: RunOverrides
    ) -> tuple[Any, tuple[Problem, ...]]:
        return (
            self._backend.readiness(workflow, overrides),
            self._backend.problems(workflow, overrides, self.document.path),
        )

    def come_to_front(self) -> None:
        """Let the person see it, whichever window it is in."""
        self.front_wanted.emit(self)

    def _on_reopened(self, _: Path) -> None:
        self.reopened.emit(self)

    def _on_edited(self) -> None:
        if self.document.workflow is not None:
            self._checking.start()

    def _ask_for_check(self) -> None:
        self.check_wanted.emit(self)
