"""What a person does to a run under way: answers, decides, retries, stops, talks to it."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QRadioButton

from engine.vocabulary import events as ev
from engine.vocabulary.errors import AlreadyDecided
from tests.support.qt_loop import QtLoop
from tests.support.window_driver import WindowDriver, begin
from tests.support.window_events import STORAGE, WRITE_CALL, approval, asks


def test_a_question_is_answered_in_the_composer(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        run.tell(asks("idea", "Clarify idea", "How large is a photo?"))
        await driver.settle()

        assert driver.statuses()["idea"] == "Waiting for Input"
        assert driver.window.scene.items_by_node["idea"].info.waiting == 1
        assert [card.title.text() for card in driver.cards()] == [
            "Clarify idea is waiting for your answer"
        ]
        assert driver.chat.composer.line.text() == "Answering Clarify idea"

        driver.write("About 8 MB")
        driver.press_enter()
        await driver.settle()
        assert driver.backend.calls == [("answer", "idea", "About 8 MB", "p1")]
        assert driver.chat.composer.text == ""

        run.tell(ev.ChatMessage("idea", "user", "About 8 MB"))
        await driver.settle()
        assert not driver.cards()
        assert driver.texts() == ["How large is a photo?", "About 8 MB"]
        await driver.close()

    qt_loop.run(scenario())


def test_with_two_questions_the_person_chooses(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        for node, label, pause in (
            ("plan", "Create plan", "p1"),
            ("risk", "Find risks", "p2"),
        ):
            begin(run, node, label)
            run.tell(asks(node, label, f"{label}?", pause))
        await driver.settle()
        assert driver.chat.composer.line.text() == "Answering Create plan"
        assert driver.chat.composer.other.isVisible()

        driver.window.scene.choose_node("risk")
        assert driver.chat.composer.line.text() == "Answering Find risks"
        driver.write("None")
        driver.press_enter()
        await driver.settle()

        assert driver.backend.calls == [("answer", "risk", "None", "p2")]
        await driver.close()

    qt_loop.run(scenario())


def test_a_structured_question_is_a_card_of_options(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        run.tell(
            ev.NodeAwaitingInput(
                "idea", "Clarify idea", "", structured_input=STORAGE, pause_id="p7"
            )
        )
        await driver.settle()
        send = driver.card_button("Send answer")
        assert not send.isEnabled()
        options = driver.cards()[0].findChildren(QRadioButton)
        assert [option.text() for option in options] == ["Object storage", "Local disk"]

        options[1].click()
        assert send.isEnabled()
        driver.click(send)
        await driver.settle()

        assert driver.backend.calls == [("answer", "idea", "store: Local disk", "p7")]
        await driver.close()

    qt_loop.run(scenario())


@pytest.mark.parametrize(
    ("button", "reason", "call"),
    [
        ("Allow", "", ("decide", "a1", True, None)),
        ("Deny", "Not there", ("decide", "a1", False, "Not there")),
        ("Deny", "", ("decide", "a1", False, None)),
    ],
)
def test_an_approval_shows_the_whole_call(
    driver: WindowDriver,
    qt_loop: QtLoop,
    button: str,
    reason: str,
    call: tuple[str, str, bool, str | None],
) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run, "risk", "Find risks")
        run.tell(ev.ToolCallProposed("risk", "Find risks", WRITE_CALL), approval())
        await driver.settle()
        card = driver.cards()[0]
        assert card.title.text() == "Find risks wants to use Write File"
        assert driver.statuses()["risk"] == "Awaiting Approval"
        shown = card.call.toPlainText()  # type: ignore[attr-defined]
        assert shown == "path: docs/risks.md\ncontent:\n  # Risks\n  \n  1. Loss"
        card.reason.setText(reason)  # type: ignore[attr-defined]

        driver.click(driver.card_button(button))
        await driver.settle()
        assert driver.backend.calls == [call]

        if call[2]:
            run.tell(ev.ToolApproved("a1", "risk", "c1", "write"))
        else:
            run.tell(ev.ToolDenied("a1", "risk", "c1", "write", reason))
        await driver.settle()
        assert not driver.cards()
        await driver.close()

    qt_loop.run(scenario())


def test_a_refused_decision_is_told_and_can_be_made_again(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run, "risk", "Find risks")
        run.tell(approval())
        await driver.settle()
        driver.backend.error = AlreadyDecided("a1", "allowed")

        driver.click(driver.card_button("Allow"))
        await driver.settle()

        assert driver.window.toasts.texts() == ["Already decided: allowed"]
        assert driver.card_button("Allow").isEnabled()
        driver.backend.error = None
        await driver.close()

    qt_loop.run(scenario())


def test_a_failed_node_can_be_retried(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        run.tell(ev.NodeErrored("idea", "Clarify idea", "too many requests"))
        await driver.settle()
        assert driver.statuses()["idea"] == "Failed"
        assert "Too many requests" in driver.texts()[-1]
        assert driver.chat.composer.line.text().startswith("Retrying Clarify idea")

        driver.click(driver.card_button("Retry"))
        await driver.settle()
        assert driver.backend.calls == [("retry_node", "idea", None)]

        begin(run)
        await driver.settle()
        assert driver.statuses()["idea"] == "Thinking"
        assert not driver.cards()
        await driver.close()

    qt_loop.run(scenario())


def test_a_retry_can_carry_a_message(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        run.tell(ev.NodeErrored("idea", "Clarify idea", "refused"))
        await driver.settle()

        driver.write("Be brief")
        driver.press_enter()
        await driver.settle()

        assert driver.backend.calls == [("retry_node", "idea", "Be brief")]
        await driver.close()

    qt_loop.run(scenario())


def test_stop_and_continue(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        run.tell(ev.ChatMessageDelta("idea", "m1", "assistant", "Half a sen"))
        await driver.settle()

        driver.click(driver.window.top_bar.stop)
        await driver.settle()
        assert driver.backend.calls == [("stop_run", run.run_id)]

        run.tell(ev.Aborted())
        await driver.settle()
        assert driver.statuses()["idea"] == "Stopped"
        assert driver.texts() == ["Half a sen", "Stopped"]
        assert not driver.rows()[0].is_open
        assert driver.can("run")

        driver.click(driver.card_button("Continue"))
        await driver.settle()
        assert driver.backend.calls[-1] == ("continue_run", run.run_id)
        await driver.close()

    qt_loop.run(scenario())


def test_a_message_reaches_a_node_at_work(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        await driver.settle()
        assert not driver.chat.composer.button.isEnabled()

        driver.window.scene.choose_node("idea")
        assert driver.chat.composer.line.text() == "Message to Clarify idea, which is at work"
        driver.write("Think of videos, too")
        driver.press_enter()
        await driver.settle()

        assert driver.backend.calls == [("send_message", "idea", "Think of videos, too")]
        await driver.close()

    qt_loop.run(scenario())
