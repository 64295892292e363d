"""One run from its start to its end: what a person can do to it, and what can be seen of it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from engine.run.interactive_engine import InteractiveEngine
from engine.run.output_repair import RepairingAiPort
from engine.vocabulary.errors import RunIsOver
from engine.vocabulary.events import ChatMessage, EditBatchUndone, RunWaiting
from engine.vocabulary.inputs import (
    EditBatchReverted,
    EngineInput,
    Entrypoint,
    HumanAnswered,
    MessageEdited,
    MessageQueued,
    MessageWithdrawn,
    NodeInterruptAsked,
    NodePatched,
    RetryAsked,
    RuntimePatch,
    Started,
    ToolDecided,
    UncertainSettled,
)
from engine.vocabulary.recovery import UncertainChoice
from engine.vocabulary.report import NeedsInteraction, RunOutcome
from engine.vocabulary.spending import Allowance
from orchestration.errors import NoContinuableRun, RunStillActive
from orchestration.runs.drive_loop import DriveLoop
from orchestration.runs.entropy import SEED_BYTES, SeededEntropy
from orchestration.runs.event_hub import EventHub, EventRecord, Subscription
from orchestration.runs.invocation import ModelInvocation
from orchestration.runs.journal import Journal, MemoryJournal
from orchestration.runs.pauses import only_movable
from orchestration.runs.recovery import Recovery
from orchestration.runs.run_setup import RunSetup, RunTelling, new_handoffs, new_view
from orchestration.runs.steered import NodeSettings, QueuedWord, queued_messages, settings_of
from orchestration.runs.view_values import RunStatus
from orchestration.tools.file_edits.edit_log import RevertReport

CONTINUABLE = frozenset({RunStatus.STOPPED, RunStatus.FAILED})


class RunCoordinator:
    """One run. All methods belong to the thread of the event loop in which it was made.

    A wish that does not fit the state of the run raises an `InteractionError` and changes nothing.
    """

    def __init__(
        self, setup: RunSetup, journal: Journal | None = None, recovery: Recovery | None = None
    ) -> None:
        """Make a run that begins with `start`; with `recovery` one that goes on with `go_on`."""
        workflow = setup.workflow
        self.run_id = setup.run_id
        self.workflow_id = workflow.id
        self.workflow_name = workflow.name
        self._setup = setup
        self._seed = setup.seed or os.urandom(SEED_BYTES)
        self.view = new_view(setup) if recovery is None else recovery.view
        last_event = 0 if recovery is None else recovery.last_event
        self._hub = EventHub(self.view.project, setup.clock, last_event)
        if setup.on_event is not None:
            self._hub.listen(setup.on_event)
        self.journal: Journal = journal or MemoryJournal()
        self.journal.opened(setup.run_id, self._seed)
        self._handoffs = new_handoffs(setup)
        self._tools = setup.make_tools(
            RunTelling(self._hub.emit, self.journal, self._handoffs.read)
        )
        self._models = ModelInvocation(
            RepairingAiPort(setup.models, repair_model=workflow.settings.output_repair_model),
            emit=self._hub.emit,
            handoffs=self._handoffs,
            put_aside=self._tools.put_aside,
            context_window=setup.context_window,
            price=setup.price,
        )
        self._recovery = recovery
        self._engine = self._new_engine() if recovery is None else recovery.engine
        self._reverted: list[EditBatchReverted] = []
        self._messages = 0 if recovery is None else recovery.messages
        self.on_over: Callable[[], None] = _nothing
        """Called when the run has ended, and again if it ends anew."""
        self.on_held: Callable[[], None] = _nothing
        """Called when there is work that is held back."""
        self._is_held = False
        self.on_reopened: Callable[[], None] = _nothing
        """Called when the run goes on, before anything of it is told."""
        self._drive = self._new_drive()

    @property
    def is_over(self) -> bool:
        """Whether the run has completed, failed or been stopped."""
        return self._drive.is_over

    @property
    def is_continuable(self) -> bool:
        """Whether the run was stopped or has failed, so that `continue_` can take it up."""
        return self.is_over and self.view.status in CONTINUABLE

    @property
    def only_movable(self) -> str:
        """The only node that a message would let go on.

        Raises:
            NoNodeAwaiting: there is none, or more than one.
        """
        return only_movable(self._engine.waiting())

    def start(self) -> None:
        """Begin at the next turn of the event loop: who subscribes now misses nothing."""
        how = Started(self._now(), limits=self._setup.limits)
        asyncio.get_running_loop().call_soon(self._begin, self._drive, self._setup.notices, how)

    def go_on(self, node_id: str | None = None, text: str | None = None) -> None:
        """Go on where the facts of another day end, at the next turn of the event loop.

        With `text` the node takes it as its answer or retries with it; without `node_id` the only
        node that can.

        Raises:
            InteractionError: no such node takes a message; nothing was begun.
        """
        recovery = self._recovery
        assert recovery is not None
        message = None
        if text is not None:
            target = node_id or self.only_movable
            self._engine.require_movable(target)
            message = MessageQueued(target, self._new_message_id(), text, self._now())
        for event in recovery.untold:
            self._hub.emit(event)
        self.view.reopen(self._now())
        self.on_reopened()
        how = Started(self._now(), message, recovery.ends, recovery.evidence)
        asyncio.get_running_loop().call_soon(self._begin, self._drive, self._setup.notices, how)

    def listen_first(self, listener: Callable[[EventRecord], None]) -> None:
        """Call `listener` with every event from now on, before any other."""
        self._hub.listen_first(listener)

    def recall_documents(self) -> None:
        """Know the handoff documents of another day again; blocking."""
        self._handoffs.recall()

    @property
    def is_held(self) -> bool:
        """Whether it begins no work for now."""
        return self._is_held

    @property
    def is_paused(self) -> bool:
        """Whether nothing moves until a person does something."""
        return isinstance(self._drive.outcome, NeedsInteraction)

    def hold(self) -> None:
        """Begin no more work until `release`; `on_held` is called when there is some."""
        self._is_held = True
        self._drive.hold()

    def release(self) -> None:
        """Begin what was held back."""
        self._is_held = False
        self._drive.release()

    def tell_waiting(self, reason: str = "", may_go_first: bool = False) -> None:
        """Tell why the run waits for something outside of it; without a reason it goes on."""
        self._hub.emit(RunWaiting(reason, may_go_first))

    def give_up(self, message: str) -> None:
        """End the run for a reason that lies outside of it, at once."""
        self._drive.give_up(message)

    async def settled(self) -> RunOutcome:
        """Wait until the run is over or nothing moves until a person does something."""
        return await self._drive.settled()

    async def stop(self) -> None:
        """End the run, within about two seconds and with nothing left running."""
        await self._drive.stop()
        await self._handoffs.aclose()

    async def close(self) -> None:
        """End for good with the program: a run that waits for a person is left as it is."""
        await self._drive.close()
        await self._handoffs.aclose()

    def continue_(self, node_id: str | None = None, text: str = "") -> None:
        """Go on after a stop or a failure: what was interrupted is retried, what waited waits.

        With `node_id` that node takes `text` as its answer, or retries with it.

        Raises:
            NoContinuableRun: the run is on, or has completed.
            InteractionError: the node takes no message; the run is as it was.
        """
        if not self.is_continuable:
            raise NoContinuableRun(self.run_id, self.view.status if self.is_over else "on")
        setup = self._setup
        engine = InteractiveEngine.restore(
            self._engine.checkpoint(),
            setup.workflow,
            entropy=SeededEntropy(self._seed),
            catalog=setup.catalog,
            project_root=setup.project_root,
        )
        message = None
        if node_id is not None:
            engine.require_movable(node_id)
            message = MessageQueued(node_id, self._new_message_id(), text, self._now())
        for reverted in self._reverted:  # while the run was over
            engine.feed(reverted)
        self._reverted.clear()
        self._engine = engine
        self._drive = self._new_drive()
        self.view.reopen(self._now())
        self.on_reopened()
        how = Started(self._now(), message)
        asyncio.get_running_loop().call_soon(self._begin, self._drive, (), how)

    def clear_trace(self) -> None:
        """Forget the rows of the trace; chats, outputs and everything else stay.

        Raises:
            RunStillActive: the run is not over.
        """
        if not self.is_over:
            raise RunStillActive(self.run_id)
        self.view.trace_log.clear()

    def subscribe(self) -> Subscription:
        """Collect the events from now on."""
        return self._hub.subscribe()

    async def answer(self, node_id: str, text: str, pause_id: str = "") -> None:
        """Answer a waiting node; an empty `pause_id` means whatever it asks now."""
        await self._ask(HumanAnswered(node_id, text, self._now(), pause_id=pause_id))

    async def decide(
        self,
        approval_id: str,
        allow: bool,
        reason: str | None = None,
        *,
        for_run: bool = False,
    ) -> None:
        """Allow or deny one call, perhaps equal ones too; the first decision counts."""
        await self._ask(ToolDecided(approval_id, allow, self._now(), reason, for_run))

    async def revert_edit_batch(self, batch_id: str, *, force: bool = False) -> RevertReport:
        """Undo what one editing call did, also when the run is over; no later node is told of it.

        Raises:
            RevertRefused: it cannot be undone, and why.
        """
        report = await self._tools.revert(batch_id, force=force)
        self._hub.emit(EditBatchUndone(report.node_id, batch_id))
        reverted = EditBatchReverted(report.node_id, batch_id, self._now())
        try:
            await self._ask(reverted)
        except RunIsOver:
            self.journal.input(reverted)
            self._reverted.append(reverted)
        return report

    async def settle_uncertain(self, call_id: str, choice: UncertainChoice) -> None:
        """Say what became of a call of unknown end."""
        await self._ask(UncertainSettled(call_id, choice, self._now()))

    async def retry_node(self, node_id: str, message: str | None = None) -> None:
        """Let a failed or interrupted node try again, perhaps with a message."""
        await self._ask(RetryAsked(node_id, self._now(), message))

    async def interrupt_node(self, node_id: str) -> None:
        """Interrupt one node; the others go on."""
        await self._ask(NodeInterruptAsked(node_id, self._now()))

    async def patch_node(self, node_id: str, patch: RuntimePatch) -> None:
        """Change settings of one node for the rest of the run; patches add up, field by field."""
        await self._ask(NodePatched(node_id, patch, self._now()))

    async def send_message(self, node_id: str, text: str) -> str:
        """Say something to a node and get the id of the message.

        A waiting node takes it as its answer, a failed or interrupted one retries with it, and one
        at work gets it before its next model call.
        """
        message_id = self._new_message_id()
        await self._ask(MessageQueued(node_id, message_id, text, self._now()))
        return message_id

    async def edit_message(self, message_id: str, text: str) -> None:
        """Change a message that has not been delivered."""
        await self._ask(MessageEdited(message_id, text, self._now()))

    def queued_messages(self) -> tuple[QueuedWord, ...]:
        """Messages that have not been delivered, node by node."""
        return queued_messages(self._engine, self._setup.workflow)

    def node_settings(self, node_id: str) -> NodeSettings:
        """What counts at the node's next model call."""
        return settings_of(self._engine, self._setup.workflow, node_id)

    def allowance(self, node_id: str = "") -> Allowance:
        """What the run, or one node of it, may use up by now."""
        return self._engine.allowed(node_id)

    async def withdraw_message(self, message_id: str) -> None:
        """Take back a message that has not been delivered."""
        await self._ask(MessageWithdrawn(message_id, self._now()))

    def _begin(
        self, drive: DriveLoop, notices: tuple[str, ...], how: Started | None = None
    ) -> None:
        if drive.is_over:  # stopped before it began
            return
        first = self._setup.workflow.nodes[0].id
        for notice in notices:
            self._hub.emit(ChatMessage(first, "system", notice))
        drive.start(how)

    def _new_engine(self) -> InteractiveEngine:
        setup = self._setup
        return InteractiveEngine(
            setup.workflow,
            run_id=setup.run_id,
            entropy=SeededEntropy(self._seed),
            catalog=setup.catalog,
            entrypoint=Entrypoint(setup.text),
            project_root=setup.project_root,
            agents=setup.agents,
        )

    def _ended(self) -> None:
        self._tools.close()
        self.on_over()

    def _new_drive(self) -> DriveLoop:
        setup = self._setup
        drive = DriveLoop(
            self._engine,
            models=self._models,
            tools=self._tools,
            emit=self._hub.emit,
            journal=self.journal,
            budget=setup.budget,
            clock=setup.clock,
            context_window=setup.context_window or _unknown_window,
            on_cancel=self._tools.discard,
            on_over=self._ended,
            on_held=lambda: self.on_held(),
        )
        if self._is_held:
            drive.hold()
        return drive

    async def _ask(self, wish: EngineInput) -> None:
        await self._drive.ask(wish)

    def _new_message_id(self) -> str:
        self._messages += 1
        return f"message-{self._messages}"

    def _now(self) -> float:
        return self._setup.clock()


def _nothing() -> None:
    return None


def _unknown_window(model: str) -> int | None:
    return None
