"""Probing a service: one sentence that says what is wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from providers.config import configured
from providers.factory import ProbeReport, ProviderPool
from providers.specs import SPECS, Wire
from tests.support.loopback import (
    Answer,
    Hang,
    LoopbackServer,
    html_answer,
    json_answer,
    refused_url,
)
from tests.support.wire_runs import KEY

LIST = {"object": "list", "data": [{"id": "b"}, {"id": "a:latest"}, {"id": "b"}, {"no": 1}]}


def probed(base_url: str, model: str = "", **changes: Any) -> ProbeReport:
    spec = SPECS[changes.pop("provider_id", "custom_openai_compatible")]
    config = configured(spec, base_url=base_url, **{"api_key": KEY, **changes})

    async def run() -> ProbeReport:
        pool = ProviderPool()
        try:
            return await pool.probe(config, model)
        finally:
            await pool.aclose()

    report = asyncio.run(run())
    assert KEY not in report.sentence
    assert report.sentence.endswith(".")
    assert "\n" not in report.sentence
    return report


def asked(answer: Answer, model: str = "", **changes: Any) -> ProbeReport:
    with LoopbackServer(answer) as server:
        return probed(server.url, model, **changes)


def test_a_service_that_lists_its_models_is_ready() -> None:
    report = asked(json_answer(LIST))
    assert report == ProbeReport(
        True, "Custom OpenAI-compatible API is ready and lists 2 models.", ("a:latest", "b")
    )


def test_the_list_is_asked_for_where_it_is() -> None:
    for wire, path in ((Wire.CHAT, "/v1/models"), (Wire.MESSAGES, "/v1/models")):
        with LoopbackServer(json_answer(LIST)) as server:
            assert probed(server.url, wire=wire).ok
            assert server.last.method == "GET"
            assert server.last.path.partition("?")[0] == path
            assert server.last.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "listing",
    [["b", "a"], {"models": [{"name": "a"}, {"name": "b"}]}, {"data": [{"id": "a"}, {"id": "b"}]}],
)
def test_lists_of_every_shape_are_read(listing: Any) -> None:
    assert asked(json_answer(listing)).models == ("a", "b")


@pytest.mark.parametrize("model", ["b", "B", "a", "a:latest"])
def test_a_model_of_the_list_is_found(model: str) -> None:
    assert asked(json_answer(LIST), model).ok


def test_a_model_that_is_not_listed_is_said() -> None:
    report = asked(json_answer(LIST), "c")
    assert not report.ok
    assert report.sentence == (
        "Custom OpenAI-compatible API does not list the model 'c'; it has a:latest, b."
    )
    many = {"data": [{"id": str(n)} for n in range(9)]}
    assert "0, 1, 2 and 6 more" in asked(json_answer(many), "c").sentence


@pytest.mark.parametrize("wire", list(Wire))
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (json_answer({"error": {"message": "bad key"}}, 401), "refuses the key (401)"),
        (json_answer({"error": {"message": "no"}}, 403), "(403)"),
        (json_answer({"error": {"message": "no"}}, 404), "check the address"),
        (json_answer({"error": {"message": "oops"}}, 500), "answered 500: oops"),
        (json_answer({"hello": "there"}), "not with a list of models"),
        (html_answer(), "check the address"),
        (html_answer(404), "check the address"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(answer: Answer, words: str, wire: Wire) -> None:
    report = asked(answer, wire=wire)
    assert not report.ok
    assert words in report.sentence
    assert report.models == ()


def test_nobody_listening_is_said() -> None:
    url = refused_url()
    sentence = probed(url).sentence
    assert url in sentence
    assert "connection refused" in sentence
    assert "is the server running?" in sentence


def test_a_host_that_does_not_exist_is_said() -> None:
    assert "cannot be resolved" in probed("http://nowhere.invalid/v1").sentence


def test_silence_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("providers.sdk_client.MODELS_TIMEOUT_S", 0.2)
    assert "timeout" in asked(Answer((Hang(),))).sentence


def test_an_address_that_is_none_is_said() -> None:
    assert "'nonsense' is not an address" in probed("nonsense").sentence


def test_a_missing_key_is_said_without_asking() -> None:
    report = probed(refused_url(), provider_id="openai", api_key=None)
    assert report.sentence == "OpenAI needs a key: set OPENAI_API_KEY."


def test_a_key_that_is_wanted_after_all_is_said() -> None:
    report = asked(json_answer({"error": "no"}, 401), api_key=None)
    assert "wants a key (401)" in report.sentence


@pytest.mark.parametrize("provider_id", ["bedrock", "openai-codex"])
def test_what_cannot_be_used_is_said_without_asking(provider_id: str) -> None:
    report = probed(refused_url(), provider_id=provider_id)
    assert not report.ok
    assert "cannot be used" in report.sentence


def test_an_embedded_model_that_is_not_there_is_said() -> None:
    report = asyncio.run(ProviderPool().probe(configured(SPECS["embedded"])))
    assert report == ProbeReport(False, "The embedded model is not installed.")
