"""Runs with limits through the command line: asked about, answered from a file, refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.vocabulary.tools import SUBMIT_TOOL
from orchestration.workflow_catalog import save_workflow
from providers.specs import Wire
from tests.support.command_line import CommandLine, Ended
from tests.support.graphs import graph
from tests.support.loopback import LoopbackServer
from tests.support.wire_scripts import SCRIPTS, submit_arguments

CHAT = SCRIPTS[Wire.CHAT]


class Bench:
    """Two nodes, each of which submits at once, and an endpoint for them."""

    def __init__(self, folder: Path, server: LoopbackServer) -> None:
        self.folder, self.server = folder, server

    def run(self, *more: str | Path) -> Ended:
        path = self.folder / "flow.workflow.json"
        save_workflow(graph(["a", "b"], [("a", "b")]), path)
        submit = CHAT.answer(
            calls=(("c1", SUBMIT_TOOL, submit_arguments({"summary": "ok"}, "Done.")),)
        )
        self.server.play(submit, submit)
        return CommandLine(self.folder).run("run", path, "--base-url", self.server.url, *more)

    def answers(self, *entries: dict[str, Any]) -> Path:
        path = self.folder / "answers.json"
        path.write_text(json.dumps(entries), encoding="utf-8")
        return path


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with LoopbackServer() as server:
        yield Bench(tmp_path, server)


@pytest.mark.parametrize(
    ("option", "value", "measure"),
    [("--max-turns", "1", "turns"), ("--max-tokens", "100", "tokens")],
)
def test_a_run_pauses_at_its_limit_and_says_so(
    bench: Bench, option: str, value: str, measure: str
) -> None:
    ended = bench.run(option, value)
    assert ended.status == 3
    (waiting,) = ended.report["waiting"]
    assert (waiting["kind"], waiting["node_id"]) == ("budget", "b")
    assert waiting["limit"]["measure"] == measure
    assert waiting["limit"]["scope"] == "run"
    assert ended.report["outputs"] == {"a": {"summary": "ok"}}
    assert "allowed for this run" in ended.err
    assert len(bench.server.asked) == 1


def test_an_answer_from_a_file_lets_it_go_on(bench: Bench) -> None:
    answers = bench.answers({"budget": "continue 5"})
    ended = bench.run("--max-turns", "1", "--answers", answers)
    assert ended.status == 0
    assert set(ended.report["outputs"]) == {"a", "b"}


def test_an_answer_from_a_file_stops_it(bench: Bench) -> None:
    ended = bench.run("--max-turns", "1", "--answers", bench.answers({"budget": "stop"}))
    assert (ended.status, ended.report["status"]) == (130, "stopped")


def test_a_limit_on_money_says_where_a_price_is_unknown(bench: Bench) -> None:
    ended = bench.run("--max-cost", "0.5")
    assert ended.status == 0
    assert "cost is not known" in ended.err
    assert ended.report["usage"]["cost"] is None
    assert ended.report["usage"]["unpriced_calls"] == 2


@pytest.mark.parametrize(
    ("option", "value"), [("--max-turns", "0"), ("--max-cost", "-1"), ("--max-time", "nan")]
)
def test_a_limit_that_is_none_is_refused(bench: Bench, option: str, value: str) -> None:
    ended = bench.run(option, value)
    assert ended.status == 2
    assert option in ended.err
    assert not bench.server.asked
