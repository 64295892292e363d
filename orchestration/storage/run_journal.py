"""The `Journal` of one run in the database: what makes it survive a kill at any point."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.inputs import (
    EngineInput,
    HumanAnswered,
    MessageEdited,
    MessageQueued,
    MessageWithdrawn,
    ModelReplied,
    NodePatched,
    RetryAsked,
    Stopped,
    ToolDecided,
    ToolsFinished,
    UncertainSettled,
)
from engine.vocabulary.tools import NO_EFFECTS, ToolCall, ToolEffects, ToolResult
from orchestration.runs.journal import SeenFile
from orchestration.storage.bodies import encode
from orchestration.storage.database import Database
from orchestration.storage.facts import (
    DECISION,
    INTENT,
    RESULT,
    CallDecision,
    CallEnd,
    FinishedByReference,
    OpenCall,
)
from orchestration.storage.statements import Kind

# What a person said or decided is written at once; the rest may wait for others.
_OF_A_PERSON = frozenset(
    {
        HumanAnswered,
        ToolDecided,
        UncertainSettled,
        RetryAsked,
        MessageQueued,
        MessageEdited,
        MessageWithdrawn,
        NodePatched,
        Stopped,
    }
)


def _may_write(call: ToolCall) -> bool:
    return False


class RunJournal:
    """Keeps a run's inputs and the facts about its calls, numbered in one order.

    Only a writing call waits for the disk: its intent is there, with all that came before it,
    before it runs, and its result before anybody hears of it. Reading calls may be repeated.
    Everything else is written within 250 ms. Every method may raise a `StorageError`: a run that
    cannot keep its facts has to stop.
    """

    __slots__ = (
        "_clock",
        "_database",
        "_ends",
        "_is_reading",
        "_reading",
        "_run",
        "_run_id",
        "_seed",
        "_seq",
    )

    def __init__(
        self,
        database: Database,
        run: int,
        *,
        run_id: str,
        seed: bytes,
        next_seq: int = 1,
        is_reading: Callable[[ToolCall], bool] = _may_write,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take where the run is kept; see `RunStore.open_run` and `RunStore.resume_run`.

        Args:
            database: where.
            run: the run's number there.
            run_id: the run's id.
            seed: what it was recorded to be made from.
            next_seq: the number of the next fact.
            is_reading: whether a call changes nothing.
            clock: seconds since the epoch.
        """
        self._database = database
        self._run = run
        self._run_id = run_id
        self._seed = seed
        self._seq = next_seq
        self._is_reading = is_reading
        self._clock = clock
        self._ends: dict[str, ToolResult] = {}
        self._reading: set[str] = set()

    @property
    def next_seq(self) -> int:
        """The number that the next fact gets."""
        return self._seq

    def opened(self, run_id: str, seed: bytes) -> None:
        """See that what begins is the run that was recorded.

        Raises:
            ValueError: it is another one; a bug in whoever starts it.
        """
        if (run_id, seed) != (self._run_id, self._seed):
            raise ValueError(f"run '{run_id}' was given the journal of run '{self._run_id}'")

    def input(self, value: EngineInput) -> None:
        """Write an input down; what a person said is written at once."""
        kept = self._by_reference(value) if isinstance(value, ToolsFinished) else value
        self._write_turn(encode(kept), soon=type(value) in _OF_A_PERSON)

    def turn(self, reply: ModelReplied) -> None:
        """Write a model's reply down."""
        self._write_turn(encode(reply), soon=False)

    async def intent(
        self, node_id: str, call: AdmittedCall, *, targets: tuple[str, ...] = ()
    ) -> None:
        """Write down that a call runs next; returns when that outlives a power failure.

        A call that only reads is not waited for. `targets` is what the call is about to touch, in
        the form of `CallInspection.targets`: the evidence, should nobody know how it ended.
        """
        reads = self._is_reading(call.call)
        fact = OpenCall(node_id, call, self._clock(), reads, targets)
        self._write_call(call.call.id, INTENT, encode(fact), soon=not reads)
        if reads:
            self._reading.add(call.call.id)
        else:
            await self._database.barrier(self._run, power=True)

    def decided(
        self, node_id: str, call_id: str, *, approval_id: str, allow: bool, reason: str = ""
    ) -> None:
        """Write down what was decided about a call, by whomever."""
        fact = CallDecision(node_id, approval_id, allow, reason)
        self._write_call(call_id, DECISION, encode(fact))

    async def result(
        self,
        node_id: str,
        result: ToolResult,
        *,
        effects: ToolEffects = NO_EFFECTS,
        seen: tuple[SeenFile, ...] = (),
    ) -> None:
        """Write down how a call ended; returns when that outlives a kill.

        A call that only reads is not waited for. `effects` is what the call did besides, and
        `seen` which versions of files its conversation knows from it.
        """
        call_id = result.call_id
        self._ends[call_id] = result
        reads = call_id in self._reading
        self._reading.discard(call_id)
        fact = CallEnd(node_id, result, self._clock(), effects, seen)
        self._write_call(call_id, RESULT, encode(fact), soon=not reads)
        if not reads:
            await self._database.barrier(self._run)

    def _by_reference(self, finished: ToolsFinished) -> ToolsFinished | FinishedByReference:
        """The input without the results that are kept with their calls."""
        ends = self._ends
        kept = [result.call_id for result in finished.results if ends.get(result.call_id) is result]
        for result in finished.results:
            ends.pop(result.call_id, None)
        if not kept:
            return finished
        known = set(kept)
        return FinishedByReference(
            finished.node_id,
            finished.batch_id,
            tuple([r.call_id if r.call_id in known else r for r in finished.results]),
            finished.at,
            finished.effects,
        )

    def _write_turn(self, body: bytes, *, soon: bool) -> None:
        seq = self._seq
        self._seq = seq + 1
        self._database.write(Kind.TURN, (self._run, seq, body), soon=soon)

    def _write_call(self, call_id: str, fact: str, body: bytes, *, soon: bool = False) -> None:
        seq = self._seq
        self._seq = seq + 1
        self._database.write(Kind.CALL, (self._run, seq, call_id, fact, body), soon=soon)
