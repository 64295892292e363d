"""The same runs on Qt's event loop."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from engine.vocabulary.errors import TransientFailure
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from orchestration.runs.view_values import RunStatus
from tests.support.engine_driver import workflow
from tests.support.run_rig import RunRig, until
from tests.support.scripted_model import Held, ask, submit, use

OK = submit({"summary": "ok"})


def run_on_qt(body: Callable[[], Awaitable[None]]) -> None:
    application = QApplication.instance() or QApplication([])
    loop = qasync.QEventLoop(application, already_running=False)

    async def main() -> None:
        await body()

    with loop:
        loop.run_until_complete(main())


def test_a_run_with_tools_a_question_a_backoff_and_a_stop_works_on_qt_s_loop(
    tmp_path: Path,
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

    run_on_qt(body)


def test_many_nodes_run_on_qt_s_loop(tmp_path: Path) -> None:
    async def body() -> None:
        names = [f"n{number}" for number in range(100)]
        rig = RunRig(workflow(nodes=names), lambda request: OK, tmp_path)
        rig.run.start()
        await until(lambda: rig.status() is RunStatus.COMPLETED)
        assert isinstance(await rig.run.settled(), RunCompleted)

    run_on_qt(body)
