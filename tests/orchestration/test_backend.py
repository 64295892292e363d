"""The door: many runs at once, one a workflow, refusals, and the end of the program."""

import asyncio
import json
from pathlib import Path

import pytest

from engine.graph.workflow import RetryPolicy, Workflow
from engine.vocabulary.errors import RunIsOver, UnknownMessage, UnknownNode
from engine.vocabulary.events import NodeStarted
from engine.vocabulary.inputs import RuntimePatch
from engine.vocabulary.messages import UserMessage
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.tools import SUBMIT_TOOL, ApprovalMode
from orchestration.composition import open_backend
from orchestration.errors import (
    NoContinuableRun,
    RunAlreadyActive,
    RunNotFound,
    RunStillActive,
    UserError,
)
from orchestration.runs.requests import RunOverrides, RunRequest
from orchestration.runs.view_values import RunStatus, TraceStatus
from orchestration.settings.model import Limits, Settings
from tests.support.engine_driver import ASKING, workflow
from tests.support.loopback import Answer, Hang, LoopbackServer
from tests.support.run_rig import request_of, run_async, scripted_backend
from tests.support.scripted_model import OK, Held, ScriptedModel, ask, use
from tests.support.wire_scripts import ChatScript


def named(workflow_id: str) -> Workflow:
    return workflow(nodes=["a"], agents={"a": ASKING}).model_copy(update={"id": workflow_id})


def test_a_workflow_has_one_run_at_a_time_and_different_workflows_run_beside_it(
    data_dir: Path,
) -> None:
    async def body() -> None:
        backend = scripted_backend(lambda request: ask("?"), data_dir)
        one = await backend.start_run(request_of(named("one")))
        two = await backend.start_run(request_of(named("two")))
        await backend.settled(one)
        assert backend.active_run("one") == one
        with pytest.raises(RunAlreadyActive) as caught:
            await backend.start_run(request_of(named("one")))
        assert caught.value.run_id == one
        await backend.stop_run(one)
        assert backend.active_run("one") is None
        assert backend.view(two).active
        again = await backend.start_run(request_of(named("one")))
        assert again != one
        await backend.aclose()

    run_async(body)


def test_two_starts_of_one_workflow_at_the_same_moment_give_one_run(data_dir: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(lambda request: OK, data_dir)
        started = await asyncio.gather(
            *(backend.start_run(request_of(named("one"))) for _ in range(3)),
            return_exceptions=True,
        )
        assert sum(isinstance(result, str) for result in started) == 1
        assert sum(isinstance(result, RunAlreadyActive) for result in started) == 2
        await backend.aclose()

    run_async(body)


def test_a_refused_start_does_not_block_the_next_one(data_dir: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(lambda request: OK, data_dir)
        nowhere = request_of(named("one"), cwd=data_dir / "missing")
        with pytest.raises(UserError):
            await backend.start_run(nowhere)
        run_id = await backend.start_run(request_of(named("one")))
        assert isinstance(await backend.settled(run_id), RunCompleted)
        await backend.aclose()

    run_async(body)


def test_the_first_event_comes_after_start_has_returned(data_dir: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(lambda request: OK, data_dir)
        run_id = await backend.start_run(request_of(named("one")))
        subscription = backend.subscribe(run_id)
        await backend.settled(run_id)
        assert next(record.seq for record in subscription.drain()) == 1
        await backend.aclose()

    run_async(body)


def test_runs_that_are_over_make_room_but_never_one_that_is_on(data_dir: Path) -> None:
    async def body() -> None:
        model = ScriptedModel(lambda request: ask("?") if request.workflow_id == "w0" else OK)
        backend = scripted_backend(model, data_dir)
        run_ids = []
        for number in range(67):
            run_ids.append(await backend.start_run(request_of(named(f"w{number}"))))
            await backend.settled(run_ids[-1])
        assert backend.view(run_ids[0]).active
        for gone in run_ids[1:4]:
            with pytest.raises(RunNotFound):
                backend.view(gone)
        assert backend.view(run_ids[4]).status is RunStatus.COMPLETED
        await backend.aclose()

    run_async(body)


def test_a_run_is_steered_by_its_id(data_dir: Path) -> None:
    async def body() -> None:
        backend = scripted_backend({"a": [ask("One?"), ask("Two?"), OK]}, data_dir)
        run_id = await backend.start_run(request_of(named("one")))
        outcome = await backend.settled(run_id)
        assert isinstance(outcome, NeedsInteraction)
        await backend.answer(run_id, "a", "1", outcome.inputs[0].pause_id)
        await backend.settled(run_id)
        await backend.stop_run(run_id)
        await backend.continue_run(run_id)
        await backend.settled(run_id)
        await backend.send_message(run_id, "a", "2")
        assert isinstance(await backend.settled(run_id), RunCompleted)
        with pytest.raises(NoContinuableRun):
            await backend.continue_run(run_id)
        with pytest.raises(RunNotFound):
            await backend.stop_run("no-such-run")
        await backend.aclose()

    run_async(body)


def test_the_trace_of_a_run_that_is_over_can_be_cleared_and_its_chat_stays(data_dir: Path) -> None:
    async def body() -> None:
        backend = scripted_backend({"a": [ask("One?"), OK]}, data_dir)
        run_id = await backend.start_run(request_of(named("one"), "Go"))
        await backend.settled(run_id)
        view = backend.view(run_id)
        with pytest.raises(RunStillActive):
            backend.clear_trace(run_id)
        assert view.trace
        assert not backend.is_continuable(run_id), "it is on"
        await backend.stop_run(run_id)
        assert backend.is_continuable(run_id)
        backend.clear_trace(run_id)
        assert (view.trace, view.timings["a"].queued_at is None) == ([], False)
        assert [entry.content for entry in view.chat["a"]] == ["Go", "One?"]
        await backend.continue_run(run_id, "a", "1")
        assert isinstance(await backend.settled(run_id), RunCompleted)
        assert view.trace[-1].status is TraceStatus.COMPLETED
        assert not backend.is_continuable(run_id), "it has completed"
        await backend.aclose()

    run_async(body)


def test_a_stopped_run_does_not_go_on_beside_a_new_one_of_its_workflow(data_dir: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(lambda request: ask("?"), data_dir)
        old = await backend.start_run(request_of(named("one")))
        await backend.settled(old)
        await backend.stop_run(old)
        await backend.start_run(request_of(named("one")))
        with pytest.raises(RunAlreadyActive):
            await backend.continue_run(old)
        await backend.aclose()

    run_async(body)


def test_a_node_is_patched_in_mid_run(data_dir: Path) -> None:
    async def body() -> None:
        first = Held(use(("write", {"path": "x", "content": "y"})))
        model = ScriptedModel({"a": [first, OK]})
        backend = scripted_backend(model, data_dir)
        run_id = await backend.start_run(request_of(named("one")))
        await first.begun.wait()
        yolo = RuntimePatch(model="better", approval_mode=ApprovalMode.YOLO)
        await backend.patch_node(run_id, "a", yolo)
        await backend.patch_node(run_id, "a", RuntimePatch(reasoning_effort="high", fast_mode=True))
        with pytest.raises(UnknownNode):
            await backend.patch_node(run_id, "nobody", yolo)
        first.release.set()
        assert isinstance(await backend.settled(run_id), RunCompleted)
        before, after = model.requests
        assert (before.model, before.reasoning_effort, before.fast_mode) == (
            "scripted",
            None,
            False,
        )
        assert (after.model, after.reasoning_effort, after.fast_mode) == ("better", "high", True)
        assert (data_dir / "written" / "x").exists(), "nobody was asked"
        with pytest.raises(RunIsOver):
            await backend.patch_node(run_id, "a", yolo)
        await backend.aclose()

    run_async(body)


def test_a_live_message_is_edited_and_withdrawn_through_the_door(data_dir: Path) -> None:
    async def body() -> None:
        first = Held(use(("read", {"path": "nothing"})))
        model = ScriptedModel({"a": [first, OK]})
        backend = scripted_backend(model, data_dir)
        run_id = await backend.start_run(request_of(named("one")))
        await first.begun.wait()
        kept = await backend.send_message(run_id, "a", "wrong")
        gone = await backend.send_message(run_id, "a", "unwanted")
        await backend.edit_message(run_id, kept, "right")
        await backend.withdraw_message(run_id, gone)
        with pytest.raises(UnknownMessage):
            await backend.edit_message(run_id, gone, "too late")
        first.release.set()
        assert isinstance(await backend.settled(run_id), RunCompleted)
        said = [item.content for item in model.requests[-1].transcript if type(item) is UserMessage]
        assert said == ["right"]
        with pytest.raises(RunIsOver):
            await backend.withdraw_message(run_id, kept)
        await backend.aclose()

    run_async(body)


def test_limits_come_from_the_settings_and_can_be_changed_while_runs_are_on(
    data_dir: Path,
) -> None:
    async def body() -> None:
        held = [Held(OK) for _ in range(5)]
        turns = iter(held)
        model = ScriptedModel(lambda request: next(turns))
        settings = Settings(limits=Limits(provider_calls=2))
        backend = scripted_backend(model, data_dir, settings)
        wide = workflow(nodes=["a", "b", "c", "d", "e"])
        run_id = await backend.start_run(request_of(wide))
        await held[1].begun.wait()
        assert (model.in_flight, held[2].begun.is_set()) == (2, False)
        backend.set_limits(Limits(provider_calls=4))
        await held[3].begun.wait()
        assert (model.in_flight, held[4].begun.is_set()) == (4, False)
        backend.set_limits(Limits(provider_calls=1))
        for gate in held:
            gate.release.set()
        assert isinstance(await backend.settled(run_id), RunCompleted)
        assert model.most_in_flight == 4
        with pytest.raises(ValueError, match="tools"):
            Limits(tools=0)
        await backend.aclose()

    run_async(body)


def test_interrupting_a_node_reaches_the_socket_and_a_retry_takes_a_message_along(
    data_dir: Path,
) -> None:
    async def body(server: LoopbackServer) -> None:
        backend = open_backend(data_dir, env={})
        overrides = RunOverrides(base_url=server.url, model="m", wire="chat")
        run_id = await backend.start_run(RunRequest(named("one"), "Go", overrides))
        assert await asyncio.to_thread(server.was_asked.wait, 20)
        await backend.interrupt_node(run_id, "a")
        assert await asyncio.to_thread(server.client_gone.wait, 1)
        outcome = await backend.settled(run_id)
        assert isinstance(outcome, NeedsInteraction)
        assert [node.interrupted for node in outcome.retryables] == [True]
        arguments = json.dumps({"output": {"summary": "ok"}, "assistant_message": None})
        server.play(ChatScript().answer(calls=(("c1", SUBMIT_TOOL, arguments),)))
        await backend.retry_node(run_id, "a", "be quick")
        assert isinstance(await backend.settled(run_id), RunCompleted)
        assert b"be quick" in server.last.body
        await backend.aclose()

    with LoopbackServer(Answer((Hang(),))) as server:
        run_async(lambda: body(server))


def test_a_wait_that_the_service_asks_for_is_kept_over_http(data_dir: Path) -> None:
    async def body(server: LoopbackServer) -> None:
        backend = open_backend(data_dir, env={})
        arguments = json.dumps({"output": {"summary": "ok"}, "assistant_message": None})
        server.play(
            ChatScript().refusal(429, "slow down", retry_after="1"),
            ChatScript().answer(calls=(("c1", SUBMIT_TOOL, arguments),)),
        )
        flow = named("one")
        hasty = flow.settings.model_copy(update={"retry_policy": RetryPolicy(backoff_ms=0)})
        overrides = RunOverrides(base_url=server.url, model="m", wire="chat")
        request = RunRequest(flow.model_copy(update={"settings": hasty}), "Go", overrides)
        run_id = await backend.start_run(request)
        events = backend.subscribe(run_id)
        assert isinstance(await backend.settled(run_id), RunCompleted)
        starts = [r.time for r in events.drain() if isinstance(r.event, NodeStarted)]
        assert len(starts) == 2
        assert starts[1] - starts[0] >= 1.0
        await backend.aclose()

    with LoopbackServer() as server:
        run_async(lambda: body(server))


def test_closing_stops_what_runs_and_is_harmless_when_repeated(data_dir: Path) -> None:
    async def body() -> None:
        held = Held(OK)
        backend = scripted_backend({"a": [held]}, data_dir)
        run_id = await backend.start_run(request_of(named("one")))
        await held.begun.wait()
        view = backend.view(run_id)
        await backend.aclose()
        await backend.aclose()
        assert held.cancelled
        assert view.status is RunStatus.STOPPED
        with pytest.raises(RunIsOver):
            await backend.answer(run_id, "a", "x")

    run_async(body)


def test_stopping_a_run_reaches_the_socket(data_dir: Path) -> None:
    async def body(server: LoopbackServer) -> None:
        backend = open_backend(data_dir, env={})
        overrides = RunOverrides(base_url=server.url, model="m")
        flow = named("one")
        run_id = await backend.start_run(RunRequest(flow, "Go", overrides))
        assert await asyncio.to_thread(server.was_asked.wait, 20)
        await backend.stop_run(run_id)
        assert await asyncio.to_thread(server.client_gone.wait, 20)
        assert backend.view(run_id).status is RunStatus.STOPPED
        await backend.aclose()

    with LoopbackServer(Answer((Hang(),))) as server:
        run_async(lambda: body(server))


def test_opening_a_backend_reads_the_settings_and_loads_no_heavy_library(data_dir: Path) -> None:
    data_dir.mkdir(parents=True)
    (data_dir / "settings.json").write_text("{ broken")
    backend = open_backend(data_dir, env={})
    (notice,) = backend.notices
    assert "settings.json" in notice
    assert backend.data_dir == data_dir
    assert {state.id for state in backend.providers()} >= {"openai", "embedded"}
    asyncio.run(backend.aclose())


def test_a_provider_that_does_not_exist_cannot_be_checked(data_dir: Path) -> None:
    async def body() -> None:
        backend = open_backend(data_dir, env={})
        with pytest.raises(UserError, match="no-such"):
            await backend.check_provider("no-such")
        with pytest.raises(UserError, match="OPENAI_API_KEY"):
            await backend.check_provider("openai")
        await backend.aclose()

    run_async(body)


def test_a_skill_that_is_not_there_is_told_while_the_workflow_is_edited(
    data_dir: Path, tmp_path: Path
) -> None:
    home, folder = tmp_path / "home", tmp_path / "project"
    backend = open_backend(data_dir, env={"HOME": str(home)})
    folder.mkdir()
    project = backend.library.add_project(folder)
    path = project.workflows / "a.workflow.json"
    calling = workflow(nodes=["a"])
    agent = calling.nodes[0].agent
    assert agent is not None
    agent = agent.model_copy(update={"task_prompt": "/review this"})
    node = calling.nodes[0].model_copy(update={"agent": agent})
    calling = calling.model_copy(update={"nodes": (node,)})

    def missing() -> list[str | None]:
        found = backend.problems(calling, RunOverrides(provider="embedded"), path)
        return [problem.node_id for problem in found if problem.code == "skill_not_found"]

    assert missing() == ["a"]
    skill = folder / ".flow" / "skills" / "review"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\ndescription: Reviews.\n---\nRead twice.\n", "utf-8")
    assert missing() == []
    asyncio.run(backend.aclose())


def test_problems_and_readiness_are_told_without_running_anything(data_dir: Path) -> None:
    backend = open_backend(data_dir, env={})
    broken = workflow([("a", "b"), ("b", "a")])
    assert "cycle" in {problem.code for problem in backend.problems(broken)}
    unready = backend.readiness(workflow(nodes=["a"]), RunOverrides(provider="openai"))
    assert not unready.ready
    assert "OPENAI_API_KEY" in unready.sentence
    asyncio.run(backend.aclose())
