"""Interrupt, settings for the run, queued messages, limits and what waits, through the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.approvals.budget_card import BudgetCard
from app.approvals.card import ApprovalCard
from engine.vocabulary import events as ev
from engine.vocabulary.errors import NodeNotActive, UnknownMessage
from engine.vocabulary.inputs import RuntimePatch
from engine.vocabulary.messages import Usage
from engine.vocabulary.reconfiguration import NodeReconfigured
from engine.vocabulary.spending import Allowance, SpentLimit
from engine.vocabulary.tools import ApprovalMode
from orchestration.runs.steered import QueuedWord
from orchestration.settings.model import Limits, Settings, Spending
from tests.support.qt_loop import QtLoop, until
from tests.support.run_rig import scripted_backend
from tests.support.scripted_model import Held, ScriptedModel, submit, use
from tests.support.window_driver import WindowDriver, begin
from tests.support.window_events import approval, asks
from tests.support.workflow_files import write_workflow


def test_a_node_at_work_is_interrupted_once(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        await driver.settle()
        assert not driver.can("interrupt_node")
        driver.window.scene.choose_node("idea")
        bar = driver.workbench.steering.controls.bar
        assert driver.can("interrupt_node")
        driver.click(bar.interrupt)
        driver.click(bar.interrupt)
        await driver.settle()
        assert driver.backend.calls == [("interrupt_node", "idea")]
        assert bar.interrupt.text() == "Interrupting…"

        run.tell(ev.NodeInterrupted("idea", "Clarify idea"))
        await driver.settle()
        assert bar.interrupt.isHidden()
        assert not driver.can("interrupt_node")
        driver.write("Shorter")
        driver.window.actions_["retry_node"].trigger()
        await driver.settle()
        assert driver.backend.calls[-1] == ("retry_node", "idea", "Shorter")
        assert driver.chat.composer.text == ""
        await driver.close()

    qt_loop.run(scenario())


def test_a_refused_interruption_says_why_and_can_be_tried_again(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        driver.window.scene.choose_node("idea")
        await driver.settle()
        driver.backend.error = NodeNotActive("idea")
        bar = driver.workbench.steering.controls.bar
        driver.click(bar.interrupt)
        await driver.settle()
        assert len(driver.window.toasts.texts()) == 1
        assert bar.interrupt.isEnabled()
        driver.backend.error = None
        await driver.close()

    qt_loop.run(scenario())


def test_settings_of_a_node_are_changed_for_this_run(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        driver.window.scene.choose_node("idea")
        await driver.settle()
        controls = driver.workbench.steering.controls
        assert controls.bar.settings.full_text == "gpt-5.5 · asks before writing"
        driver.window.actions_["node_settings"].trigger()
        await until(lambda: controls.settings.isVisible())
        popover = controls.settings
        driver.click(popover.apply)  # nothing is other, so nothing is asked for
        await driver.settle()
        assert not popover.isVisible()
        assert driver.backend.calls == []

        driver.click(controls.bar.settings)
        await until(lambda: popover.isVisible())
        popover.model_line.setText("gpt-5.5-mini")
        popover.approval.setCurrentIndex(1)
        driver.click(popover.apply)
        await driver.settle()
        patch = RuntimePatch(model="gpt-5.5-mini", approval_mode=ApprovalMode.ALWAYS_ASK)
        assert driver.backend.calls == [("patch_node", "idea", patch)]
        assert "gpt-5.5-mini" in driver.window.toasts.texts()[-1]
        run.tell(NodeReconfigured("idea", patch))
        await driver.settle()
        words = "From now on in this run: model gpt-5.5-mini, approval: asks before every call"
        assert words in driver.texts()
        assert run.view.trace[-1].message == words
        await driver.close()

    qt_loop.run(scenario())


def test_a_queued_message_is_edited_removed_and_refused_kindly_when_it_is_too_late(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        run.queued = [QueuedWord("m1", "idea", "Be brief"), QueuedWord("m2", "idea", "Be kind")]
        run.tell(ev.ChatMessageDelta("idea", "t1", "assistant", "Hm"))
        await driver.settle()
        strip = driver.workbench.steering.controls.strip
        assert [row.label.text() for row in strip.rows] == [
            "Queued for Clarify idea: Be brief",
            "Queued for Clarify idea: Be kind",
        ]
        driver.window.scene.choose_node("risk")  # another filter leaves them where they are
        assert len(strip.rows) == 2

        first, second = strip.rows
        driver.click(first.edit)
        first.field.setPlainText("Be very brief")
        QTest.keyClick(first.field, Qt.Key.Key_Return)
        driver.click(second.remove)
        await driver.settle()
        assert driver.backend.calls == [
            ("edit_message", "m1", "Be very brief"),
            ("withdraw_message", "m2"),
        ]

        driver.backend.error = UnknownMessage("m1")
        driver.click(first.remove)
        await driver.settle()
        assert driver.window.toasts.texts() == [
            "The message was delivered before it could be changed"
        ]
        driver.backend.error = None
        run.queued = []
        run.tell(ev.ChatMessage("idea", "user", "Be very brief"))
        await driver.settle()
        assert strip.isHidden()
        await driver.close()

    qt_loop.run(scenario())


def test_what_waits_is_gone_through_by_key_and_decided_by_key(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run, "risk", "Find risks")
        run.tell(approval("a1"), approval("a2"))
        begin(run, "plan", "Create plan")
        run.tell(asks("plan", "Create plan", "Which one?", "p3"))
        driver.write("in the middle of a wo")
        await driver.settle()
        assert driver.focused() is driver.chat.composer.field  # it never takes the focus
        assert driver.window.windowTitle().startswith("(3) ")

        for expected in ("plan", "risk", "risk", "plan"):
            driver.window.actions_["next_waiting"].trigger()
            await driver.settle()
            assert driver.window.scene.chosen_node() == expected
        driver.window.actions_["next_waiting"].trigger()
        await driver.settle()
        card = driver.focused()
        assert isinstance(card, ApprovalCard)
        assert card.approval_id == "a1"
        QTest.keyClick(card, Qt.Key.Key_A)
        QTest.keyClick(card, Qt.Key.Key_D)  # it is locked by now
        await driver.settle()
        assert driver.backend.calls == [("decide", "a1", True, None)]
        await driver.close()

    qt_loop.run(scenario())


def test_the_bar_shows_usage_and_how_full_the_limit_is(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await driver.start()
        bar = driver.workbench.steering.controls.bar
        assert bar.isHidden()
        run = await driver.run()
        begin(run)
        run.limits[""] = Allowance(cost=0.5)
        usage = Usage(prompt_tokens=900, completion_tokens=100, total_tokens=1000, cost=0.25)
        run.tell(ev.UsageReported("idea", usage, "m", None))
        await driver.settle()
        assert "900 in · 100 out · $0.25" in bar.usage.full_text
        assert bar.limit.text() == "$0.25 of $0.50"
        assert bar.meter.value == 0.5
        driver.click(bar.usage)
        popover = driver.workbench.steering.controls.usage
        assert [row[0] for row in popover.texts()] == ["Clarify idea", "Whole run"]
        driver.press(Qt.Key.Key_Escape, popover)
        assert popover.isHidden()
        await driver.close()

    qt_loop.run(scenario())


def test_a_limit_that_is_used_up_has_a_card(
    qt_loop: QtLoop, tmp_path: Path, data_dir: Path
) -> None:
    usage = Usage(prompt_tokens=90, completion_tokens=10, total_tokens=100)
    model = ScriptedModel(
        {
            "idea": [submit({"summary": "s"}, usage=usage)],
            "plan": [submit({})],
            "risk": [submit({})],
            "brief": [submit({})],
        }
    )
    settings = Settings(limits=Limits(run=Spending(tokens=100)))
    file = write_workflow(tmp_path / "planning.workflow.json", model="gpt-4o")
    driver = WindowDriver(file, backend=scripted_backend(model, data_dir, settings))

    async def scenario() -> None:
        await driver.start()
        driver.press_enter()
        await until(lambda: any(isinstance(card, BudgetCard) for card in driver.cards()))
        card = next(card for card in driver.cards() if isinstance(card, BudgetCard))
        assert [entry.kind for entry in driver.window.waiting_list.entries] == ["budget"]
        card.more.setText("a few")
        card.more.textEdited.emit("a few")
        assert not card.go_on.isEnabled()
        card.more.setText("1,000")
        card.more.textEdited.emit("1,000")
        driver.click(card.go_on)
        await until(lambda: set(driver.statuses().values()) == {"Done"})
        await driver.settle()
        assert not driver.cards()
        await driver.close()

    qt_loop.run(scenario())
    driver.dispose()


def test_a_node_is_interrupted_talked_to_and_retried_in_a_real_run(
    qt_loop: QtLoop, tmp_path: Path, data_dir: Path
) -> None:
    first, second = Held(use(("read", {"path": "a.txt"}))), Held(submit({"summary": "s"}))
    model = ScriptedModel(
        {
            "idea": [first, second, submit({"summary": "again"})],
            "plan": [submit({})],
            "risk": [submit({})],
            "brief": [submit({})],
        }
    )
    file = write_workflow(tmp_path / "planning.workflow.json", model="gpt-4o")
    driver = WindowDriver(file, backend=scripted_backend(model, data_dir))

    async def scenario() -> None:
        await driver.start()
        driver.press_enter()
        await first.begun.wait()
        await driver.settle()
        driver.window.scene.choose_node("idea")
        driver.write("Think of videos")
        driver.press_enter()
        await driver.settle()
        controls = driver.workbench.steering.controls
        assert [row.message.text for row in controls.strip.rows] == ["Think of videos"]

        first.release.set()
        await second.begun.wait()
        await driver.settle()
        assert controls.strip.isHidden()
        assert "Think of videos" in driver.texts()

        driver.click(controls.bar.interrupt)
        await until(lambda: driver.statuses()["idea"] == "Interrupted")
        await driver.settle()
        driver.write("Once more")
        driver.click(controls.bar.retry)
        await until(lambda: set(driver.statuses().values()) == {"Done"})
        await driver.settle()
        assert "Once more" in driver.texts()
        await driver.close()

    qt_loop.run(scenario())
    driver.dispose()


def test_a_budget_of_a_node_names_the_node(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        limit = SpentLimit("node", "idea", "tokens", 120, 100)
        run.tell(
            ev.NodeAwaitingInput(
                "idea", "Clarify idea", "", pause_id="p1", question="Go on?", budget=limit
            )
        )
        await driver.settle()
        [card] = driver.cards()
        assert card.title.text() == "Clarify idea has reached its limit"
        driver.click(driver.card_button("Stop this node"))
        await driver.settle()
        assert driver.backend.calls == [("answer", "idea", "stop", "p1")]
        await driver.close()

    qt_loop.run(scenario())
