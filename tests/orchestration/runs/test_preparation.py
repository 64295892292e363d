from __future__ import annotations

from pathlib import Path

import pytest

from engine.graph.agents import CallableAgent
from engine.graph.node_config import McpResourceSelection
from engine.graph.workflow import PlanMode, WorkflowSettings
from orchestration.errors import RunRefused, UserError
from orchestration.runs.preparation import connection_to, problems
from orchestration.runs.requests import RunOverrides
from orchestration.settings.agent_store import AgentStore
from orchestration.settings.data_folder import agents_file
from orchestration.settings.model import ProviderProfile, Settings
from orchestration.settings.provider_choice import Readiness
from orchestration.settings.readiness import Providers
from providers.config import ProviderConfig, Secret
from providers.specs import Wire
from tests.support.graphs import agent_node, graph
from tests.support.preparation_desk import Desk, Keys, agent, answered_by, one


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_missing_key_names_provider_and_variable(desk: Desk) -> None:
    desk.env = {"GROQ_API_KEY": "k"}
    workflow = graph(
        [agent_node("a", provider_id="groq"), agent_node("b", provider_id="openai", model="")]
    )
    (message,) = desk.refusals(workflow)
    assert "node 'b'" in message
    assert "OpenAI" in message
    assert "OPENAI_API_KEY" in message
    assert "--provider embedded" in message


def test_a_blank_variable_holds_no_key(desk: Desk) -> None:
    desk.env = {"OPENAI_API_KEY": "  "}
    assert "OPENAI_API_KEY" in desk.refusals(one(provider_id="openai"))[0]


def test_a_stored_key_wins_over_the_environment_which_stands_in_where_it_is_gone(
    desk: Desk,
) -> None:
    desk.settings = Settings(providers={"openai": ProviderProfile(key_ref="openai")})
    desk.keys = Keys(openai="stored")
    run = desk.prepare(one())
    assert answered_by(run) == ("openai", "gpt-4o-mini")
    key = run.connections["openai"].api_key
    assert key is not None
    assert key.reveal() == "stored"
    desk.env = {"OPENAI_API_KEY": "env"}
    key = desk.prepare(one()).connections["openai"].api_key
    assert key is not None
    assert key.reveal() == "stored"
    desk.keys = Keys(openai=None)
    key = desk.prepare(one()).connections["openai"].api_key
    assert key is not None
    assert key.reveal() == "env"


def test_a_stored_key_that_is_gone_is_a_problem_of_each_node(desk: Desk) -> None:
    desk.settings = Settings(
        active_provider="openai", providers={"openai": ProviderProfile(key_ref="openai")}
    )
    desk.keys = Keys(openai=None)
    messages = desk.refusals(graph([agent_node("a", model=""), agent_node("b", model="")]))
    assert ["node 'a'" in messages[0], "node 'b'" in messages[1]] == [True, True]
    assert "OPENAI_API_KEY" in messages[0]


def test_a_store_that_cannot_be_read_is_a_problem_too(desk: Desk) -> None:
    class Broken(Keys):
        def get(self, name: str) -> str | None:
            raise UserError("the file of keys is damaged")

    desk.settings = Settings(providers={"openai": ProviderProfile(key_ref="openai")})
    desk.keys = Broken()
    assert "the file of keys is damaged" in desk.refusals(one())[0]
    desk.env = {"OPENAI_API_KEY": "env"}
    key = desk.prepare(one()).connections["openai"].api_key
    assert key is not None
    assert key.reveal() == "env"


def test_local_and_custom_endpoints_need_no_key(desk: Desk) -> None:
    for provider in ("ollama", "lmstudio", "custom_openai_compatible"):
        assert desk.prepare(one(provider_id=provider)).connections[provider].api_key is None
        assert desk.readiness(one(provider_id=provider)).ready


@pytest.mark.parametrize("provider", ["bedrock", "openai-codex"])
def test_a_service_that_cannot_be_used_yet_says_why(desk: Desk, provider: str) -> None:
    (message,) = desk.refusals(one(provider_id=provider))
    assert "yet" in message


def test_a_profile_changes_address_wire_model_and_patience(desk: Desk) -> None:
    desk.settings = Settings(
        providers={
            "ollama": ProviderProfile(
                base_url="http://box:1/v1",
                wire="responses",
                default_model="mine",
                model_wires={"other": "messages"},
                timeout_s=7,
                reasoning_effort="low",
            )
        }
    )
    run = desk.prepare(one(provider_id="ollama"))
    connection = run.connections["ollama"]
    assert answered_by(run) == ("ollama", "mine")
    assert (connection.base_url, connection.timeout_s) == ("http://box:1/v1", 7)
    assert connection.wire_for("mine") is Wire.RESPONSES
    assert connection.wire_for("other") is Wire.MESSAGES
    forced = desk.prepare(one(provider_id="ollama"), wire="chat").connections["ollama"]
    assert forced.wire_for("other") is Wire.CHAT


def test_one_provider_is_reached_outside_of_a_run(desk: Desk) -> None:
    def reach(provider: str) -> ProviderConfig:
        return connection_to(
            provider,
            settings=desk.settings,
            secrets=desk.keys,
            env=desk.env,
            embedded=desk.embedded,
        )

    with pytest.raises(UserError, match="'nope'"):
        reach("nope")
    with pytest.raises(UserError, match="GROQ_API_KEY"):
        reach("groq")
    desk.env = {"GROQ_API_KEY": "k"}
    assert reach("groq").api_key == Secret("k")


def test_every_node_has_its_effort_resolved(desk: Desk) -> None:
    desk.settings = Settings(providers={"ollama": ProviderProfile(reasoning_effort="low")})
    nodes = [agent_node("a", reasoning_effort="high"), agent_node("b")]
    here, elsewhere = WorkflowSettings(reasoning_effort="medium"), WorkflowSettings()
    run = desk.prepare(graph(nodes, settings=here), provider="ollama")
    assert [agent(run, node).reasoning_effort for node in "ab"] == ["high", "medium"]
    run = desk.prepare(graph(nodes, settings=elsewhere), provider="ollama")
    assert [agent(run, node).reasoning_effort for node in "ab"] == ["high", "low"]


def test_all_problems_come_at_once_each_with_its_node(desk: Desk, tmp_path: Path) -> None:
    workflow = graph(
        [
            agent_node("a", task_prompt=" ", provider_id="nope"),
            agent_node("b", model="gpt-5.5"),
            agent_node("c", model="", output_schema={"type": "object", "required": 5}),
        ],
        [("a", "b"), ("b", "a")],
        WorkflowSettings(plan_mode=PlanMode(evidence_source_node_id="c")),
    )
    found = problems(
        workflow,
        RunOverrides(),
        settings=desk.settings,
        env=desk.env,
        registry=desk.registry,
        embedded=desk.embedded,
        cwd=tmp_path / "none",
    )
    assert {(problem.code, problem.node_id) for problem in found} == {
        ("blank_prompt", "a"),
        ("unknown_provider", "a"),
        ("no_provider_for_model", "b"),
        ("invalid_output_schema", "c"),
        ("cycle", "a"),
        ("plan_mode_source_not_interactive", "c"),
        ("plan_mode_not_available", "c"),
        ("bad_cwd", None),
    }
    assert len(desk.refusals(workflow, tmp_path / "none")) == 8


def test_an_unlinked_workflow_runs_in_a_managed_folder(desk: Desk) -> None:
    run = desk.prepare(one())
    assert run.cwd == (desk.data_dir / "workspaces" / "workflows" / "wf").resolve()
    assert run.cwd.is_dir()


def test_a_chosen_folder_is_used_as_it_is(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    assert desk.prepare(one(), folder).cwd == folder.resolve()
    (tmp_path / "file").write_text("")
    assert "is not a folder" in desk.refusals(one(), tmp_path / "file")[0]


def test_a_data_folder_that_cannot_be_used_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunRefused, match="--data-dir"):
        Desk(tmp_path / "file").prepare(one())


def test_an_mcp_selection_without_a_server_is_frozen_as_an_error(desk: Desk) -> None:
    resource = McpResourceSelection(server_id="docs", uri="file:///a")
    run = desk.prepare(one(mcp_resources=(resource,)))
    (snapshot,) = agent(run).mcp_context_snapshots
    assert (snapshot.kind, snapshot.server_id, snapshot.source) == ("resource", "docs", "file:///a")
    assert snapshot.error == "the MCP server 'docs' is not connected"
    assert any("no MCP server" in notice for notice in run.notices)


def save_agents(desk: Desk, *agents: CallableAgent) -> None:
    AgentStore(agents_file(desk.data_dir)).save(agents)


def saved_agent(agent_id: str, **changes: object) -> CallableAgent:
    fields: dict[str, object] = {"id": agent_id, "name": agent_id, "output_schema": {}}
    return CallableAgent.model_validate(fields | changes)


def test_the_saved_agents_of_a_run_are_frozen_when_it_is_prepared(desk: Desk) -> None:
    save_agents(desk, saved_agent("helper", model="m"), saved_agent("other"))
    run = desk.prepare(one(callable_agents=("helper", "gone")))
    save_agents(desk)

    assert set(run.agents) == {"helper"}
    assert run.agents["helper"].model == "m"
    (notice,) = [notice for notice in run.notices if "saved agent" in notice]
    assert "'gone'" in notice
    assert "node 'a'" in notice


def test_all_saved_agents_go_along_if_a_node_may_call_all(desk: Desk) -> None:
    save_agents(desk, saved_agent("helper"), saved_agent("other"))

    assert set(desk.prepare(one(allow_all_callable_agents=True)).agents) == {"helper", "other"}
    assert desk.prepare(one()).agents == {}


def test_an_override_for_every_node_is_one_for_the_agents_that_they_call(desk: Desk) -> None:
    save_agents(desk, saved_agent("helper", model="m"))
    run = desk.prepare(one(callable_agents=("helper",)), provider="embedded")

    assert run.agents["helper"].model == ""


def test_an_agent_that_cannot_answer_is_a_problem_of_the_node_that_may_call_it(desk: Desk) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "nothing"}}}
    save_agents(desk, saved_agent("helper", output_schema=schema))
    (message,) = desk.refusals(one(callable_agents=("helper",)))

    assert "saved agent 'helper'" in message
    assert "node 'a'" in message
    assert desk.prepare(one()).agents == {}


def test_damaged_saved_agents_are_told_and_keep_no_run_from_starting(desk: Desk) -> None:
    desk.data_dir.mkdir(exist_ok=True)
    agents_file(desk.data_dir).write_text("{")

    assert any("is damaged" in notice for notice in desk.prepare(one()).notices)


def test_readiness_says_who_answers_or_what_is_missing(desk: Desk) -> None:
    assert desk.readiness(None) == Readiness(
        True, "demo model: runs on your computer, makes things up", "embedded", True
    )
    missing = desk.readiness(graph([agent_node("a", model="gpt-5.5"), agent_node("b", model="x")]))
    assert not missing.ready
    assert missing.sentence.endswith("(and 1 more)")
    desk.settings = Settings(active_provider="openai")
    assert "OPENAI_API_KEY" in desk.readiness(None).sentence
    desk.env = {"OPENAI_API_KEY": "k"}
    assert desk.readiness(one()) == Readiness(True, "answered by OpenAI", "openai", False)


def test_the_list_of_providers_says_what_each_lacks(desk: Desk) -> None:
    desk.settings = Settings(active_provider="groq")
    desk.env = {"GROQ_API_KEY": "k"}
    found = {s.id: s for s in Providers(desk.settings, desk.env, desk.embedded).all()}
    assert (found["groq"].ready, found["groq"].is_active, found["groq"].has_key) == (
        True,
        True,
        True,
    )
    assert "OPENAI_API_KEY" in found["openai"].reason
    assert found["embedded"].is_demo
    assert found["embedded"].ready
    assert not found["bedrock"].ready


@pytest.mark.parametrize("name", ["~nobody-of-that-name", "a\0b", "x" * 5000, "file/below"])
def test_an_execution_folder_that_cannot_be_is_a_problem(desk: Desk, name: str) -> None:
    desk.data_dir.mkdir(exist_ok=True)
    (desk.data_dir / "file").write_text("no folder")
    (refusal,) = desk.refusals(
        graph([agent_node("a", model="", provider_id="embedded")]), Path(name)
    )
    assert "is not a folder" in refusal


def test_a_data_folder_that_takes_no_runs_is_found_before_the_run(desk: Desk) -> None:
    desk.data_dir.mkdir(exist_ok=True)
    (desk.data_dir / "runs").write_text("a file where the folder should be")
    (refusal,) = desk.refusals(graph([agent_node("a", model="", provider_id="embedded")]))
    assert "nothing can be stored in" in refusal
    assert "--data-dir" in refusal


def test_the_files_of_an_example_are_put_into_its_new_folder_once(desk: Desk) -> None:
    workflow = one().model_copy(update={"id": "bug-fix"})
    folder = desk.prepare(workflow).cwd
    basket = folder / "shop" / "basket.py"
    assert "def goods" in basket.read_text(encoding="utf-8")
    assert not list(folder.rglob("__pycache__"))

    basket.write_text("corrected", encoding="utf-8")
    assert desk.prepare(workflow).cwd == folder
    assert basket.read_text(encoding="utf-8") == "corrected"
    assert list(desk.prepare(one()).cwd.iterdir()) == []


def test_a_workflow_with_a_long_id_has_a_folder(desk: Desk) -> None:
    workflow = graph([agent_node("a", model="", provider_id="embedded")])
    prepared = desk.prepare(workflow.model_copy(update={"id": "x" * 5000}))
    assert prepared.cwd.is_dir()
