"""The settings in the real window: what is changed there counts for the workflow in front."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.settings.provider_page import ProviderPage
from tests.support.loopback import Answer, Asked, Hang, LoopbackServer, json_answer
from tests.support.qt_loop import QtLoop, until
from tests.support.settings_bench import opened, type_into
from tests.support.window_driver import WindowDriver
from tests.support.workflow_files import write_workflow


@pytest.fixture
def real(qapp: QApplication, tmp_path: Path, data_dir: Path) -> Iterator[WindowDriver]:
    """A window over a real backend without any key, with nodes that name a model."""
    file = write_workflow(tmp_path / "planning.workflow.json", model="gpt-4o")
    driver = WindowDriver(file, backend=opened(data_dir))
    yield driver
    driver.dispose()


def test_a_key_lets_the_workflow_run_at_once(real: WindowDriver, qt_loop: QtLoop) -> None:
    async def story() -> None:
        await real.start()
        assert not real.can("run")
        real.window.actions_["settings"].trigger()
        settings = real.workbench.settings
        assert settings.view.isVisible()
        real.window.theme.set_mode("dark")  # as another window does, which has it in common
        real.window.theme.set_reduced_motion(True)
        assert real.window.actions_["theme_dark"].isChecked()
        assert real.window.actions_["reduced_motion"].isChecked()
        settings.open("provider:openai#key")
        await real.settle()
        page = settings.view.page
        assert isinstance(page, ProviderPage)
        type_into(page.key.line, "sk-of-1234567890abcdef")
        QTest.keyClick(page.key.line, Qt.Key.Key_Return)
        await until(lambda: real.can("run"))
        await real.settle()
        QTest.keyClick(settings.view, Qt.Key.Key_Escape)
        QTest.keyClick(settings.view, Qt.Key.Key_Escape)
        assert not settings.view.isVisible()
        await real.close()

    qt_loop.run(story())


def test_the_palette_leads_to_a_setting(real: WindowDriver, qt_loop: QtLoop) -> None:
    async def story() -> None:
        await real.start()
        real.window.actions_["palette"].trigger()
        popup = real.workbench.palette.popup
        QTest.keyClicks(popup.field, "sandbox for")
        assert popup.titles()[0] == "Sandbox for commands"
        QTest.keyClick(popup.field, Qt.Key.Key_Return)
        await real.settle()
        view = real.workbench.settings.view
        assert view.isVisible()
        assert view.page is not None
        assert view.page.rows["shell_sandbox"].isAncestorOf(real.window.focusWidget())
        real.window.actions_["settings"].trigger()
        assert not view.isVisible()
        await real.close()

    qt_loop.run(story())


def test_a_settings_file_that_somebody_else_writes_is_noticed(
    real: WindowDriver, qt_loop: QtLoop, data_dir: Path
) -> None:
    async def story() -> None:
        await real.start()
        real.workbench.settings.open("limits")
        await real.settle()
        (data_dir / "settings.json").write_text('{"active_provider": "ollama"}', encoding="utf-8")
        await until(lambda: real.can("run"), "the file was not noticed")
        await real.close()

    qt_loop.run(story())


def test_the_window_closes_while_a_check_hangs(real: WindowDriver, qt_loop: QtLoop) -> None:
    def hanging(asked: Asked) -> Answer:
        if asked.method == "GET":
            return json_answer({"data": [{"id": "m"}]})
        return Answer((Hang(),), headers={"content-type": "text/event-stream"})

    async def story() -> None:
        with LoopbackServer(answer_with=hanging) as server:
            await real.start()
            settings = real.workbench.settings
            backend = settings.view.access.backend
            name = await backend.add_endpoint("Lab", f"{server.url}/v1")
            settings.open(f"provider:{name}")
            page = settings.view.page
            assert isinstance(page, ProviderPage)
            page.check.check()
            await until(lambda: len(page.check.findings()) == 2)
            await real.close()
            assert not page.check.is_checking

    qt_loop.run(story())
