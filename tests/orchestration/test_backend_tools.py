"""The door and the tools of its runs: what is offered, allowed for a run, and undone."""

from pathlib import Path
from typing import Any

import pytest

from engine.graph.agents import CallableAgent
from engine.graph.workflow import Workflow
from engine.vocabulary import events as ev
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.tools import CALL_SUBAGENT_TOOL, SEAL_PLAN_TOOL
from orchestration.backend import Backend
from orchestration.errors import EditNotUndone
from orchestration.settings.agent_store import AgentStore
from orchestration.settings.data_folder import agents_file, secrets_file
from orchestration.settings.model import Settings, ToolSettings
from orchestration.settings.secrets import FileSecrets
from orchestration.tools.catalogue import builtin_tools
from tests.support.engine_driver import ASKING, SUMMARY_SCHEMA, workflow
from tests.support.run_rig import request_of, run_async, scripted_backend
from tests.support.scripted_model import OK, ScriptedModel, use

YOLO = {"tools": {"approvalMode": "yolo"}}
SEARCHING = Settings(tools=ToolSettings(search_keys={"brave": "search.brave"}))


def backend_with(
    script: Any, data_dir: Path, settings: Settings | None = None
) -> tuple[Backend, ScriptedModel]:
    model = ScriptedModel(script)
    used = settings or Settings()
    return scripted_backend(model, data_dir, used, builtin_tools(used.tools)), model


async def finished(backend: Backend, flow: Workflow, cwd: Path) -> str:
    run_id = await backend.start_run(request_of(flow, cwd=cwd))
    assert isinstance(await backend.settled(run_id), RunCompleted)
    return run_id


def edit(old: str, new: str) -> Any:
    edits = [{"old_text": old, "new_text": new}]
    return use(("edit", {"path": "f.txt", "edits": edits}))


def names_offered(model: ScriptedModel, node_id: str = "a") -> list[str]:
    return [tool.name for tool in model.requests_of(node_id)[0].available_tools]


@pytest.mark.parametrize("has_key", [True, False])
def test_the_web_can_be_searched_where_there_is_a_key(
    data_dir: Path, tmp_path: Path, has_key: bool
) -> None:
    async def body() -> None:
        if has_key:
            FileSecrets(secrets_file(data_dir)).set("search.brave", "key")
        backend, model = backend_with({"a": [OK]}, data_dir, SEARCHING)
        await finished(backend, workflow(nodes=["a"]), tmp_path)
        assert ("web_search" in names_offered(model)) == has_key
        await backend.aclose()

    data_dir.mkdir(parents=True)
    run_async(body)


def test_keys_that_cannot_be_read_are_no_reason_not_to_run(data_dir: Path, tmp_path: Path) -> None:
    async def body() -> None:
        secrets_file(data_dir).write_text("no JSON")
        backend, model = backend_with({"a": [OK]}, data_dir, SEARCHING)
        run_id = await finished(backend, workflow(nodes=["a"]), tmp_path)
        assert "web_search" not in names_offered(model)
        notices = [row.content for row in backend.view(run_id).chat["a"] if row.role == "system"]
        assert any(notice.startswith("no node can search the web: ") for notice in notices)
        await backend.aclose()

    data_dir.mkdir(parents=True)
    run_async(body)


def test_only_the_node_that_plans_may_seal_the_plan(data_dir: Path, tmp_path: Path) -> None:
    flow = workflow(
        [("plan", "work")],
        agents={"plan": ASKING},
        settings={"plan_mode": {"evidence_source_node_id": "plan"}},
    )

    async def body() -> None:
        backend, model = backend_with(lambda request: OK, data_dir)
        run_id = await backend.start_run(request_of(flow, cwd=tmp_path))
        await backend.settled(run_id)
        offered = names_offered(model, "plan")
        assert SEAL_PLAN_TOOL in offered
        assert "bash" not in offered
        assert CALL_SUBAGENT_TOOL not in offered
        await backend.aclose()

    run_async(body)


def test_saved_agents_are_taken_along(data_dir: Path, tmp_path: Path) -> None:
    saved = CallableAgent(
        id="critic", name="Critic", task_prompt="Find faults.", output_schema=SUMMARY_SCHEMA
    )
    flow = workflow(nodes=["a"], agents={"a": {"callable_agents": ["critic"]}})

    async def body() -> None:
        AgentStore(agents_file(data_dir)).save([saved])
        backend, model = backend_with({"a": [OK]}, data_dir)
        await finished(backend, flow, tmp_path)
        offered = {tool.name: tool for tool in model.requests_of("a")[0].available_tools}
        assert "critic" in offered[CALL_SUBAGENT_TOOL].description
        await backend.aclose()

    data_dir.mkdir(parents=True)
    run_async(body)


def test_what_is_allowed_for_the_run_is_not_asked_about_again(
    data_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "f.txt").write_text("one\n")

    async def body() -> None:
        script = {"a": [edit("one", "two"), edit("two", "three"), OK]}
        backend, _ = backend_with(script, data_dir)
        run_id = await backend.start_run(request_of(workflow(nodes=["a"]), cwd=tmp_path))
        outcome = await backend.settled(run_id)
        assert isinstance(outcome, NeedsInteraction)
        (asked,) = outcome.approvals
        assert asked.rule is not None
        assert asked.preview is not None
        assert "+1|two" in asked.preview.files[0].diff
        await backend.decide(run_id, asked.approval_id, allow=True, for_run=True)
        assert isinstance(await backend.settled(run_id), RunCompleted)
        assert (tmp_path / "f.txt").read_text() == "three\n"
        await backend.aclose()

    run_async(body)


def test_edits_of_a_run_are_undone_by_name(data_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    file.write_text("one\n")

    async def body() -> None:
        backend, _ = backend_with({"a": [edit("one", "two"), edit("two", "three"), OK]}, data_dir)
        run_id = await finished(backend, workflow(nodes=["a"], defaults=YOLO), tmp_path)
        first, second = [batch.batch_id for batch in backend.view(run_id).edit_batches]
        with pytest.raises(EditNotUndone) as caught:
            await backend.revert_edit_batch(run_id, first)
        assert caught.value.labels == ("f.txt",)
        assert file.read_text() == "three\n"
        seen = backend.subscribe(run_id)
        report = await backend.revert_edit_batch(run_id, second)
        assert report.restored == ("f.txt",)
        assert file.read_text() == "two\n"
        assert [record.event for record in seen.drain()] == [ev.EditBatchUndone("a", second)]
        assert [batch.batch_id for batch in backend.view(run_id).edit_batches] == [first]
        with pytest.raises(EditNotUndone, match="undone already"):
            await backend.revert_edit_batch(run_id, second)
        file.write_text("mine\n")
        await backend.revert_edit_batch(run_id, first, force=True)
        assert file.read_text() == "one\n"
        assert backend.view(run_id).changed_files == []
        with pytest.raises(EditNotUndone, match="no edit"):
            await backend.revert_edit_batch(run_id, "unknown")
        await backend.aclose()

    run_async(body)
