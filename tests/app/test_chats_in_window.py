"""Direct chats in the window: begun, stopped, gone on with another day, changed and deleted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.kit.window_state import WindowState
from engine.vocabulary.messages import ModelTurn, UserMessage
from engine.vocabulary.ports import StreamSink
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import ApprovalMode
from orchestration.backend import Backend
from orchestration.chats.chat_files import is_chat_file
from orchestration.settings.model import Settings
from tests.support.qt_loop import QtLoop, until
from tests.support.run_rig import scripted_backend
from tests.support.scripted_model import Scripted, ScriptedModel, say
from tests.support.window_driver import WindowDriver


def echo(request: AgentRequest) -> Scripted:
    heard = [item.content for item in request.transcript if isinstance(item, UserMessage)]
    return say(f"You said {heard[-1] if heard else request.input['entrypoint']['text']}")


def backend_in(folder: Path, script: object = echo) -> Backend:
    settings = Settings(active_provider="openai")
    model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)  # type: ignore[arg-type]
    return scripted_backend(model, folder, settings)


@pytest.fixture
def folder(tmp_path: Path, qapp: QApplication) -> Path:
    return tmp_path / "data"


def test_a_chat_is_back_after_a_restart_and_goes_on(folder: Path, qt_loop: QtLoop) -> None:
    paths: list[Path] = []

    async def first_day() -> None:
        driver = WindowDriver(None, WindowState(None), backend_in(folder))
        await driver.start()
        driver.window.actions_["new_chat"].trigger()
        await until(lambda: is_chat_file(driver.window.document.path))
        await driver.settle()
        assert not driver.window.desks.isVisible()
        assert driver.chat.composer.field.hasFocus()
        await until(lambda: driver.chat.composer.address.kind == "start")
        driver.write("Good morning")
        driver.press_enter()
        await until(lambda: "You said Good morning" in driver.texts())
        await driver.settle()
        assert not driver.cards(), "that it is the person's turn needs no card"
        assert not driver.window.waiting_list.entries
        assert driver.window.document.graph.name == "Good morning"
        driver.write("And you?")
        driver.press_enter()
        await until(lambda: "You said And you?" in driver.texts())
        path = driver.window.document.path
        assert path is not None
        rows = [row for row in driver.window.sidebar.rows() if row.kind == "chat"]
        assert [row.name for row in rows] == ["Good morning"]
        paths.append(path)
        await driver.close()
        driver.dispose()

    async def second_day() -> None:
        driver = WindowDriver(paths[0], WindowState(None), backend_in(folder))
        await driver.start()
        await until(lambda: "You said And you?" in driver.texts())
        assert "Good morning" in driver.texts()
        assert not driver.window.desks.isVisible()
        await until(lambda: driver.chat.composer.address.kind in ("start", "answer"))
        driver.workbench.chatter.bar.mode_chosen.emit(ApprovalMode.WRITE)
        await driver.settle()
        driver.write("Again")
        driver.press_enter()
        await until(lambda: "You said Again" in driver.texts())
        await driver.settle()
        (run,) = await driver.workbench._backend.runs()
        settings = driver.workbench._backend.node_settings(run.run_id, "agent")
        assert settings.approval_mode is ApprovalMode.WRITE
        await driver.close()
        driver.dispose()

    qt_loop.run(first_day())
    qt_loop.run(second_day())


def test_an_answer_is_stopped_and_the_chat_stays_open(folder: Path, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        gate = asyncio.Event()
        calls: list[str] = []

        class Slow(ScriptedModel):
            async def invoke(
                self, request: AgentRequest, sink: StreamSink | None = None
            ) -> ModelTurn:
                calls.append(request.node_id)
                if len(calls) == 1:
                    await gate.wait()
                return await super().invoke(request, sink)

        driver = WindowDriver(None, WindowState(None), backend_in(folder, Slow(echo)))
        await driver.start()
        driver.window.actions_["new_chat"].trigger()
        driver.window.actions_["new_chat"].trigger()
        await until(lambda: len(driver.workbench.opening.all) > 1)
        await until(lambda: driver.chat.composer.address.kind == "start")
        driver.write("Think hard")
        driver.press_enter()
        driver.press_enter()
        await until(lambda: calls and driver.can("stop"))
        driver.window.actions_["stop"].trigger()
        driver.window.actions_["stop"].trigger()
        await until(lambda: driver.chat.composer.address.kind == "retry")
        driver.write("Never mind")
        driver.press_enter()
        await until(lambda: "You said Never mind" in driver.texts())
        await driver.settle()
        path = driver.window.document.path
        row = next(row for row in driver.window.sidebar.rows() if row.path == path)
        driver.window.sidebar.library.asked.emit("delete", row)
        driver.window.sidebar.library.asked.emit("delete", row)
        await until(lambda: path is not None and not path.exists())
        await driver.settle()
        assert driver.window.document.path != path
        await driver.close()
        driver.dispose()

    qt_loop.run(scenario())
