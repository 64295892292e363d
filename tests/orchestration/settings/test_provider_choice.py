from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.graph.workflow import WorkflowSettings
from orchestration.settings.model import Settings
from providers.specs import Wire
from tests.support.graphs import agent_node, graph
from tests.support.preparation_desk import Available, Desk, Embedded, answered_by, one


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


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
