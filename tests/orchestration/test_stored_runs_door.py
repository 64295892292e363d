"""Stored runs through the door: taken up, replayed, forked, compared, and looked after."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.graph.serialization import dump_workflow
from engine.vocabulary.errors import NodeNotActive, NoNodeAwaiting, NotUncertain
from engine.vocabulary.messages import HandoffArtifact
from engine.vocabulary.recovery import UncertainChoice
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.requests import AgentRequest
from orchestration.backend import Backend
from orchestration.errors import (
    NoContinuableRun,
    RunAlreadyActive,
    RunNotFound,
    RunStillActive,
    UserError,
)
from orchestration.run_keeping import EDITED_SINCE
from orchestration.runs.registry import RunRegistry
from orchestration.runs.stored import RunQuery
from orchestration.runs.view_values import RunStatus
from orchestration.storage.errors import HoldsSecret, RunAlreadyStored, RunIsDriven, RunNotStored
from tests.support.engine_driver import ASKING, workflow
from tests.support.run_rig import request_of, run_async, scripted_backend
from tests.support.scripted_model import Held, Scripted, summary, use
from tests.support.stored_door import CHAIN, asking_script, completed, paused

CAREFUL = workflow(nodes=["a"], defaults={"tools": {"approvalMode": "always_ask"}})


def test_a_question_is_back_with_its_id_another_day(data_dir: Path) -> None:
    async def body() -> None:
        first = scripted_backend(asking_script, data_dir)
        run_id = await paused(first)
        (question,) = first.view(run_id).pending_inputs.values()
        await first.aclose()

        second = scripted_backend(asking_script, data_dir)
        (stored,) = await second.runs()
        assert (stored.run_id, stored.name, stored.status) == (run_id, "go", RunStatus.PAUSED)
        assert await second.resume_run(run_id) == run_id
        outcome = await second.settled(run_id)
        assert isinstance(outcome, NeedsInteraction)
        assert [asked.pause_id for asked in outcome.inputs] == [question.pause_id]
        await second.answer(run_id, "a", "later", question.pause_id)
        assert isinstance(await second.settled(run_id), RunCompleted)
        assert second.view(run_id).outputs["a"] == {"summary": "later"}
        (stored,) = await second.runs(RunQuery(statuses=frozenset({RunStatus.COMPLETED})))
        assert stored.run_id == run_id
        with pytest.raises(NoContinuableRun):
            await second.resume_run(run_id)
        await second.aclose()

    run_async(body)


def test_an_approval_is_back_with_its_id_and_nothing_had_run(data_dir: Path) -> None:
    turn = use(("write", {"path": "x", "content": "y"}))

    def script(request: AgentRequest) -> Scripted:
        return turn if not list(request.transcript) else summary("done")

    async def body() -> None:
        first = scripted_backend(script, data_dir)
        run_id = await paused(first, CAREFUL)
        (asked,) = first.view(run_id).pending_approvals
        await first.aclose()

        second = scripted_backend(script, data_dir)
        await second.resume_run(run_id)
        outcome = await second.settled(run_id)
        assert isinstance(outcome, NeedsInteraction)
        assert [approval.approval_id for approval in outcome.approvals] == [asked]
        assert not (data_dir / "written" / "x").exists()
        await second.decide(run_id, asked, True)
        assert isinstance(await second.settled(run_id), RunCompleted)
        assert (data_dir / "written" / "x").read_text() == "y"
        on = await paused(second, CAREFUL)
        with pytest.raises(NotUncertain):
            await second.settle_uncertain(on, "nothing", UncertainChoice.SKIP)
        await second.aclose()

    run_async(body)


def test_a_run_goes_on_with_a_message_to_the_node_that_waits(data_dir: Path) -> None:
    async def body() -> None:
        first = scripted_backend(asking_script, data_dir)
        run_id = await paused(first)
        await first.aclose()

        second = scripted_backend(asking_script, data_dir)
        with pytest.raises(NodeNotActive):
            await second.resume_run(run_id, message="x", node_id="b")
        await second.resume_run(run_id, message="said at once")
        assert isinstance(await second.settled(run_id), RunCompleted)
        assert second.view(run_id).outputs["a"] == {"summary": "said at once"}
        texts = [entry.content for entry in second.view(run_id).chat["a"]]
        assert "said at once" in texts
        await second.aclose()

    run_async(body)


def test_a_message_to_nobody_in_particular_needs_one_node_that_takes_it(data_dir: Path) -> None:
    async def body() -> None:
        both = workflow(nodes=["a", "c"], defaults=ASKING)
        first = scripted_backend(asking_script, data_dir)
        run_id = await paused(first, both)
        await first.aclose()

        second = scripted_backend(asking_script, data_dir)
        with pytest.raises(NoNodeAwaiting):
            await second.resume_run(run_id, message="x")
        await second.resume_run(run_id, message="x", node_id="c")
        await second.settled(run_id)
        assert second.view(run_id).outputs == {"c": {"summary": "x"}}
        await second.aclose()

    run_async(body)


def test_the_recorded_workflow_is_used_and_that_it_was_edited_is_said(
    data_dir: Path, tmp_path: Path
) -> None:
    source = tmp_path / "flow.json"
    source.write_text(dump_workflow(CHAIN))

    async def body() -> None:
        first = scripted_backend(asking_script, data_dir)
        run_id = await paused(first, source=source)
        await first.aclose()
        edited = workflow([("a", "b"), ("b", "c")], agents={"a": ASKING})
        source.write_text(dump_workflow(edited))

        second = scripted_backend(asking_script, data_dir)
        await second.resume_run(run_id, message="x")
        assert isinstance(await second.settled(run_id), RunCompleted)
        view = second.view(run_id)
        assert set(view.outputs) == {"a", "b"}
        assert EDITED_SINCE in [entry.content for entry in view.chat["a"]]
        await second.aclose()

    run_async(body)


def test_two_programs_do_not_drive_one_run(data_dir: Path) -> None:
    async def body() -> None:
        first = scripted_backend(asking_script, data_dir)
        second = scripted_backend(asking_script, data_dir)
        run_id = await paused(first)
        with pytest.raises(RunIsDriven):
            await second.resume_run(run_id)
        with pytest.raises(RunStillActive):
            await second.delete_run(run_id)
        assert not await second.interrupted_runs()
        await first.stop_run(run_id)
        await first.settled(run_id)
        await first.aclose()
        await second.resume_run(run_id, message="x")
        assert isinstance(await second.settled(run_id), RunCompleted)
        await second.aclose()

    run_async(body)


def test_a_stopped_run_that_went_on_elsewhere_goes_on_from_there(data_dir: Path) -> None:
    async def body() -> None:
        first = scripted_backend(asking_script, data_dir)
        run_id = await paused(first)
        await first.stop_run(run_id)
        await first.settled(run_id)

        second = scripted_backend(asking_script, data_dir)
        while any(run.driven_by for run in await second.runs()):
            pass
        await second.resume_run(run_id, message="over there")
        await second.settled(run_id)
        await second.aclose()

        with pytest.raises(NoContinuableRun):
            await first.continue_run(run_id)
        await first.aclose()

    run_async(body)


def test_a_workflow_has_one_run_also_if_one_is_taken_up(data_dir: Path) -> None:
    async def body() -> None:
        first = scripted_backend(asking_script, data_dir)
        run_id = await paused(first)
        await first.aclose()
        second = scripted_backend(asking_script, data_dir)
        await paused(second)
        with pytest.raises(RunAlreadyActive):
            await second.resume_run(run_id)
        await second.aclose()

    run_async(body)


def test_a_run_is_seen_as_it_was_after_any_event_without_a_provider(data_dir: Path) -> None:
    async def body() -> None:
        first = scripted_backend(asking_script, data_dir)
        run_id = await completed(first)
        live = first.view(run_id)
        await first.aclose()

        def silent(request: AgentRequest) -> Scripted:
            raise AssertionError("a replay asked a model")

        second = scripted_backend(silent, data_dir)
        records = await second.stored_events(run_id)
        assert [record.seq for record in records] == sorted({record.seq for record in records})
        whole = await second.replay(run_id)
        assert (whole.outputs, whole.status) == (live.outputs, RunStatus.COMPLETED)
        assert not whole.active
        asked = next(r.seq for r in records if type(r.event).__name__ == "NodeAwaitingInput")
        then = await second.replay(run_id, asked)
        assert list(then.pending_inputs) == ["a"]
        assert not then.outputs
        assert len(await second.stored_events(run_id, asked)) <= asked
        with pytest.raises(RunNotStored):
            await second.replay("nobody")
        await second.aclose()

    run_async(body)


def test_stored_runs_are_renamed_handed_on_and_deleted(data_dir: Path, tmp_path: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(asking_script, data_dir)
        run_id = await completed(backend)
        await backend.rename_run(run_id, "My run")
        assert [run.name for run in await backend.runs(RunQuery("my run"))] == ["My run"]
        parcel = tmp_path / "run.openflow-run"
        await backend.export_run(run_id, parcel)
        with pytest.raises(RunAlreadyStored):
            await backend.import_run(parcel)
        await backend.delete_run(run_id)
        assert not await backend.runs()
        assert await backend.import_run(parcel) == run_id
        assert (await backend.replay(run_id)).outputs["a"] == {"summary": "first"}
        assert await backend.prune_runs(most_bytes=0) == (run_id,)
        leaky = await completed(backend, "my key is sk-test-of-eight")
        backend = await reopened(backend, data_dir, "sk-test-of-eight")
        with pytest.raises(HoldsSecret):
            await backend.export_run(leaky, tmp_path / "leak")
        assert not (tmp_path / "leak").exists()
        await backend.aclose()

    async def reopened(backend: Backend, folder: Path, key: str) -> Backend:
        await backend.aclose()
        return scripted_backend(asking_script, folder, env={"OPENAI_API_KEY": key})

    run_async(body)


def test_what_was_stopped_while_its_call_was_under_way_goes_on(data_dir: Path) -> None:
    async def body() -> None:
        held = Held(summary("never"))
        first = scripted_backend(lambda request: held, data_dir)
        run_id = await first.start_run(request_of(workflow(nodes=["a"])))
        await held.begun.wait()
        await first.aclose()
        second = scripted_backend(lambda request: summary("now"), data_dir)
        (stored,) = await second.runs()
        assert stored.status is RunStatus.STOPPED
        await second.resume_run(run_id)
        assert isinstance(await second.settled(run_id), RunCompleted)
        assert second.view(run_id).outputs["a"] == {"summary": "now"}
        await second.aclose()

    run_async(body)


def test_a_stopped_run_is_stored_as_such_when_stopping_returns(data_dir: Path) -> None:
    async def body() -> None:
        first = scripted_backend(asking_script, data_dir)
        run_id = await paused(first)
        assert first.view(run_id).active
        await first.stop_run(run_id)
        other = scripted_backend(asking_script, data_dir)
        (stored,) = await other.runs()
        assert stored.status is RunStatus.STOPPED
        await other.aclose()
        await first.continue_run(run_id, "a", "after all")
        assert isinstance(await first.settled(run_id), RunCompleted)
        (stored,) = await first.runs()
        assert stored.status is RunStatus.COMPLETED
        await first.aclose()

    run_async(body)


def test_what_is_stored_at_the_start_names_the_run_and_resolves_its_nodes(data_dir: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(asking_script, data_dir)
        text = "  Write   a very long letter to somebody who will never read any of it, ever  "
        run_id = await backend.start_run(request_of(CHAIN, text))
        (stored,) = await backend.runs()
        assert stored.run_id == run_id
        assert stored.name == "Write a very long letter to somebody who will never read any…"
        assert stored.driven_by
        assert backend.view(run_id).active
        await backend.settled(run_id)
        compared = await backend.compare_runs(run_id, run_id)
        assert compared.differences == ()
        await backend.aclose()

    run_async(body)


def test_runs_that_make_room_can_still_be_taken_up(data_dir: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(asking_script, data_dir)
        backend._runs = RunRegistry(retained=2)
        waits = await paused(backend, workflow(nodes=["a"], agents={"a": ASKING}))
        stopped = [await stopped_run(backend, number) for number in range(3)]
        assert backend.view(waits).active, "a run that is on made room"
        with pytest.raises(RunNotFound):
            backend.view(stopped[0])
        await backend.resume_run(stopped[0], message="again")
        assert isinstance(await backend.settled(stopped[0]), RunCompleted)
        await backend.aclose()

    async def stopped_run(backend: Backend, number: int) -> str:
        flow = CHAIN.model_copy(update={"id": f"flow-{number}"})
        run_id = await paused(backend, flow)
        await backend.stop_run(run_id)
        return run_id

    run_async(body)


def test_the_document_of_a_node_is_read_from_the_run_s_folder(data_dir: Path) -> None:
    artifact = HandoffArtifact("markdown", "run://handoffs/a/HANDOFF.md", "text/markdown", "", 6)

    async def body() -> None:
        backend = scripted_backend(asking_script, data_dir)
        run_id = await paused(backend)
        assert await backend.handoff_text(run_id, artifact) is None
        folder = data_dir / "runs" / run_id / "handoffs" / "a"
        folder.mkdir(parents=True)
        (folder / "HANDOFF.md").write_text("# Plan")
        assert await backend.handoff_text(run_id, artifact) == "# Plan"
        outside = replace(artifact, uri="run://handoffs/../HANDOFF.md")
        assert await backend.handoff_text(run_id, outside) is None
        (folder / "HANDOFF.md").unlink()
        (folder / "HANDOFF.md").mkdir()
        with pytest.raises(UserError, match="cannot be read"):
            await backend.handoff_text(run_id, artifact)
        await backend.aclose()

    run_async(body)
