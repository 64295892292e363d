"""What the journal keeps: every input as it was fed, every call once, open ones as open."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.errors import TransientFailure
from engine.vocabulary.inputs import (
    EngineInput,
    HumanAnswered,
    ModelReplied,
    NodeInterruptAsked,
    Started,
    Stopped,
    TimerFired,
    ToolDecided,
    ToolsFinished,
)
from engine.vocabulary.messages import Completed
from engine.vocabulary.tools import (
    FileChangeOp,
    FileChangeRecord,
    ToolCall,
    ToolEffects,
    ToolResult,
)
from orchestration.storage.errors import RunAlreadyStored, RunNotStored
from orchestration.storage.facts import OpenCall, RecordedRun, run_name
from orchestration.storage.run_journal import RunJournal
from orchestration.storage.run_store import RunStore
from tests.support.engine_driver import workflow
from tests.support.storage_rig import SEED, opening_of, stored_runs

FLOW = workflow(nodes=["a"])


def is_reading(call: ToolCall) -> bool:
    return call.name == "read"


def admitted(call_id: str, name: str = "write") -> AdmittedCall:
    return AdmittedCall(ToolCall(call_id, name, {"path": call_id}), "digest")


def result(call_id: str, content: str = "done", name: str = "write") -> ToolResult:
    return ToolResult(call_id, name, content)


def kept(tmp_path: Path, body: Callable[[RunJournal], Awaitable[None]]) -> RecordedRun:
    """What is there of a run after its journal was used like this."""

    async def main() -> RecordedRun:
        async with stored_runs(tmp_path) as store:
            opened = await store.open_run(opening_of(FLOW), is_reading=is_reading)
            await body(opened.journal)
            return await store.load("run")

    return asyncio.run(main())


def test_every_input_comes_back_as_it_was_fed(tmp_path: Path) -> None:
    inputs: list[EngineInput] = [
        Started(1.5),
        ModelReplied("a", 1, TransientFailure("busy", retry_after_s=2.0), 2.0),
        ModelReplied("a", 2, Completed({"long": "x" * 10_000, "deep": [{"a": None}]}), 3.0),
        ToolsFinished("a", "a#1", (result("c", "not kept with a call"),), 4.0),
        HumanAnswered("a", "söme wörds 🎈", 5.0, pause_id="p"),
        ToolDecided("approval", False, 6.0, "because", for_run=True),
        ModelReplied("a", 3, Completed({"half": "\ud83d", "large": 2**80}), 7.0),
        Stopped(8.0),
    ]

    async def body(journal: RunJournal) -> None:
        for given in inputs:
            if isinstance(given, ModelReplied):
                journal.turn(given)
            else:
                journal.input(given)

    run = kept(tmp_path, body)

    assert list(run.inputs) == inputs
    assert run.input_seqs == tuple(range(1, len(inputs) + 1))
    assert run.next_seq == len(inputs) + 1


def test_a_result_is_kept_once_however_often_it_is_told(tmp_path: Path) -> None:
    text = "".join(chr(0x4E00 + (i * 7919) % 20000) for i in range(400))
    record = FileChangeRecord("c1", FileChangeOp.UPDATE, 1)
    effects = ToolEffects(file_changes=(record,))
    first, second, unknown = result("c1", text), result("c2", "short"), result("c3")

    async def body(journal: RunJournal) -> None:
        for known in (first, second):
            await journal.intent("a", admitted(known.call_id))
            await journal.result("a", known, effects=effects)
        journal.input(ToolsFinished("a", "a#1", (first, unknown, second), 9.0, effects))

    run = kept(tmp_path, body)

    assert run.inputs == (ToolsFinished("a", "a#1", (first, unknown, second), 9.0, effects),)
    assert run.ends["c1"].result == first
    assert run.ends["c1"].effects == effects
    assert run.open_calls == ()
    with closing(sqlite3.connect(tmp_path / "openflow.db")) as database:
        bodies = [
            row[0]
            for row in database.execute("SELECT body FROM calls UNION ALL SELECT body FROM turns")
        ]
    assert sum(text.encode() in body for body in bodies) == 1


def test_calls_without_a_known_end_are_open(tmp_path: Path) -> None:
    targets = ("/a/x@absent",)

    async def body(journal: RunJournal) -> None:
        await journal.intent("a", admitted("ended"))
        await journal.result("a", result("ended"))
        await journal.intent("a", admitted("looked", "read"))
        await journal.intent("a/sub", admitted("wrote"), targets=targets)

    run = kept(tmp_path, body)

    assert [(c.node_id, c.call.call.id, c.reads, c.targets) for c in run.open_calls] == [
        ("a", "looked", True, ()),
        ("a/sub", "wrote", False, targets),
    ]
    assert isinstance(run.open_calls[0], OpenCall)


@pytest.mark.parametrize(
    ("given", "is_open"),
    [
        (ToolsFinished("a/sub", "a/sub#1", (), 1.0), False),
        (NodeInterruptAsked("a", 1.0), False),
        (Stopped(1.0), False),
        (ToolsFinished("a", "a#1", (), 1.0), True),
        (NodeInterruptAsked("b", 1.0), True),
        (TimerFired("a", 1.0), True),
    ],
)
def test_a_call_that_the_engine_was_told_the_end_of_is_not_open(
    tmp_path: Path, given: EngineInput, is_open: bool
) -> None:
    async def body(journal: RunJournal) -> None:
        await journal.intent("a/sub", admitted("c"))
        journal.input(given)

    assert bool(kept(tmp_path, body).open_calls) is is_open


def test_a_call_that_is_made_again_is_open_again(tmp_path: Path) -> None:
    async def body(journal: RunJournal) -> None:
        await journal.intent("a", admitted("c", "read"))
        await journal.result("a", result("c", "old", "read"))
        await journal.intent("a", admitted("c", "read"))

    assert [call.call.call.id for call in kept(tmp_path, body).open_calls] == ["c"]


def test_a_writing_call_has_waited_for_everything_before_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with stored_runs(tmp_path, within_s=3600.0) as store:
            opened = await store.open_run(opening_of(FLOW), is_reading=is_reading)
            journal = opened.journal

            def there() -> tuple[int, int]:
                with closing(sqlite3.connect(tmp_path / "openflow.db")) as database:
                    return tuple(
                        database.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
                        for name in ("turns", "calls")
                    )

            journal.input(Started(1.0))
            await journal.intent("a", admitted("r", "read"))
            await journal.result("a", result("r", name="read"))
            assert there() == (0, 0)
            await journal.intent("a", admitted("w"))
            assert there() == (1, 3)
            await journal.result("a", result("w"))
            assert there() == (1, 4)

    asyncio.run(main())


def test_numbers_go_on_after_a_run_was_taken_up(tmp_path: Path) -> None:
    async def main() -> None:
        async with stored_runs(tmp_path) as store:
            opened = await store.open_run(opening_of(FLOW), is_reading=is_reading)
            opened.journal.input(Started(1.0))
            await opened.journal.intent("a", admitted("c"))
            await store.release(opened.number)
            resumed = await store.resume_run("run", is_reading=is_reading)
            resumed.journal.opened("run", SEED)
            resumed.journal.input(Started(2.0))
            recorded = await store.load("run")
            assert recorded.inputs == (Started(1.0), Started(2.0))
            assert recorded.input_seqs == (1, 3)

    asyncio.run(main())


def test_a_journal_is_for_the_run_that_it_was_made_for(tmp_path: Path) -> None:
    async def body(journal: RunJournal) -> None:
        journal.opened("run", SEED)
        with pytest.raises(ValueError, match="journal of run 'run'"):
            journal.opened("other", SEED)

    kept(tmp_path, body)


def test_what_a_run_was_started_with_comes_back(tmp_path: Path) -> None:
    opening = opening_of(
        FLOW,
        text="Go",
        cwd="/somewhere",
        project_root="/somewhere",
        project_id="p",
        parent_id="older",
        fork_seq=7,
        agents={"helper": {"id": "helper", "name": "Helper", "outputSchema": {}}},
        nodes_without_tools=("a",),
        source_hash="abc",
    )

    async def main() -> None:
        async with stored_runs(tmp_path) as store:
            await store.open_run(opening, is_reading=is_reading)
            with pytest.raises(RunAlreadyStored):
                await store.open_run(opening, is_reading=is_reading)
            await no_such_run(store)
            assert (await store.load("run")).opening == opening

    async def no_such_run(store: RunStore) -> None:
        for wish in (store.load("x"), store.events("x"), store.rename("x", "y"), store.delete("x")):
            with pytest.raises(RunNotStored, match="no run 'x' is stored here"):
                await wish

    asyncio.run(main())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("  Tell  me\nabout rivers ", "Tell me about rivers"),
        ("x" * 60, "x" * 60),
        ("y" * 61, "y" * 60 + "…"),
        (" \n", "Review run"),
    ],
)
def test_a_run_is_named_after_what_it_was_started_with(text: str, name: str) -> None:
    assert run_name(text, "Review") == name
    assert run_name("", " ") == "Workflow run"
