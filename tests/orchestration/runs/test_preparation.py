from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from engine.graph.node_config import AgentNodeConfig, McpResourceSelection
from engine.graph.workflow import PlanMode, Workflow, WorkflowSettings
from orchestration.errors import RunRefused, UserError
from orchestration.runs.preparation import PreparedRun, connection_to, prepare, problems
from orchestration.runs.requests import RunOverrides, RunRequest
from orchestration.settings.model import ProviderProfile, Settings
from orchestration.settings.provider_choice import Readiness, readiness
from orchestration.settings.readiness import Providers
from orchestration.tools.builtin.read import READ
from orchestration.tools.registry import ToolRegistry
from providers.config import ProviderConfig, Secret
from providers.specs import Wire
from tests.support.graphs import agent_node, graph


class Available(Struct, frozen=True):
    ready: bool = True
    reason: str = ""


class Embedded(Struct, frozen=True):
    state: Available = Available()

    def availability(self) -> Available:
        return self.state


class Keys:
    """A secret store that refuses to be asked for anything it was not given."""

    def __init__(self, **values: str | None) -> None:
        self._values = values

    def get(self, name: str) -> str | None:
        return self._values[name]

    def set(self, name: str, value: str) -> None:
        raise AssertionError(name)

    def delete(self, name: str) -> None:
        raise AssertionError(name)

    def place(self) -> str:
        return "a test"


class Desk:
    """Prepares runs in one data folder."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.settings = Settings()
        self.env: dict[str, str] = {}
        self.keys = Keys()
        self.embedded = Embedded()
        self.registry = ToolRegistry([READ])

    def prepare(self, workflow: Workflow, cwd: Path | None = None, **overrides: Any) -> PreparedRun:
        return prepare(
            RunRequest(workflow, overrides=RunOverrides(**overrides), cwd=cwd),
            settings=self.settings,
            secrets=self.keys,
            env=self.env,
            registry=self.registry,
            data_dir=self.data_dir,
            embedded=self.embedded,
        )

    def refusals(self, workflow: Workflow, cwd: Path | None = None, **overrides: Any) -> list[str]:
        with pytest.raises(RunRefused) as caught:
            self.prepare(workflow, cwd, **overrides)
        assert not (self.data_dir / "workspaces").exists()
        return [problem.message for problem in caught.value.problems]

    def readiness(self, workflow: Workflow | None, **overrides: Any) -> Readiness:
        providers = Providers(self.settings, self.env, self.embedded)
        return readiness(workflow, RunOverrides(**overrides), providers)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def one(settings: WorkflowSettings | None = None, **config: Any) -> Workflow:
    return graph([agent_node("a", **{"model": "", **config})], settings=settings)


def agent(run: PreparedRun, node_id: str = "a") -> AgentNodeConfig:
    found = run.workflow.node(node_id).agent
    assert found is not None
    return found


def answered_by(run: PreparedRun, node_id: str = "a") -> tuple[str | None, str]:
    return agent(run, node_id).provider_id, agent(run, node_id).model


# Which provider


def test_a_node_that_names_nothing_uses_the_active_provider(desk: Desk) -> None:
    desk.settings = Settings(active_provider="anthropic")
    desk.env = {"OPENAI_API_KEY": "k1", "ANTHROPIC_API_KEY": "k2"}
    run = desk.prepare(one())
    assert answered_by(run) == ("anthropic", "claude-3-5-sonnet-latest")
    assert set(run.connections) == {"anthropic"}
    key = run.connections["anthropic"].api_key
    assert key is not None
    assert key.reveal() == "k2"


def test_without_an_active_provider_the_first_with_a_key_is_used(desk: Desk) -> None:
    desk.env = {"MISTRAL_API_KEY": "k", "GROQ_API_KEY": "k"}
    assert answered_by(desk.prepare(one())) == ("groq", "llama-3.1-8b-instant")


def test_at_last_the_embedded_model_answers_and_the_run_says_so(desk: Desk) -> None:
    run = desk.prepare(one())
    assert answered_by(run) == ("embedded", "embedded")
    assert run.nodes_without_tools == {"a"}
    assert len(run.notices) == 1
    assert run.notices[0].startswith("demo model: ")


def test_a_node_wins_over_its_workflow_and_that_over_the_active_provider(desk: Desk) -> None:
    desk.settings = Settings(active_provider="openai")
    desk.env = {"OPENAI_API_KEY": "1", "GROQ_API_KEY": "2", "XAI_API_KEY": "3"}
    workflow = graph(
        [agent_node("a", model="m", provider_id="xai"), agent_node("b", model="m")],
        settings=WorkflowSettings(provider_id="groq"),
    )
    run = desk.prepare(workflow)
    assert answered_by(run, "a") == ("xai", "m")
    assert answered_by(run, "b") == ("groq", "m")
    assert set(run.connections) == {"xai", "groq"}


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("gpt-5.5", "openai"),
        ("o4-mini", "openai"),
        ("claude-opus-9", "anthropic"),
        ("someone/some-model", "openrouter"),
        ("grok-9", "xai"),
    ],
)
def test_a_named_model_goes_to_a_provider_that_offers_its_family(
    desk: Desk, model: str, provider: str
) -> None:
    names = ("MISTRAL", "ANTHROPIC", "OPENAI", "OPENROUTER", "XAI")
    desk.env = {f"{name}_API_KEY": "k" for name in names}
    assert answered_by(desk.prepare(one(model=model))) == (provider, model)


def test_the_active_provider_is_asked_for_any_model(desk: Desk) -> None:
    desk.settings = Settings(active_provider="ollama")
    assert answered_by(desk.prepare(one(model="gpt-5.5"))) == ("ollama", "gpt-5.5")


def test_a_named_model_that_nobody_offers_is_a_problem_with_a_way_to_try(desk: Desk) -> None:
    (message,) = desk.refusals(one(model="gpt-5.5"))
    assert "node 'a'" in message
    assert "'gpt-5.5'" in message
    assert "OPENAI_API_KEY" in message
    assert "--provider embedded" in message


def test_the_embedded_model_never_answers_for_another_unasked(desk: Desk) -> None:
    desk.settings = Settings(active_provider="embedded")
    (message,) = desk.refusals(one(model="gpt-5.5"))
    assert "--provider embedded" in message
    (message,) = desk.refusals(one(model="gpt-5.5", provider_id="embedded"))
    assert "--provider embedded" in message


def test_with_provider_embedded_it_answers_for_every_node(desk: Desk) -> None:
    workflow = graph(
        [agent_node("a", model="gpt-5.5", provider_id="openai"), agent_node("b", model="")],
        settings=WorkflowSettings(output_repair_model="gpt-4o", provider_id="groq"),
    )
    run = desk.prepare(workflow, provider="embedded")
    assert answered_by(run, "a") == answered_by(run, "b") == ("embedded", "embedded")
    assert run.workflow.settings.output_repair_model is None
    assert run.nodes_without_tools == {"a", "b"}
    assert "every node" in run.notices[0]


def test_an_embedded_model_that_cannot_start_is_a_problem_that_says_why(desk: Desk) -> None:
    desk.embedded = Embedded(Available(False, "the package xllamacpp is not installed"))
    (message,) = desk.refusals(one())
    assert "xllamacpp is not installed" in message


def test_the_override_counts_for_every_node_and_keeps_their_models(desk: Desk) -> None:
    desk.env = {"GROQ_API_KEY": "k"}
    workflow = graph([agent_node("a", model="m", provider_id="openai"), agent_node("b", model="")])
    run = desk.prepare(workflow, provider="groq")
    assert answered_by(run, "a") == ("groq", "m")
    assert answered_by(run, "b") == ("groq", "llama-3.1-8b-instant")
    run = desk.prepare(workflow, provider="groq", model="x")
    assert answered_by(run, "a") == answered_by(run, "b") == ("groq", "x")


def test_an_address_alone_means_the_custom_endpoint_and_no_other_services_key(desk: Desk) -> None:
    desk.env = {"OPENAI_API_KEY": "secret"}
    run = desk.prepare(one(model="m"), base_url="http://127.0.0.1:9/v1", wire="messages")
    connection = run.connections["custom_openai_compatible"]
    assert connection.base_url == "http://127.0.0.1:9/v1"
    assert connection.wire is Wire.MESSAGES
    assert connection.api_key is None
    assert "secret" not in repr(run)


def test_a_provider_keeps_its_key_at_another_address(desk: Desk) -> None:
    desk.env = {"OPENAI_API_KEY": "k"}
    run = desk.prepare(one(), provider="openai", base_url="https://proxy.example/v1")
    connection = run.connections["openai"]
    assert connection.base_url == "https://proxy.example/v1"
    assert connection.api_key is not None


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"provider": "nope"}, "'nope'"),
        ({"wire": "smoke"}, "'smoke'"),
        ({"base_url": "localhost:1"}, "http://"),
        ({"provider": "embedded", "model": "x"}, "--model"),
    ],
)
def test_an_option_that_means_nothing_is_one_problem(
    desk: Desk, overrides: dict[str, Any], words: str
) -> None:
    (message,) = desk.refusals(graph("abc"), **overrides)
    assert words in message


# Keys


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


def test_a_stored_key_is_used_and_the_environment_wins_over_it(desk: Desk) -> None:
    desk.settings = Settings(providers={"openai": ProviderProfile(key_ref="openai")})
    desk.keys = Keys(openai="stored")
    run = desk.prepare(one())
    assert answered_by(run) == ("openai", "gpt-4o-mini")
    key = run.connections["openai"].api_key
    assert key is not None
    assert key.reveal() == "stored"
    desk.env = {"OPENAI_API_KEY": "env"}
    desk.keys = Keys()
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


# Everything else


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


def test_saved_agents_that_cannot_be_called_are_told(desk: Desk) -> None:
    run = desk.prepare(one(callable_agents=("helper",)))
    assert any("saved agents" in notice for notice in run.notices)


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
