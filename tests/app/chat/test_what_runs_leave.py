"""What a run leaves in folders, seen from its conversation: documents, and files to name."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from engine.vocabulary import events as ev
from engine.vocabulary.messages import HandoffArtifact
from tests.support.qt_loop import QtLoop, until
from tests.support.window_driver import WindowDriver, begin


def test_the_document_that_is_handed_on_can_be_read(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        uri = "run://handoffs/idea/HANDOFF.md"
        driver.backend.documents[uri] = "# The plan\n\nIn *two* steps."
        artifact = HandoffArtifact("markdown", uri, "text/markdown", "", 27)
        run.tell(ev.NodeCompleted("idea", "Clarify idea", {"summary": "A plan"}, artifact))
        await driver.settle()
        view = driver.chat.transcript
        view.setFocus()
        QTest.keyClick(view, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(view, Qt.Key.Key_Return)
        row = next(row for row in driver.rows() if row.kind == "output")
        await until(lambda: row.handoff_text is not None)
        place = view._blocks.block(view._shown()[-1]).document_at()
        assert place is not None
        assert place[0].document.toPlainText() == "The plan\nIn two steps."
        await driver.close()

    qt_loop.run(scenario())


def test_files_of_the_run_s_own_folder_are_offered(
    driver: WindowDriver, qt_loop: QtLoop, tmp_path: Path
) -> None:
    async def scenario() -> None:
        (tmp_path / "report.md").write_text("x")
        await driver.start()
        run = await driver.run()
        driver.backend.folders[run.run_id] = tmp_path
        begin(run)
        run.tell(ev.NodeAwaitingInput("idea", "Clarify idea", "", pause_id="p1", question="Which?"))
        await driver.settle()
        composer = driver.chat.composer
        composer.field.setFocus()
        QTest.keyClicks(composer.field, "see @rep")
        await until(lambda: composer.completion.offered == ["@report.md"])
        assert composer.field.folder == tmp_path
        await driver.close()

    qt_loop.run(scenario())
