"""`openflow providers check`: what it prints, what it keeps, and what a run makes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import providers
from app.cli.session import Session
from providers.specs import Wire
from tests.support.loopback import Answer, Asked, LoopbackServer, json_answer
from tests.support.wire_runs import SUBMIT
from tests.support.wire_scripts import SCRIPTS

SCRIPT = SCRIPTS[Wire.CHAT]
ID = "custom_openai_compatible"
LIST = {"data": [{"id": "m", "context_length": 8192}]}


def endpoint(asked: Asked) -> Answer:
    """An endpoint that refuses to be told to make a call."""
    if asked.method == "GET":
        return json_answer(LIST)
    if asked.json.get("tool_choice") == "required":
        return SCRIPT.refusal(400, "tool_choice 'required' is not supported")
    return SCRIPT.answer(calls=(SUBMIT,))


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., Any]:
    """Checks an endpoint that answers like this."""

    def run(answer_with: Callable[[Asked], Answer] = endpoint, *words: str) -> Any:
        with LoopbackServer(answer_with=answer_with) as server:
            profile = {"base_url": server.url, "default_model": "m"}
            (tmp_path / "settings.json").write_text(json.dumps({"providers": {ID: profile}}))
            arguments = ["check", ID, "--data-dir", str(tmp_path), *words]
            return CliRunner().invoke(providers.commands, arguments, obj=Session())

    return run


def test_what_was_found_is_printed_as_json_and_kept(
    check: Callable[..., Any], tmp_path: Path
) -> None:
    ended = check()
    assert ended.exit_code == 0, ended.output
    report = json.loads(ended.stdout)
    assert report["id"] == ID
    assert report["ok"] is True
    assert (report["model"], report["context_window"]) == ("m", 8192)
    assert report["findings"]["choice_required"]["state"] == "no"
    assert "not supported" in report["findings"]["choice_required"]["detail"]
    assert report["findings"]["choice_auto"]["state"] == "yes"
    assert report["refuses"] == ["no_required_tool_choice"]
    (kept,) = json.loads((tmp_path / "quirks.json").read_text()).values()
    assert kept["m"]["refuses"] == ["no_required_tool_choice"]
    assert kept["m"]["checked"]["context_window"] == 8192


def test_at_a_terminal_it_is_a_table(
    check: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.cli.providers.stdout_is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "160")
    ended = check()
    assert ended.exit_code == 0, ended.output
    assert "tool_choice: required" in ended.stdout
    assert "8192 tokens" in ended.stdout
    assert "Requests for m heed from now on: no_required_tool_choice." in ended.stdout


def test_a_service_that_does_not_answer_is_said(check: Callable[..., Any]) -> None:
    ended = check(lambda asked: SCRIPT.refusal(401, "No."))
    assert ended.exit_code == 1
    assert json.loads(ended.stdout)["ok"] is False
    assert "wants a key (401)" in ended.stderr


def test_a_model_can_be_named(check: Callable[..., Any]) -> None:
    ended = check(endpoint, "--model", "other")
    assert json.loads(ended.stdout)["model"] == "other"
