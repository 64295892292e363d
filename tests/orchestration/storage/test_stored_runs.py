"""A run that was kept can be rebuilt, looked at again at any moment, and told from others."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from engine.run.interactive_engine import InteractiveEngine
from engine.vocabulary.errors import PermanentFailure, StalePause, TransientFailure
from engine.vocabulary.events import ChatMessageDelta, ToolUpdated
from engine.vocabulary.inputs import Started, ToolDecided, ToolsFinished
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from orchestration.runs.entropy import SeededEntropy
from orchestration.runs.run_view import RunView
from orchestration.runs.view_values import RunStatus
from orchestration.storage.errors import UnreadableRun
from orchestration.storage.rebuilding import rebuilt_engine, view_of, workflow_of
from tests.support.engine_driver import ASKING, workflow
from tests.support.scripted_model import OK, ask, use
from tests.support.storage_rig import SEED, StoredRig, opening_of, stored_runs

FLOW = workflow(
    [("a", "c"), ("b", "c")],
    agents={"a": ASKING},
    settings={"retryPolicy": {"max_attempts": 2, "backoff_ms": 0}},
)


def script() -> dict[str, list[Any]]:
    return {
        "a": [use(("read", {"path": "f"}), ("write", {"path": "g", "content": "h"})), ask("?"), OK],
        "b": [TransientFailure("busy"), OK],
        "c": [PermanentFailure("no"), OK],
    }


async def needs(rig: StoredRig) -> NeedsInteraction:
    outcome = await rig.run.settled()
    assert isinstance(outcome, NeedsInteraction), outcome
    return outcome


async def whole_run(rig: StoredRig) -> None:
    """With a decision, an answer, a refused answer and a retry."""
    (rig.folder / "f").write_text("text")
    (await rig.open()).start()
    await rig.run.decide((await needs(rig)).approvals[0].approval_id, True)
    await needs(rig)
    with pytest.raises(StalePause):
        await rig.run.answer("a", "x", "wrong")
    await rig.run.answer("a", "because")
    await needs(rig)
    await rig.run.retry_node("c")
    assert isinstance(await rig.run.settled(), RunCompleted)
    await rig.run.stop()


def seen(view: RunView) -> dict[str, Any]:
    """Everything that can be seen of a run, as plain values."""
    return {
        "status": view.status,
        "nodes": view.status_by_node,
        "outputs": view.outputs,
        "chat": {
            node: [(e.role, e.kind, e.content, e.created_at) for e in entries]
            for node, entries in view.chat.items()
        },
        "calls": {
            node: [(c.tool_name, c.status, c.arguments, c.last_output) for c in calls.values()]
            for node, calls in view.tool_calls.items()
        },
        "trace": [(t.time, t.node_id, t.status, t.message) for t in view.trace],
        "inputs": view.pending_inputs,
        "approvals": view.pending_approvals,
        "tokens": (view.usage.tokens_in, view.usage.tokens_out),
    }


def test_a_fresh_engine_that_is_fed_what_was_kept_is_where_the_run_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines: list[InteractiveEngine] = []
    begin = InteractiveEngine.__init__

    def noting(self: InteractiveEngine, *args: Any, **more: Any) -> None:
        engines.append(self)
        begin(self, *args, **more)

    monkeypatch.setattr(InteractiveEngine, "__init__", noting)

    async def body() -> None:
        async with stored_runs(tmp_path) as store:
            rig = StoredRig(store, FLOW, script(), tmp_path / "cwd", text="Go")
            await whole_run(rig)
            recorded = await store.load("run")

        again = rebuilt_engine(recorded, workflow_of(recorded), rig.catalog)
        assert again.is_over
        assert again.checkpoint() == engines[0].checkpoint()
        assert recorded.open_calls == ()
        assert recorded.summary.status is RunStatus.COMPLETED

    asyncio.run(body())


def test_what_was_told_gives_the_same_picture_at_every_moment(tmp_path: Path) -> None:
    async def body() -> None:
        async with stored_runs(tmp_path) as store:
            rig = StoredRig(store, FLOW, script(), tmp_path / "cwd", text="Go")
            await whole_run(rig)
            recorded = await store.load("run")
            flow = workflow_of(recorded)
            last = rig.records[-1].seq
            assert recorded.last_event == last
            live = RunView("run", flow.id, {node.id: node.label for node in flow.nodes})
            for record in rig.records:
                live.apply(record)
                if not isinstance(record.event, ChatMessageDelta | ToolUpdated):
                    parts = await store.events("run", until=record.seq)
                    assert seen(view_of(recorded, flow, parts)) == seen(live), record

    asyncio.run(body())


def test_a_run_that_was_cut_off_waits_for_the_same_person_with_the_same_ids(
    tmp_path: Path,
) -> None:
    """The program ends while a call waits for a decision and a node for an answer."""
    flow = workflow(nodes=["a", "b"], agents={"b": ASKING})
    asked: list[NeedsInteraction] = []

    async def first_life() -> None:
        async with stored_runs(tmp_path) as store:
            write = use(("write", {"path": "g", "content": "h"}))
            rig = StoredRig(store, flow, {"a": [write, OK], "b": [ask("?"), OK]}, tmp_path / "cwd")
            (await rig.open()).start()
            asked.append(await needs(rig))
            await rig.run.close()

    async def second_life() -> None:
        async with stored_runs(tmp_path) as store:
            (summary,) = await store.list_runs()
            assert (summary.status, summary.can_resume) == (RunStatus.PAUSED, True)
            rig = StoredRig(store, flow, {}, tmp_path / "cwd")
            resumed = await store.resume_run("run", is_reading=rig.is_reading)
            engine = rebuilt_engine(resumed.recorded, workflow_of(resumed.recorded), rig.catalog)
            assert engine.waiting() == asked[0]

            again = InteractiveEngine.restore(
                engine.checkpoint(), flow, entropy=SeededEntropy(SEED), catalog=rig.catalog
            )
            for given in (
                Started(2000.0),
                ToolDecided(asked[0].approvals[0].approval_id, False, 2001.0),
            ):
                resumed.journal.input(given)
                again.feed(given)
            whole = await store.load("run")
            assert rebuilt_engine(whole, flow, rig.catalog).checkpoint() == again.checkpoint()
            half = rebuilt_engine(whole, flow, rig.catalog, inputs=len(resumed.recorded.inputs))
            assert half.checkpoint() == engine.checkpoint()

    asyncio.run(first_life())
    asyncio.run(second_life())


def test_a_run_whose_facts_do_not_fit_is_told(tmp_path: Path) -> None:
    async def body() -> None:
        async with stored_runs(tmp_path) as store:
            opened = await store.open_run(opening_of(FLOW), is_reading=lambda call: True)
            opened.journal.input(ToolsFinished("a", "a#9", (), 1.0))
            run = await store.load("run")
            rig = StoredRig(store, FLOW, {}, tmp_path / "cwd")
            with pytest.raises(UnreadableRun, match="its fact 1 of 1 does not fit"):
                rebuilt_engine(run, FLOW, rig.catalog)

    asyncio.run(body())
