"""Nothing that a person can press raises, however the run stands."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QMenu, QWidget
from shiboken6 import isValid

from engine.vocabulary.errors import PermanentFailure
from tests.support.qt_loop import QtLoop, turns, until
from tests.support.run_rig import scripted_backend
from tests.support.scripted_model import Held, ScriptedModel, ask, submit, use
from tests.support.window_driver import WindowDriver
from tests.support.workflow_files import write_workflow

# These end the window or the program, which other tests see to.
_ENDS = frozenset({"quit", "close_tab", "close_other_tabs", "new_window", "move_tab"})
# They change what is looked at, or end what it is about: the rest comes first.
_LATE = ("delete", "cut", "revert", "stop", "new", "open_example", "open")
# How the window looks has nothing to do with how the run stands: pressed in one state only.
_LOOKS = ("theme_", "zoom_", "align_", "tour", "minimap", "reduced_motion")
_MOST_PRESSES = 500

Script = dict[str, list[object]]
STATES: dict[str, tuple[Callable[[], Script], str, set[str]]] = {
    "empty": (dict, "", {"action new"}),
    "idle": (dict, "", {"action theme_dark", "action run"}),
    "running": (
        lambda: {"idea": [Held(submit({}))]},
        "Thinking",
        {"RunBar: Interrupt Clarify idea"},
    ),
    "waiting": (
        lambda: {"idea": [ask("For whom?")]},
        "Waiting for Input",
        {"QuestionCard: Answer"},
    ),
    "approval": (
        lambda: {"idea": [use(("write", {"path": "a.md", "content": "x"}))]},
        "Awaiting Approval",
        {"ApprovalCard: Allow Write File", "action next_waiting"},
    ),
    "failed": (
        lambda: {"idea": [PermanentFailure("no key")]},
        "Failed",
        {"FailureCard: Retry Clarify idea"},
    ),
    "stopped": (lambda: {"idea": [Held(submit({}))]}, "Stopped", {"EndedCard: Continue"}),
    "done": (
        lambda: {key: [submit({"text": key})] for key in ("idea", "plan", "risk", "brief")},
        "Done",
        {"action run", "Dock: Trace"},
    ),
}


def pressable(driver: WindowDriver, *, with_looks: bool) -> list[tuple[str, Callable[[], None]]]:
    """What can be pressed now, each with a name that stays the same."""
    found: list[tuple[str, Callable[[], None]]] = []
    window = driver.window
    buttons = window.findChildren(QAbstractButton)
    chat = driver.chat
    for button in sorted(buttons, key=lambda each: not chat.isAncestorOf(each)):
        if button.isVisible() and button.isEnabled():
            kind = type(button.parent()).__name__
            name = button.accessibleName() or button.text() or button.toolTip()
            name = name.partition(":")[0]  # what follows is a figure that moves on
            if not name.startswith("Close"):
                found.append((f"{kind}: {name}", button.click))
    for action_id in sorted(window.actions_.ids(), key=lambda each: each in _LATE):
        is_wanted = with_looks or not action_id.startswith(_LOOKS)
        if action_id not in _ENDS and is_wanted and window.actions_[action_id].isEnabled():
            found.append((f"action {action_id}", window.actions_[action_id].trigger))
    return found


def put_away(window: QWidget) -> None:
    """Close what lies over the window."""
    popup = QApplication.activePopupWidget()
    while popup is not None:
        popup.close()
        popup = QApplication.activePopupWidget()
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QDialog) and widget.isVisible():
            widget.reject()
        elif isinstance(widget, QMenu) and widget.isVisible():
            widget.close()


@pytest.mark.parametrize("state", sorted(STATES))
def test_everything_can_be_pressed_twice(
    qt_loop: QtLoop,
    tmp_path: Path,
    data_dir: Path,
    state: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: True)
    make, status, must = STATES[state]
    model = ScriptedModel(make())
    file = write_workflow(tmp_path / "planning.workflow.json", model="gpt-4o")
    driver = WindowDriver(
        None if state == "empty" else file, backend=scripted_backend(model, data_dir)
    )
    pressed: list[str] = []

    async def scenario() -> None:
        await driver.start()
        if status:
            driver.press_enter()
            if status == "Stopped":
                await until(lambda: driver.can("stop"))
                driver.window.actions_["stop"].trigger()
            await until(lambda: driver.statuses()["idea"] == status)
            driver.window.scene.choose_node("idea")
        await turns(20)
        done: set[str] = set()
        while len(pressed) < _MOST_PRESSES:
            todo = [
                each
                for each in pressable(driver, with_looks=state == "idle")
                if each[0] not in done
            ]
            if not todo:
                break
            name, press = todo[0]
            done.add(name)
            for _ in range(2):
                pressed.append(name)
                owner = getattr(press, "__self__", None)
                if owner is None or isValid(owner):
                    press()
                    await turns(3)
                put_away(driver.window)
                await turns(3)
            toasts = driver.window.toasts.texts()
            assert not [each for each in toasts if "unexpected" in each], (name, toasts)
        driver.window.top_bar.title.text()  # it still answers
        await driver.close()

    with caplog.at_level(logging.ERROR):
        qt_loop.run(scenario())
    assert len(set(pressed)) > 20
    assert not must - set(pressed)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    driver.dispose()
