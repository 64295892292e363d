"""A whole task through the command line: find a bug, correct it, run the tests, report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from providers.specs import Wire
from tests.support.bug_fix import (
    EDIT,
    FIXED,
    FOUND,
    REPORT,
    RIGHT,
    TESTS,
    WORKFLOW,
    WRONG,
    all_pass,
    basket,
    calls,
    repository,
    submit,
)
from tests.support.command_line import CommandLine, Ended
from tests.support.loopback import LoopbackServer
from tests.support.wire_scripts import SCRIPTS

LOOK = calls(
    ("search", {"pattern": "price", "paths": "**/*"}), ("read", {"path": "shop/basket.py"})
)
SCRIPT = (
    LOOK,
    submit(FOUND),
    calls(("edit", EDIT), ("bash", TESTS)),
    submit(FIXED),
    submit(REPORT),
)


class Task:
    """The example's repository, a model that knows what to do, and the command line."""

    def __init__(self, folder: Path, server: LoopbackServer) -> None:
        self.folder, self.server = folder, server
        self.repo = repository(folder)
        self.events_file = folder / "events.jsonl"
        self.openflow = CommandLine(folder)

    def run(self, *more: str | Path, cwd: Path | None = None, script: Any = SCRIPT) -> Ended:
        self.server.play(*script)
        return self.openflow.run(
            *("run", WORKFLOW, "--base-url", self.server.url, "--events", self.events_file),
            *("--cwd", cwd or self.repo),
            *more,
            timeout_s=110,
        )

    def answers(self, *entries: dict[str, Any]) -> Path:
        path = self.folder / "answers.json"
        path.write_text(json.dumps(entries), encoding="utf-8")
        return path

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        lines = self.events_file.read_text(encoding="utf-8").splitlines()
        return [event for line in lines if (event := json.loads(line))["type"] in kinds]

    def told(self, request: int) -> str:
        """Everything that the model was told in one of its requests."""
        return json.dumps(self.server.asked[request].json, ensure_ascii=False)


@pytest.fixture
def task(tmp_path: Path) -> Iterator[Task]:
    with LoopbackServer() as server:
        yield Task(tmp_path, server)


def test_the_planted_bug_is_there(task: Task) -> None:
    assert not all_pass(task.repo)
    assert WRONG in basket(task.repo)


def is_corrected(task: Task, ended: Ended) -> None:
    assert (ended.status, ended.err, ended.left) == (0, "", ())
    assert ended.report["outputs"] == {"find": FOUND, "fix": FIXED, "report": REPORT}
    assert ended.report["changed_files"] == [{"path": "shop/basket.py", "op": "update"}]
    assert RIGHT in basket(task.repo)
    assert all_pass(task.repo)


def test_with_approvals_from_a_file_the_bug_is_found_corrected_tested_and_reported(
    task: Task,
) -> None:
    answers = task.answers(
        {"tool_name": "bash", "node_id": "fix", "allow": True},
        {"tool_name": "edit", "node_id": "fix", "allow": True},
    )
    is_corrected(task, task.run("--answers", answers))

    requests = [event["request"] for event in task.events("tool_approval_requested")]
    assert [each["tool_call"]["name"] for each in requests] == ["edit", "bash"]
    edit, bash = requests
    assert (edit["tier"], edit["path"], edit["tool_call"]["arguments"]) == ("write", ["fix"], EDIT)
    (change,) = edit["preview"]["files"]
    assert (change["path"], change["op"]) == ("shop/basket.py", "update")
    removed, added = (
        next(line for line in change["diff"].splitlines() if line.startswith(sign)) for sign in "-+"
    )
    assert WRONG in removed
    assert RIGHT in added
    assert edit["rule"]["rules"] == [{"tool_name": "edit", "target": "shop/basket.py"}]
    assert bash["preview"]["cwd"] == "."
    assert bash["tool_call"]["arguments"] == TESTS
    assert bash["rule"]["rules"] == [{"tool_name": "bash", "target": "python3 -m unittest"}]

    completed = {event["tool_name"]: event for event in task.events("tool_completed")}
    assert "OK" in completed["bash"]["content"]
    assert not any(event.get("is_error") for event in completed.values())
    kinds = [event["type"] for event in task.events("file_changed", "edit_batch_recorded")]
    assert sorted(kinds) == ["edit_batch_recorded", "file_changed"]
    assert FOUND["cause"] in task.told(2)
    assert "shop/basket.py" in task.told(4)


def test_all_calls_can_be_allowed_beforehand(task: Task) -> None:
    is_corrected(task, task.run("--approve", "allow"))
    assert len(task.events("tool_approved")) == 2


def test_nothing_is_changed_where_everything_is_denied(task: Task) -> None:
    failed = {"change": "nothing could be changed", "tests_pass": False}
    script = (*SCRIPT[:3], submit(failed), SCRIPT[4])
    ended = task.run("--approve", "deny", script=script)

    assert (ended.status, ended.left) == (0, ())
    assert ended.report["outputs"]["fix"] == failed
    assert ended.report["changed_files"] == []
    assert WRONG in basket(task.repo)
    assert [event["tool_name"] for event in task.events("tool_denied")] == ["edit", "bash"]
    started = {event["tool_name"] for event in task.events("tool_started")}
    assert started == {"search", "read"}


def test_a_reason_for_a_denial_reaches_the_model(task: Task) -> None:
    answers = task.answers(
        {"tool_name": "edit", "allow": False, "reason": "Use a loop instead."},
        {"allow": True},
    )
    ended = task.run("--answers", answers)

    assert ended.status == 0
    assert "Use a loop instead." in task.told(3)
    results = {event["tool_name"]: event["content"] for event in task.events("tool_completed")}
    assert "FAILED" in results["bash"]
    assert WRONG in basket(task.repo)


def test_without_anybody_to_ask_the_run_waits_and_nothing_is_changed(task: Task) -> None:
    ended = task.run(script=SCRIPT[:3])

    assert (ended.status, ended.left) == (3, ())
    edit, bash = ended.report["waiting"]
    assert (edit["kind"], edit["tool_name"], edit["node_id"]) == ("approval", "edit", "fix")
    assert RIGHT in edit["preview"]["files"][0]["diff"]
    assert (bash["tool_name"], bash["preview"]["cwd"]) == ("bash", ".")
    assert WRONG in basket(task.repo)


def test_a_decision_for_the_run_admits_the_same_target_and_no_other(task: Task) -> None:
    back = {"path": "shop/basket.py", "edits": [{"old_text": RIGHT, "new_text": WRONG}]}
    other = {"path": "shop/other.py", "content": "x = 1\n"}
    script = (
        *SCRIPT[:2],
        calls(("edit", EDIT)),
        calls(("edit", back)),
        calls(("edit", EDIT), ("write", other)),
        *SCRIPT[3:],
    )
    answers = task.answers(
        {"tool_name": "edit", "allow": True, "for_run": True},
        {"tool_name": "write", "allow": False},
    )
    ended = task.run("--answers", answers, script=script)

    assert ended.status == 0
    asked = [
        event["request"]["tool_call"]["name"] for event in task.events("tool_approval_requested")
    ]
    assert asked == ["edit", "write"]
    assert RIGHT in basket(task.repo)
    assert not (task.repo / "shop" / "other.py").exists()


def test_the_nodes_that_only_look_cannot_change_anything(task: Task) -> None:
    script = (calls(("edit", EDIT), ("bash", {"command": "ls"})), submit(FOUND), submit(FIXED))
    ended = task.run("--approve", "allow", script=(*script, submit(REPORT)))

    assert ended.status == 0
    assert WRONG in basket(task.repo)
    offered = SCRIPTS[Wire.CHAT].asked_tools(task.server.asked[0].json)
    assert {"read", "search"} <= set(offered)
    assert {"edit", "write", "bash", "apply_patch"}.isdisjoint(offered)
    assert [event["tool_name"] for event in task.events("tool_denied")] == ["edit", "bash"]
