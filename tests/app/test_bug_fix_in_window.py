"""A whole task in the window, over the real backend and a scripted endpoint on this computer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.approvals.card import ApprovalCard
from orchestration.composition import open_backend
from orchestration.settings.data_folder import managed_folder, settings_file
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
    submit,
)
from tests.support.loopback import LoopbackServer
from tests.support.qt_loop import QtLoop, until
from tests.support.window_driver import WindowDriver


@pytest.fixture
def endpoint(data_dir: Path) -> Iterator[LoopbackServer]:
    """A provider that answers as it is told, set as the only one."""
    with LoopbackServer() as server:
        settings = {
            "active_provider": "openai",
            "providers": {
                "openai": {"base_url": server.url, "wire": "chat", "default_model": "scripted"}
            },
        }
        data_dir.mkdir(parents=True)
        settings_file(data_dir).write_text(json.dumps(settings), encoding="utf-8")
        yield server


@pytest.fixture
def window(qapp: object, data_dir: Path, endpoint: LoopbackServer) -> Iterator[WindowDriver]:
    backend = open_backend(data_dir, env={"OPENAI_API_KEY": "sk-test"})
    driver = WindowDriver(WORKFLOW, backend=backend)
    yield driver
    driver.dispose()


def card_about(driver: WindowDriver, tool: str) -> ApprovalCard | None:
    for card in driver.cards():
        if isinstance(card, ApprovalCard) and card.title.text().endswith(tool):
            return card
    return None


async def decide(driver: WindowDriver, tool: str, button: str) -> ApprovalCard:
    """Wait for the card about a tool, press one of its buttons, and give it as it was."""
    await until(lambda: card_about(driver, tool), f"nobody asked about {tool}")
    card = card_about(driver, tool)
    assert card is not None
    driver.click(getattr(card, button))
    await driver.settle()
    return card


def test_the_bug_is_found_corrected_tested_and_reported(
    qt_loop: QtLoop, data_dir: Path, endpoint: LoopbackServer, window: WindowDriver
) -> None:
    repo = managed_folder(data_dir, "bug-fix")
    endpoint.play(
        calls(("search", {"pattern": "price", "paths": "**/*"})),
        submit(FOUND),
        calls(("edit", EDIT)),
        calls(("bash", TESTS)),
        submit(FIXED),
        submit(REPORT),
    )

    async def scenario() -> None:
        await window.start()
        window.press_enter()

        await until(lambda: card_about(window, "Edit File"), "nobody asked about the edit")
        assert window.statuses()["fix"] == "Awaiting Approval"
        assert WRONG in basket(repo)
        card = card_about(window, "Edit File")
        assert card is not None
        (diff,) = card.diffs
        shown = diff.toPlainText().splitlines()
        assert any(line.startswith("-") and WRONG in line for line in shown)
        assert any(line.startswith("+") and RIGHT in line for line in shown)
        await decide(window, "Edit File", "allow_for_run")

        card = await decide(window, "Run Command", "allow")
        assert RIGHT in basket(repo)

        await until(lambda: set(window.statuses().values()) == {"Done"}, "it did not complete")
        await window.settle()
        assert not window.cards()
        assert any(REPORT["report"] in text for text in window.texts())
        assert all_pass(repo)
        await window.close()

    qt_loop.run(scenario())


def test_a_denied_edit_changes_nothing_and_the_model_hears_why(
    qt_loop: QtLoop, data_dir: Path, endpoint: LoopbackServer, window: WindowDriver
) -> None:
    failed = {"change": "it was not allowed", "tests_pass": False}
    endpoint.play(submit(FOUND), calls(("edit", EDIT)), submit(failed), submit(REPORT))

    async def scenario() -> None:
        await window.start()
        window.press_enter()
        await until(lambda: card_about(window, "Edit File"), "nobody asked about the edit")
        card = card_about(window, "Edit File")
        assert card is not None
        card.reason.setText("Not on a Friday.")
        await decide(window, "Edit File", "deny")

        await until(lambda: set(window.statuses().values()) == {"Done"}, "it did not complete")
        await window.settle()
        assert WRONG in basket(managed_folder(data_dir, "bug-fix"))
        assert b"Not on a Friday." in endpoint.asked[2].body
        assert any("Not on a Friday." in row.verdict for row in window.rows())
        await window.close()

    qt_loop.run(scenario())
