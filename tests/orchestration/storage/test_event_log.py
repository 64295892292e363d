"""What is kept of what a run tells, and what a list shows of it meanwhile."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from engine.vocabulary.events import (
    Aborted,
    ChatMessage,
    ChatMessageDelta,
    Finished,
    NodeCompleted,
    NodeQueued,
    NodeStarted,
    RunEvent,
    ToolApproved,
    ToolArtifactCreated,
    ToolDenied,
    ToolUpdated,
    UsageReported,
)
from engine.vocabulary.messages import Usage
from engine.vocabulary.report import RunReport
from orchestration.runs.event_hub import EventHub, EventRecord
from orchestration.runs.run_view import RunView
from orchestration.runs.view_values import RunStatus
from orchestration.storage.event_log import EVENTS_A_ROW, EventLog
from orchestration.storage.rebuilding import view_of, workflow_of
from orchestration.storage.run_store import RunStore
from tests.support.engine_driver import workflow
from tests.support.storage_rig import opening_of, stored_runs

FLOW = workflow(nodes=["a"])


class Telling:
    """A run that tells whatever a test wants."""

    def __init__(self, store: RunStore, log_of: Callable[[RunView], EventLog]) -> None:
        self.store = store
        self.view = RunView("run", FLOW.id, {"a": "A"})
        self.now = 0.0
        self.hub = EventHub(self.view.project, self._clock)
        self.log = log_of(self.view)
        self.records: list[EventRecord] = []
        self.hub.listen(self.log.take)
        self.hub.listen(self.records.append)

    def tell(self, *events: RunEvent) -> None:
        for event in events:
            self.hub.emit(event)

    async def stored(self, until: int | None = None) -> list[EventRecord]:
        parts = await self.store.events("run", until)
        return [record for part in parts for record in part.records]

    def _clock(self) -> float:
        self.now += 1.0
        return self.now


def telling(tmp_path: Path, body: Callable[[Telling], Awaitable[None]]) -> None:
    async def main() -> None:
        async with stored_runs(tmp_path) as store:
            opened = await store.open_run(opening_of(FLOW), is_reading=lambda call: True)
            await body(
                Telling(
                    store,
                    lambda view: EventLog(store.database, opened.number, view, opened.journal),
                )
            )

    asyncio.run(main())


def rows(tmp_path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(tmp_path / "openflow.db")) as database:
        return database.execute(sql).fetchall()


def delta(text: str, *, last: bool = False, message: str = "m") -> ChatMessageDelta:
    return ChatMessageDelta("a", message, "assistant", text, last)


def test_events_are_kept_with_their_numbers_and_times(tmp_path: Path) -> None:
    async def body(run: Telling) -> None:
        run.tell(*[ChatMessage("a", "user", f"{n}") for n in range(3 * EVENTS_A_ROW + 1)])
        assert await run.stored() == run.records
        assert await run.stored(until=EVENTS_A_ROW + 7) == run.records[: EVENTS_A_ROW + 7]

    telling(tmp_path, body)
    assert rows(tmp_path, "SELECT count(*) FROM events") == [(4,)]


def test_pieces_of_a_message_are_kept_as_its_beginning_and_the_rest(tmp_path: Path) -> None:
    async def body(run: Telling) -> None:
        run.tell(delta("One"), delta(" two"), delta("x", message="n", last=True), delta(" three"))
        run.tell(ToolUpdated("a", "c", "bash", "tail"))
        run.tell(delta(""), delta("", last=True), delta("again"), delta("!", last=True))
        assert [(r.seq, r.event) for r in await run.stored()] == [
            (1, delta("One")),
            (3, delta("x", message="n", last=True)),
            (7, delta(" two three", last=True)),
            (8, delta("again")),
            (9, delta("!", last=True)),
        ]

    telling(tmp_path, body)


def test_what_a_model_may_write_can_be_kept(tmp_path: Path) -> None:
    async def body(run: Telling) -> None:
        run.tell(NodeCompleted("a", "A", {"half": "\ud83d", "large": 2**80}))
        assert await run.stored() == run.records

    telling(tmp_path, body)


def test_lists_show_how_a_run_stands(tmp_path: Path) -> None:
    async def body(run: Telling) -> None:
        run.tell(NodeQueued("a", "A"), NodeStarted("a", "A"))
        run.tell(UsageReported("a", Usage(10, 5, 15, 3), "m"), UsageReported("a", Usage(1), "m"))
        (summary,) = await run.store.list_runs()
        assert (summary.status, summary.tokens_in, summary.tokens_out) == (RunStatus.RUNNING, 11, 5)
        (node,) = await run.store.nodes("run")
        assert (node.label, node.status, node.started, node.completed) == (
            "A",
            "started",
            2.0,
            None,
        )

        run.tell(NodeCompleted("a", "A", {}), Finished(RunReport("wf", ())))
        (summary,) = await run.store.list_runs()
        assert (summary.status, summary.updated) == (RunStatus.COMPLETED, 6.0)
        (node,) = await run.store.nodes("run")
        assert (node.status, node.started, node.completed) == ("completed", 2.0, 5.0)

    telling(tmp_path, body)
    assert rows(tmp_path, "SELECT seq, model, tokens_in, tokens_out, tokens_cached FROM usage") == [
        (3, "m", 10, 5, 3),
        (4, "m", 1, None, None),
    ]


def test_artifacts_and_decisions_have_rows_of_their_own(tmp_path: Path) -> None:
    async def body(run: Telling) -> None:
        run.tell(
            ToolArtifactCreated("a", "one", "bash", "artifacts/one", 70_000),
            ToolApproved("p1", "a", "c1", "write"),
            ToolDenied("", "a", "c2", "bash", "reading only"),
        )
        await run.store.database.barrier()

    telling(tmp_path, body)
    assert rows(tmp_path, "SELECT artifact_id, tool_name, path, size FROM artifacts") == [
        ("one", "bash", "artifacts/one", 70_000)
    ]
    assert rows(tmp_path, "SELECT call_id, fact FROM calls ORDER BY seq") == [
        ("c1", "decision"),
        ("c2", "decision"),
    ]


def test_a_run_that_goes_on_is_seen_going_on(tmp_path: Path) -> None:
    async def body(run: Telling) -> None:
        run.tell(NodeStarted("a", "A"), Aborted())
        late = ChatMessage("a", "user", "told too late")
        run.tell(late)
        run.view.reopen(9.0)
        run.log.reopened()
        run.tell(NodeStarted("a", "A"), NodeCompleted("a", "A", {"summary": "ok"}))
        recorded = await run.store.load("run")
        assert recorded.segments == 2
        parts = await run.store.events("run")
        assert [part.segment for part in parts] == [0, 1]
        again = view_of(recorded, workflow_of(recorded), parts)
        assert again.status is run.view.status
        assert again.outputs == run.view.outputs == {"a": {"summary": "ok"}}
        assert again.chat["a"][0].content != "told too late"

        # A later session of the run numbers its events from where this one ended.
        more = Telling(
            run.store,
            lambda view: EventLog(
                run.store.database,
                recorded.number,
                view,
                _NoDecisions(),
                last_event=recorded.last_event,
                segment=recorded.segments,
            ),
        )
        more.tell(NodeQueued("a", "A"))
        parts = await run.store.events("run")
        assert (parts[-1].segment, parts[-1].records[0].seq) == (2, recorded.last_event + 1)

    telling(tmp_path, body)


def test_what_is_told_while_nothing_can_be_written_is_kept_for_later(tmp_path: Path) -> None:
    async def body(run: Telling) -> None:
        database = run.store.database
        await database.run(lambda c: c.exec_driver_sql("PRAGMA max_page_count=1").all())
        large = [ChatMessage("a", "user", f"{n} " + "x" * 50) for n in range(1000)]
        run.tell(*large[:500])
        failed = asyncio.Event()
        database.on_trouble(lambda error: failed.set())
        run.tell(NodeStarted("a", "A"))
        await asyncio.wait_for(failed.wait(), 30)
        run.tell(*large[500:])
        run.tell(NodeStarted("a", "A"))
        await database.recover()
        run.log.flush()
        assert await run.stored() == run.records

    telling(tmp_path, body)


class _NoDecisions:
    def decided(
        self, node_id: str, call_id: str, *, approval_id: str, allow: bool, reason: str = ""
    ) -> None:
        raise AssertionError("nothing is decided here")
