"""The pages of the settings over a real backend, as a person uses them."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QWidget

from app.settings.embedded_page import EmbeddedPage
from app.settings.fields import ChoiceRow, LineRow, SwitchRow
from app.settings.index import ENTRIES, PAGES
from app.settings.provider_page import ProviderPage
from app.settings.providers_page import ProvidersPage
from app.settings.tools_page import ToolsPage
from tests.support.loopback import Answer, Asked, Hang, LoopbackServer, json_answer
from tests.support.qt_loop import QtLoop, until
from tests.support.settings_bench import SettingsBench, opened, type_into

KEY = "sk-of-1234567890abcdef"
Story = Callable[[SettingsBench], Coroutine[Any, Any, None]]
Play = Callable[..., None]


@pytest.fixture
def play(qt_loop: QtLoop, data_dir: Path) -> Play:
    """Lets a story play with the settings of a fresh data folder."""

    def play_it(story: Story, **env: str) -> None:
        async def whole() -> None:
            bench = SettingsBench(opened(data_dir, env))
            try:
                await story(bench)
            finally:
                await bench.close()

        qt_loop.run(whole())

    return play_it


def line_of(row: object) -> QLineEdit:
    assert isinstance(row, LineRow)
    return row.line


def able(asked: Asked) -> Answer:
    """A server that lists a model and says hello."""
    if asked.method == "GET":
        return json_answer({"data": [{"id": "m"}, {"id": "n"}]})
    message = {"role": "assistant", "content": "Hello."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json_answer({"id": "r", "object": "chat.completion", "choices": [choice]})


def test_a_wrong_address_is_told_at_its_field_and_not_kept(play: Play, data_dir: Path) -> None:
    async def story(bench: SettingsBench) -> None:
        page = await bench.open("provider:openai")
        row = page.rows["base_url"]
        type_into(line_of(row), "htp:/nowhere")
        QTest.keyClick(line_of(row), Qt.Key.Key_Return)
        await bench.settle()
        assert "has to begin with https://" in row.wrong
        assert line_of(row).property("wrong")
        assert "has to begin" in line_of(row).accessibleDescription()
        assert not (data_dir / "settings.json").exists()
        assert line_of(row).text() == "htp:/nowhere"
        type_into(line_of(row), "https://proxy.example/v1")
        QTest.keyClick(line_of(row), Qt.Key.Key_Return)
        await bench.settle()
        assert row.wrong == ""
        stored = json.loads((data_dir / "settings.json").read_bytes())
        assert stored["providers"]["openai"]["base_url"] == "https://proxy.example/v1"

    play(story)


def test_what_is_typed_counts_after_a_moment_without_any_button(play: Play) -> None:
    async def story(bench: SettingsBench) -> None:
        page = await bench.open("limits#tools")
        line = line_of(page.rows["tools"])
        assert bench.window.focusWidget() is line
        type_into(line, "3")
        await until(lambda: bench.backend.settings.limits.tools == 3)
        await bench.settle()
        type_into(line, "three")
        await until(lambda: page.rows["tools"].wrong)
        assert bench.backend.settings.limits.tools == 3

    play(story)


def test_a_key_that_is_entered_makes_its_provider_ready_and_is_never_shown(play: Play) -> None:
    async def story(bench: SettingsBench) -> None:
        page = await bench.open("provider:openai")
        assert isinstance(page, ProviderPage)
        assert page.about.text() == "Needs a key"
        assert page.key.line.echoMode() == QLineEdit.EchoMode.Password
        type_into(page.key.line, KEY)
        QTest.keyClick(page.key.line, Qt.Key.Key_Return)
        page.key.keep()
        await bench.settle()
        assert page.about.text() == "Nothing is missing; a check tells whether it answers."
        assert page.key.line.text() == ""
        assert page.key.button.text() == "Replace"
        everything = " ".join(
            str(getattr(widget, name)())
            for widget in bench.window.findChildren(QWidget)
            for name in ("text", "placeholderText", "toolTip", "accessibleDescription")
            if hasattr(widget, name)
        )
        assert KEY not in everything
        page.key.remove()
        page.key.remove()
        await bench.settle()
        assert page.about.text() == "Needs a key"

    play(story)


def test_a_key_of_the_environment_is_shown_as_such(play: Play) -> None:
    async def story(bench: SettingsBench) -> None:
        page = await bench.open("provider:groq")
        assert isinstance(page, ProviderPage)
        assert "environment variable GROQ_API_KEY" in page.key.note
        assert "secrets.json" in page.key.note
        assert page.key.removal.isHidden()

    play(story, GROQ_API_KEY=KEY)


def test_an_endpoint_is_added_checked_and_its_models_ticked(play: Play) -> None:
    async def story(bench: SettingsBench) -> None:
        listed = await bench.open("providers#add")
        assert isinstance(listed, ProvidersPage)
        with LoopbackServer(answer_with=able) as server:
            type_into(listed.add_row.name, "Lab")
            listed.add_row.add()
            listed.add_row.add()
            await bench.settle()
            assert "is not an address" in listed.add_row.wrong
            type_into(listed.add_row.address, f"{server.url}/v1")
            QTest.keyClick(listed.add_row.address, Qt.Key.Key_Return)
            await bench.settle()
            page = bench.view.page
            assert isinstance(page, ProviderPage)
            page.models.fetch()
            await bench.settle()
            assert "lists 2 models" in page.models.told.text()
            assert bench.backend.settings.profile("lab").default_model == "m"
            page.models.filter.setText("n")
            page.models.add()
            await bench.settle()
            status = bench.backend.provider("lab")
            assert status is not None
            assert "n" in status.models
            page.check.check()
            page.check.check()
            assert page.check.stop.isVisible()
            await bench.settle()
            names = [finding.name for finding in page.check.findings()]
            assert names[:3] == ["models", "context_window", "streaming"]
            assert "checked just now" in page.check.told.text()
            page.check.forget()
            await bench.settle()
            assert page.check.findings() == []

    play(story)


def test_a_check_that_hangs_is_cancelled_also_by_leaving(play: Play) -> None:
    async def story(bench: SettingsBench) -> None:
        def hanging(asked: Asked) -> Answer:
            if asked.method == "GET":
                return able(asked)
            return Answer((Hang(),), headers={"content-type": "text/event-stream"})

        with LoopbackServer(answer_with=hanging) as server:
            name = await bench.backend.add_endpoint("Lab", f"{server.url}/v1")
            page = await bench.open(f"provider:{name}")
            assert isinstance(page, ProviderPage)
            page.check.check()
            await until(lambda: len(page.check.findings()) == 2)
            page.check.cancel()
            page.check.cancel()
            await bench.settle()
            assert "Cancelled" in page.check.told.text()
            page.check.check()
            await until(lambda: len(page.check.findings()) == 2)
            bench.view.dismiss()
            await bench.settle()
            assert not page.check.is_checking

    play(story)


def test_what_somebody_else_writes_is_shown_and_what_is_wrong_stays(
    play: Play, data_dir: Path
) -> None:
    async def story(bench: SettingsBench) -> None:
        page = await bench.open("limits")
        calls, tools = page.rows["provider_calls"], page.rows["tools"]
        type_into(line_of(calls), "0")
        QTest.keyClick(line_of(calls), Qt.Key.Key_Return)
        await bench.settle()
        (data_dir / "settings.json").write_text('{"limits": {"tools": 7}}', encoding="utf-8")
        assert await bench.backend.reload_settings() == ()
        assert line_of(tools).text() == "7"
        assert (line_of(calls).text(), bool(calls.wrong)) == ("0", True)

    play(story)


def test_switches_and_choices_count_at_once(play: Play) -> None:
    async def story(bench: SettingsBench) -> None:
        page = await bench.open("approvals")
        told, mode = page.rows["notifications"], page.rows["approval_mode"]
        assert isinstance(told, SwitchRow)
        assert isinstance(mode, ChoiceRow)
        QTest.mouseClick(told.switch, Qt.MouseButton.LeftButton)
        mode.box.setCurrentIndex(0)
        mode.box.activated.emit(0)
        await bench.settle()
        assert not bench.backend.settings.notifications
        assert bench.backend.settings.approval_mode == "read_only"

    play(story)


def test_text_can_be_larger_and_everything_follows(play: Play) -> None:
    async def story(bench: SettingsBench) -> None:
        page = await bench.open("appearance")
        before = page.heading.fontMetrics().height()
        for _ in range(8):
            page.larger.click()  # type: ignore[attr-defined]
        assert bench.window.theme.text_percent == 150
        assert bench.window.state.text("text_percent") == "150"
        assert page.heading.fontMetrics().height() > before * 1.3
        page.set_text(100)  # type: ignore[attr-defined]
        assert page.heading.fontMetrics().height() == before

    play(story)


def test_everything_of_the_index_is_found_by_words_and_gone_to(play: Play) -> None:
    async def story(bench: SettingsBench) -> None:
        view = bench.view
        for entry in ENTRIES:
            page = await bench.open(entry.key)
            assert page is view.page
            assert entry.row in page.rows or entry.key == "providers#list", entry
        view.search.setFocus()
        QTest.keyClicks(view.search, "bubble")
        QTest.keyClick(view.search, Qt.Key.Key_Return)
        await bench.settle()
        assert isinstance(view.page, ToolsPage)
        assert view.page.rows["shell_sandbox"].isAncestorOf(bench.window.focusWidget())
        QTest.keyClicks(view.search, "no such thing")
        assert view.list.count() == 0
        QTest.keyClick(view, Qt.Key.Key_Escape)
        assert view.list.count() == len(PAGES)
        QTest.keyClick(view, Qt.Key.Key_Escape)
        assert not view.isVisible()

    play(story)


def test_tab_stays_within_the_settings_and_everything_has_a_name(play: Play) -> None:
    async def story(bench: SettingsBench) -> None:
        behind = QLineEdit(bench.window.canvas)
        behind.show()
        for spec in (*(spec.id for spec in PAGES), "provider:openai"):
            await bench.open(spec)
            for _ in range(60):
                QTest.keyClick(bench.window.focusWidget(), Qt.Key.Key_Tab)
                focused = bench.window.focusWidget()
                assert bench.view.isAncestorOf(focused), spec
                assert focused.accessibleName(), (spec, focused)

    play(story)


RUBBISH = ("", " ", "-1", "0", "9" * 40, "1e309", "nan", "½", "\u202e", "a b", "/no/such", "true")


def test_nothing_that_is_entered_or_pressed_raises(play: Play, data_dir: Path) -> None:
    async def story(bench: SettingsBench) -> None:
        for spec in (*(spec.id for spec in PAGES), "provider:openai", "provider:embedded"):
            page = await bench.open(spec)
            lines = [line for line in page.findChildren(QLineEdit) if line.isVisible()]
            for number, line in enumerate(lines):
                type_into(line, "")
                line.setText(RUBBISH[number % len(RUBBISH)])
                line.textEdited.emit(line.text())
                QTest.keyClick(line, Qt.Key.Key_Return)
                QTest.keyClick(line, Qt.Key.Key_Return)
            await bench.settle()
            for box in page.findChildren(QComboBox):
                for index in range(box.count()):
                    box.activated.emit(index)
            for button in page.findChildren(QAbstractButton):
                if not button.text().endswith("…") and button.text() not in ("Open", "Start"):
                    button.click()
                    button.click()
            await bench.settle()
        bench.window.actions_["theme_light"].trigger()
        bench.window.theme.set_text_percent(100)

    play(story)
    json.loads((data_dir / "settings.json").read_bytes())


def test_settings_that_cannot_be_written_are_told_at_the_field(play: Play, data_dir: Path) -> None:
    async def story(bench: SettingsBench) -> None:
        page = await bench.open("limits")
        (data_dir / "settings.json").mkdir()
        row = page.rows["tools"]
        type_into(line_of(row), "3")
        QTest.keyClick(line_of(row), Qt.Key.Key_Return)
        await bench.settle()
        assert "settings file" in row.wrong or "could not be saved" in row.wrong
        assert bench.backend.settings.limits.tools == 16

    play(story)


@pytest.mark.local
def test_the_embedded_model_is_started_and_stopped(play: Play) -> None:
    async def story(bench: SettingsBench) -> None:
        page = await bench.open("embedded")
        assert isinstance(page, EmbeddedPage)
        page.start.click()
        page.start.click()
        await until(lambda: bench.backend.embedded_state().state == "running")
        await bench.settle()
        assert page.state.label.text() == "Running"
        assert "listens at" in page.log.toPlainText()
        row = page.rows["n_ctx"]
        type_into(line_of(row), "2048")
        QTest.keyClick(line_of(row), Qt.Key.Key_Return)
        await bench.settle()
        page.refresh()
        assert page.start.text() == "Restart"
        page.stop.click()
        page.stop.click()
        await until(lambda: bench.backend.embedded_state().state == "stopped")
        await bench.settle()

    play(story)
