"""A program that is killed while two tabs have unsaved edits loses neither of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.kit.window_state import WindowState
from orchestration.composition import open_backend
from tests.support.qt_loop import QtLoop
from tests.support.source_tree import CHECKOUT
from tests.support.tab_hand import TabHand
from tests.support.window_driver import WindowDriver
from tests.support.workflow_files import write_workflow

EDIT_TWO = """
import asyncio, sys
from pathlib import Path
from app import event_loop, gui
from app.canvas import commands
from app.first_window import first_window

one, two, data_dir = map(Path, sys.argv[1:])

def rename(window, label):
    commands.rename(window.document, window.document.graph.cards[0].id, label)

async def work(window):
    program = await gui.work_behind(window, data_dir)
    opening = program.workbenches[0].opening
    await opening.open(one)
    await opening.front.read()
    rename(window, "Edit of one")
    await opening.open(two)
    rename(window, "Edit of two")
    while len(program.common.swaps.keys()) < 2:
        await asyncio.sleep(0.01)
    await asyncio.gather(*(each.saving.flush() for each in opening.all))
    print("edited", flush=True)
    return program

raise SystemExit(event_loop.run(lambda: first_window(one, data_dir), work))
"""


def test_edits_of_two_tabs_come_back_after_a_kill(
    qapp: QApplication, qt_loop: QtLoop, tmp_path: Path, data_dir: Path
) -> None:
    files = [
        write_workflow(tmp_path / f"{name.lower()}.workflow.json", name=name)
        for name in ("One", "Two")
    ]
    killed = subprocess.Popen(
        [sys.executable, "-c", EDIT_TWO, *map(str, files), str(data_dir)],
        cwd=CHECKOUT,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert killed.stdout is not None
    assert killed.stdout.readline() == "edited\n"
    killed.kill()
    killed.communicate(timeout=60)

    driver = WindowDriver(None, WindowState(data_dir), open_backend(data_dir))
    hand = TabHand(driver, tmp_path)

    async def scenario() -> None:
        driver.window.furnish()
        driver.take_up()
        asked = await hand.answer("Recover")
        assert "“Two” was edited" in asked
        assert hand.tabs() == ["One*", "Two*"]
        assert (hand.front(), hand.first_label()) == ("Two", "Edit of two")
        # The other tab has not been read yet, but it says that there is something.
        driver.window.actions_["previous_tab"].trigger()
        asked = await hand.answer("Recover")
        assert "“One” was edited" in asked
        assert (hand.front(), hand.first_label()) == ("One", "Edit of one")
        assert hand.tabs() == ["One*", "Two*"]
        hand.window.actions_["save"].trigger()
        await driver.settle()
        assert hand.tabs() == ["One", "Two*"]
        assert "Edit of one" in files[0].read_text("utf-8")
        await driver.close()

    qt_loop.run(scenario())
    driver.dispose()
