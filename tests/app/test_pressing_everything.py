"""Nothing that a person can press raises, however the run stands."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from PySide6.QtGui import QDesktopServices

from app.settings.index import PAGES
from engine.vocabulary import events as ev
from engine.vocabulary.errors import PermanentFailure
from engine.vocabulary.messages import Usage
from orchestration.runs.view_values import RunStatus
from orchestration.settings.model import Limits, Settings, Spending
from tests.support.fake_backend import FakeRun
from tests.support.presser import Presser
from tests.support.qt_loop import QtLoop, turns, until
from tests.support.run_rig import scripted_backend
from tests.support.scripted_model import Held, ScriptedModel, ask, submit, use
from tests.support.stored_runs import keep, stored_run, tell_two_nodes, uncertain_edit
from tests.support.window_driver import WindowDriver, begin
from tests.support.window_events import STORAGE
from tests.support.workflow_files import write_workflow

Script = dict[str, list[object]]
USAGE = Usage(prompt_tokens=90, completion_tokens=10, total_tokens=100)


class State(NamedTuple):
    """A run over the real backend that stands like this; `must` is among what can be pressed."""

    script: Callable[[], Script]
    status: str
    must: set[str]
    tokens: int | None = None
    env: dict[str, str] | None = None


STATES = {
    "empty": State(dict, "", {"action new"}),
    "idle": State(
        dict,
        "",
        {
            "action theme_dark",
            "action run",
            "action save_as",
            "menu of a node",
            "menu of several nodes",
            "menu of the ground",
            "menu of the ground > Add Note Here",
            "menu of a tab",
        },
    ),
    "problems": State(dict, "Idle", {"ProblemsCard: Run with the demo model"}, env={}),
    "running": State(
        lambda: {"idea": [Held(submit({}))]}, "Thinking", {"RunBar: Interrupt Clarify idea"}
    ),
    "question": State(
        lambda: {"idea": [ask("For whom?")]}, "Waiting for Input", {"QuestionCard: Answer"}
    ),
    "approval": State(
        lambda: {"idea": [use(("write", {"path": "a.md", "content": "x"}))]},
        "Awaiting Approval",
        {"ApprovalCard: Allow Write File", "action next_waiting"},
    ),
    "budget": State(
        lambda: {"idea": [submit({"summary": "s"}, usage=USAGE)]},
        "Done",
        {"BudgetCard: This run has reached its limit"},
        tokens=100,
    ),
    "failed": State(
        lambda: {"idea": [PermanentFailure("no key")]},
        "Failed",
        {"FailureCard: Retry Clarify idea"},
    ),
    "stopped": State(lambda: {"idea": [Held(submit({}))]}, "Stopped", {"EndedCard: Continue"}),
    "done": State(
        lambda: {key: [submit({"text": key})] for key in ("idea", "plan", "risk", "brief")},
        "Done",
        {"action run", "Dock: Trace"},
    ),
}


async def press_everything(driver: WindowDriver, must: set[str], *, is_first: bool) -> None:
    presser = Presser(driver, is_first=is_first)
    await presser.press_everything()
    await driver.close()
    pressed = set(presser.pressed)
    assert not must - pressed, "; ".join(sorted(pressed))
    assert len(pressed) > 20


@pytest.fixture(autouse=True)
def _nothing_goes_wrong(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> object:
    """No page is opened elsewhere, and nothing is logged as an error."""
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: True)
    with caplog.at_level(logging.ERROR):
        yield
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("name", sorted(STATES))
def test_everything_can_be_pressed_twice(
    qt_loop: QtLoop, tmp_path: Path, data_dir: Path, name: str
) -> None:
    state = STATES[name]
    settings = Settings(limits=Limits(run=Spending(tokens=state.tokens)))
    file = write_workflow(tmp_path / "planning.workflow.json", model="gpt-4o")
    driver = WindowDriver(
        None if name == "empty" else file,
        backend=scripted_backend(ScriptedModel(state.script()), data_dir, settings, env=state.env),
    )

    async def scenario() -> None:
        await driver.start()
        if state.status:
            driver.press_enter()
            if state.status == "Stopped":
                await until(lambda: driver.can("stop"))
                driver.window.actions_["stop"].trigger()
            await until(lambda: driver.statuses()["idea"] == state.status)
            driver.window.scene.choose_node("idea")
            if name == "problems":
                driver.window.actions_["run"].trigger()
        await turns(20)
        await press_everything(driver, state.must, is_first=name == "idle")

    qt_loop.run(scenario())
    driver.dispose()


async def _look_back(driver: WindowDriver, file: Path) -> None:
    told = FakeRun("r1", driver.backend.load_workflow(file))
    tell_two_nodes(told)
    keep(driver.backend, stored_run("r1", status=RunStatus.COMPLETED), told)
    await driver.start()
    driver.window.actions_["history"].trigger()
    runs = driver.window.dock.history.runs
    await until(lambda: runs.model.rowCount() == 1)
    runs.choose(["r1"])
    runs.asked.emit("replay")
    await until(lambda: driver.workbench.historian.replay is not None, "no replay was opened")


async def _leave_in_doubt(driver: WindowDriver, file: Path) -> None:
    await driver.start()
    run = await driver.run()
    begin(run, "plan", "Create plan")
    call = uncertain_edit()
    run.tell(ev.ToolCallProposed("plan", "Create plan", call.tool_call), ev.ToolCallUncertain(call))


async def _ask_with_options(driver: WindowDriver, file: Path) -> None:
    await driver.start()
    run = await driver.run()
    begin(run)
    run.tell(
        ev.NodeAwaitingInput("idea", "Clarify idea", "", structured_input=STORAGE, pause_id="p7")
    )


TOLD: dict[str, tuple[Callable[[WindowDriver, Path], Awaitable[None]], set[str]]] = {
    "options": (_ask_with_options, {"QuestionCard: Send answer"}),
    "replay": (_look_back, {"ReplayBar: Play (Space)", "ReplayBar: Fork here…"}),
    "uncertain": (_leave_in_doubt, {"UncertainCard: It is done"}),
}


@pytest.mark.parametrize("name", sorted(TOLD))
def test_everything_can_be_pressed_twice_when_told(
    driver: WindowDriver, qt_loop: QtLoop, workflow_file: Path, name: str
) -> None:
    bring_about, must = TOLD[name]

    async def scenario() -> None:
        await bring_about(driver, workflow_file)
        await driver.settle()
        await press_everything(driver, must, is_first=False)

    qt_loop.run(scenario())


def test_everything_in_the_settings_can_be_pressed_twice(
    qt_loop: QtLoop, tmp_path: Path, data_dir: Path
) -> None:
    file = write_workflow(tmp_path / "planning.workflow.json", model="gpt-4o")
    driver = WindowDriver(file, backend=scripted_backend({}, data_dir))

    async def scenario() -> None:
        await driver.start()
        presser = Presser(driver, is_first=False)
        for spec in PAGES:
            driver.workbench.settings.open(spec.id)
            await driver.settle()
            view = driver.workbench.settings.view
            assert view.isVisible()
            await presser.press_buttons_in(view)
        await driver.close()
        pressed = set(presser.pressed)
        assert {"Group: OpenAI", "QWidget: Start the embedded model"} <= pressed, sorted(pressed)
        assert len(pressed) > 20

    qt_loop.run(scenario())
    driver.dispose()
