"""Forks of stored runs: what came before is not paid for again, and what is other is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.vocabulary.report import RunCompleted
from engine.vocabulary.requests import AgentRequest
from orchestration.errors import (
    UserError,
)
from orchestration.runs.stored import ForkChanges
from tests.support.engine_driver import workflow
from tests.support.run_rig import request_of, run_async, scripted_backend
from tests.support.scripted_model import Scripted, ScriptedModel, summary, use
from tests.support.stored_door import asking_script, completed


def test_a_fork_with_another_prompt_repeats_nothing_before_it(data_dir: Path) -> None:
    async def body() -> None:
        model = ScriptedModel(asking_script)
        backend = scripted_backend(model, data_dir)
        parent = await completed(backend)
        before = len(model.requests)
        fork = await backend.fork_run(
            parent, node_id="b", turn=1, changes=ForkChanges(task_prompt="Other task.")
        )
        assert isinstance(await backend.settled(fork), RunCompleted)
        assert [request.node_id for request in model.requests[before:]] == ["b"]
        view = backend.view(fork)
        assert view.outputs["a"] == {"summary": "first"}
        assert "Other task." in view.outputs["b"]["summary"]
        (stored,) = [run for run in await backend.runs() if run.run_id == fork]
        assert stored.parent_id == parent
        assert stored.fork_seq is not None
        compared = await backend.compare_runs(parent, fork)
        same = {node.node_id: node.has_same_output for node in compared.nodes}
        assert same == {"a": True, "b": False}
        assert any("b" in sentence.lower() for sentence in compared.differences)
        assert (await backend.replay(parent)).outputs["a"] == {"summary": "first"}
        await backend.aclose()

    run_async(body)


def test_a_fork_with_another_answer_tells_it_as_if_it_had_been_said(data_dir: Path) -> None:
    async def body() -> None:
        model = ScriptedModel(asking_script)
        backend = scripted_backend(model, data_dir)
        parent = await completed(backend)
        before = len(model.requests)
        changes = ForkChanges(answer="second", model="larger")
        fork = await backend.fork_run(parent, node_id="a", turn=2, changes=changes)
        assert isinstance(await backend.settled(fork), RunCompleted)
        asked = [(request.node_id, request.model) for request in model.requests[before:]]
        assert asked == [("a", "larger"), ("b", "scripted")]
        view = backend.view(fork)
        assert view.outputs["a"] == {"summary": "second"}
        texts = [entry.content for entry in view.chat["a"]]
        assert "second" in texts
        assert "first" not in texts
        await backend.aclose()

    run_async(body)


def test_a_fork_with_another_tool_result_and_one_after_an_event(data_dir: Path) -> None:
    flow = workflow(nodes=["a"], defaults={"tools": {"approvalMode": "yolo"}})

    def script(request: AgentRequest) -> Scripted:
        results = [item for item in request.transcript if hasattr(item, "result")]
        if not results:
            return use(("write", {"path": "x", "content": "y"}))
        return summary(results[-1].result.content)

    async def body() -> None:
        model = ScriptedModel(script)
        backend = scripted_backend(model, data_dir)
        parent = await backend.start_run(request_of(flow, "go"))
        await backend.settled(parent)
        (call_id,) = backend.view(parent).tool_calls["a"]
        before = len(model.requests)
        changes = ForkChanges(tool_results={call_id: "something else"})
        fork = await backend.fork_run(parent, node_id="a", turn=2, changes=changes)
        await backend.settled(fork)
        assert backend.view(fork).outputs["a"] == {"summary": "something else"}
        assert len(model.requests) == before + 1

        written = data_dir / "written" / "x"
        written.unlink()
        records = await backend.stored_events(parent)
        proposed = next(r.seq for r in records if type(r.event).__name__ == "ToolCallProposed")
        late = await backend.fork_run(parent, seq=proposed)
        await backend.settled(late)
        assert backend.view(late).outputs["a"] == {"summary": "wrote x"}
        assert not written.exists(), "a call that had ended was made again"
        await backend.aclose()

    run_async(body)


def test_a_fork_that_cannot_be_is_refused_and_nothing_is_stored(data_dir: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(asking_script, data_dir)
        parent = await completed(backend)
        for where, changes in (
            ({"node_id": "nobody"}, ForkChanges()),
            ({"node_id": "b", "turn": 9}, ForkChanges()),
            ({"node_id": "a", "turn": 0}, ForkChanges()),
            ({"node_id": "b", "turn": 1}, ForkChanges(answer="x")),
            ({"node_id": "a", "turn": 1}, ForkChanges(tool_results={"c": "x"})),
            ({}, ForkChanges(answer="x")),
        ):
            with pytest.raises(UserError):
                await backend.fork_run(parent, changes=changes, **where)
        assert [run.run_id for run in await backend.runs()] == [parent]
        await backend.aclose()

    run_async(body)
