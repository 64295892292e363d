"""The same runs on Qt's event loop."""

import gc
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication

from engine.vocabulary.errors import TransientFailure
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from orchestration.runs.view_values import RunStatus
from tests.support.engine_driver import workflow
from tests.support.qt_loop import QtLoop
from tests.support.run_rig import RunRig, until
from tests.support.scripted_model import OK, Held, ask, use


def run_on_qt(application: QApplication, body: Callable[[], Coroutine[Any, Any, None]]) -> None:
    loop = QtLoop(application)
    loop.run(body())
    loop.close()
    assert loop.complaints == []
    # Qt's objects must not be left to a collection that happens in some other thread.
    del loop
    gc.collect()


def test_a_run_with_tools_a_question_a_backoff_and_a_stop_works_on_qt_s_loop(
    tmp_path: Path, qapp: QApplication
) -> None:
    (tmp_path / "f").write_text("text")

    async def body() -> None:
        held = Held(OK)
        flow = workflow(
            [("a", "b"), ("b", "c")],
            agents={"a": {"requestUserInput": True}},
            settings={"retryPolicy": {"backoff_ms": 0}},
        )
        script = {
            "a": [use(("read", {"path": "f"})), ask("Which?"), OK],
            "b": [TransientFailure("busy"), OK],
            "c": [held, OK],
        }
        rig = RunRig(flow, script, tmp_path, on_disk=True)
        assert isinstance(await rig.start(), NeedsInteraction)
        await rig.run.answer("a", "this")
        await held.begun.wait()
        await rig.run.stop()
        assert held.cancelled
        assert rig.status() is RunStatus.STOPPED
        rig.run.continue_()
        assert isinstance(await rig.run.settled(), RunCompleted)
        await rig.run.stop()
        assert (tmp_path / "run" / "handoffs" / "c" / "HANDOFF.json").exists()

    run_on_qt(qapp, body)


def test_many_nodes_run_on_qt_s_loop(tmp_path: Path, qapp: QApplication) -> None:
    async def body() -> None:
        names = [f"n{number}" for number in range(100)]
        rig = RunRig(workflow(nodes=names), lambda request: OK, tmp_path)
        rig.run.start()
        await until(lambda: rig.status() is RunStatus.COMPLETED)
        assert isinstance(await rig.run.settled(), RunCompleted)

    run_on_qt(qapp, body)
