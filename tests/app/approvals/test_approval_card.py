"""A person decides about tool calls in the window, with everything in view that they decide on."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.approvals.call_views import CallText
from app.approvals.card import ApprovalCard
from engine.vocabulary import events as ev
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import (
    ApprovalRule,
    CallPreview,
    FileChangeOp,
    FilePreview,
    RuleProposal,
    ToolCall,
    ToolTier,
)
from tests.support.qt_loop import QtLoop
from tests.support.window_driver import WindowDriver, begin

DIFF = " 1|a\n-2|b\n+2|B"
WRITE = ToolCall("c1", "write", {"path": "docs/risks.md", "content": "never shown twice"})
RULE = RuleProposal((ApprovalRule("write", "docs/risks.md"),), "write a match", "write a near miss")
REQUEST = PendingApproval(
    "a1",
    "risk",
    "Find risks",
    WRITE,
    ToolTier.WRITE,
    "d",
    ("risk",),
    preview=CallPreview((FilePreview("docs/risks.md", FileChangeOp.UPDATE, DIFF),)),
    rule=RULE,
)
DELEGATE = ToolCall("c0", "openflow_call_subagent", {"subagent_id": "checker", "input": "Go"})
CHECKER = ev.SubagentSummary("checker", "Checker", "checks", "declared")


def card_of(driver: WindowDriver, at: int = 0) -> ApprovalCard:
    card = driver.cards()[at]
    assert isinstance(card, ApprovalCard)
    return card


def words(card: ApprovalCard) -> str:
    return "\n".join(label.text() for label in card.findChildren(QLabel))


async def ask(driver: WindowDriver, **changes: Any) -> ApprovalCard:
    """Start a run in which a call waits for a decision, and give its card."""
    await driver.start()
    run = await driver.run()
    begin(run, "risk", "Find risks")
    run.tell(ev.ToolApprovalRequested(replace(REQUEST, **changes)))
    await driver.settle()
    return card_of(driver)


def test_a_change_is_shown_by_its_complete_diff(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        card = await ask(driver, reason="writes files")
        assert "This call can change things: it writes files." in words(card)
        assert "Changes docs/risks.md" in words(card)
        assert [view.toPlainText() for view in card.diffs] == [DIFF]
        assert card.call is None
        assert "scroll" not in words(card)
        await driver.close()

    qt_loop.run(scenario())


HOSTILE = "src/\u202eyp.\u2066\x1b[2J\u200bx\n.py"
SHOWN = r"src/\u202eyp.\u2066\x1b[2J\u200bx\n.py"


def test_what_turns_or_hides_text_is_spelled_wherever_a_person_decides(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        preview = CallPreview(
            (FilePreview(HOSTILE, FileChangeOp.RENAME, f"+1|{HOSTILE[:9]}", HOSTILE),), HOSTILE
        )
        call = ToolCall("c1", HOSTILE, {HOSTILE: "\u2067rm\x1b[1A"})
        rule = RuleProposal((ApprovalRule("x", "y"),), HOSTILE, HOSTILE)
        card = await ask(driver, tool_call=call, preview=preview, rule=rule, reason=HOSTILE)
        assert card.call is not None
        assert SHOWN in card.title.text()
        assert f"Renames {SHOWN} to {SHOWN}" in words(card)
        assert f"Runs in {SHOWN}." in words(card)
        assert card.call.toPlainText() == SHOWN + r": \u2067rm\x1b[1A"
        assert card.diffs[0].toPlainText() == r"+1|src/\u202eyp.\u2066"
        everything = words(card) + card.call.toPlainText() + card.diffs[0].toPlainText()
        assert not set(everything) & set("\u202e\u2066\u2067\x1b\u200b")
        await driver.close()

    qt_loop.run(scenario())


def test_a_long_diff_is_there_to_the_last_line_and_says_so(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        diff = "\n".join(f"+{number}|line {number}" for number in range(1, 2001))
        files = (
            FilePreview("new.py", FileChangeOp.CREATE, diff),
            FilePreview("old.py", FileChangeOp.RENAME, "", "moved.py"),
        )
        card = await ask(driver, preview=CallPreview(files))
        assert card.diffs[0].toPlainText() == diff
        assert "2000 lines in all: scroll to see the rest" in words(card)
        assert "Creates new.py" in words(card)
        assert "Renames old.py to moved.py" in words(card)
        await driver.close()

    qt_loop.run(scenario())


def test_a_command_is_shown_with_its_folder_and_nothing_in_it_hides(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        call = ToolCall("c2", "bash", {"command": "ls \u202e\nrm -r a", "timeout": 9})
        card = await ask(driver, tool_call=call, preview=CallPreview(cwd="web"))
        assert card.call is not None
        assert card.call.toPlainText() == "command:\n  ls \\u202e\n  rm -r a\ntimeout: 9"
        assert "Runs in web." in words(card)
        assert card.title.text() == "Find risks wants to use Run Command"
        await driver.close()

    qt_loop.run(scenario())


def test_what_could_not_be_found_out_is_said(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        preview = CallPreview(problem="docs is a file")
        card = await ask(
            driver, preview=preview, tier=ToolTier.READ, reason="only reads, but it is asked about"
        )
        assert "could not be found out: docs is a file" in words(card)
        assert "It only reads, but it is asked about." in words(card)
        assert card.call is not None
        assert "never shown twice" in card.call.toPlainText()
        await driver.close()

    qt_loop.run(scenario())


def test_a_call_can_be_allowed_for_the_run_where_it_makes_a_rule(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        card = await ask(driver)
        assert "write a match" in words(card)
        assert "write a near miss" in words(card)
        driver.click(driver.card_button("Allow for this run"))
        await driver.settle()
        assert driver.backend.calls == [("decide", "a1", True, None, "for_run")]
        await driver.close()

    qt_loop.run(scenario())


def test_without_a_rule_there_is_no_such_choice(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await ask(driver, rule=None)
        driver.card_button("Allow")
        with pytest.raises(AssertionError, match="Allow for this run"):
            driver.card_button("Allow for this run")
        await driver.close()

    qt_loop.run(scenario())


def test_pressing_twice_decides_once(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        card = await ask(driver)
        driver.click(card.allow)
        driver.click(card.allow)
        driver.click(card.deny)
        await driver.settle()
        assert driver.backend.calls == [("decide", "a1", True, None)]
        assert not card.isEnabled()
        await driver.close()

    qt_loop.run(scenario())


@pytest.mark.parametrize(
    ("event", "verdict"),
    [
        (ev.ToolApproved("a1", "risk", "c1", "write"), "Allowed elsewhere"),
        (ev.ToolDenied("a1", "risk", "c1", "write", "not now"), "Denied elsewhere: not now"),
    ],
)
def test_a_call_that_was_settled_elsewhere_says_how(
    driver: WindowDriver, qt_loop: QtLoop, event: ev.RunEvent, verdict: str
) -> None:
    async def scenario() -> None:
        await ask(driver)
        driver.backend.run.tell(event)
        await driver.settle()
        assert driver.cards() == []
        row = next(row for row in driver.rows() if row.kind == "approval")
        assert (row.verdict, row.text) == (verdict, "Write File docs/risks.md")
        await driver.close()

    qt_loop.run(scenario())


def test_all_calls_of_a_turn_can_be_allowed_at_once(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run, "risk", "Find risks")
        begin(run, "plan", "Create plan")
        other = replace(REQUEST, approval_id="a3", node_id="plan", path=("plan",))
        run.tell(
            ev.ToolApprovalRequested(REQUEST),
            ev.ToolApprovalRequested(replace(REQUEST, approval_id="a2")),
            ev.ToolApprovalRequested(other),
        )
        await driver.settle()
        driver.click(driver.card_button("Allow all of this turn"))
        await driver.settle()
        assert driver.backend.calls == [("decide", "a1", True, None), ("decide", "a2", True, None)]
        await driver.close()

    qt_loop.run(scenario())


def test_a_subagent_s_calls_stand_under_its_node(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run, "risk", "Find risks")
        run.tell(
            ev.SubagentsDeclared("risk", (CHECKER,)),
            ev.ToolCallProposed("risk", "Find risks", DELEGATE),
            ev.ToolStarted("risk", "c0", DELEGATE.name, DELEGATE.arguments),
            ev.SubagentStarted("risk", "checker"),
            ev.NodeStarted("risk/checker", "Checker"),
            ev.ChatMessageDelta("risk/checker", "m", "assistant", "I look.", finalize=True),
            ev.ToolCallProposed("risk/checker", "Checker", WRITE),
            ev.ToolApprovalRequested(replace(REQUEST, path=("risk", "checker"))),
        )
        await driver.settle()
        assert card_of(driver).title.text() == "Find risks / Checker wants to use Write File"
        assert driver.statuses()["risk"] == "Awaiting Approval"
        said = [(row.node_id, row.label, row.text) for row in driver.rows() if row.kind != "tool"]
        assert said[0] == ("risk", "Find risks / Checker", "I look.")
        assert driver.chat.filter_bar.labels() == ["All", "Find risks"]
        (entry,) = driver.window.waiting_list.entries
        assert entry.path.endswith("Find risks / checker")

        driver.window.scene.choose_node("risk")
        await driver.settle()
        assert "I look." in driver.texts()

        driver.click(driver.card_button("Allow"))
        await driver.settle()
        assert driver.backend.calls == [("decide", "a1", True, None)]
        run.tell(
            ev.ToolApproved("a1", "risk/checker", "c1", "write"),
            ev.NodeCompleted("risk/checker", "Checker", {"summary": "fine"}),
            ev.SubagentCompleted("risk", "checker"),
            ev.ToolCompleted("risk", "c0", DELEGATE.name, "{}"),
        )
        await driver.settle()
        assert driver.cards() == []
        assert driver.statuses()["risk"] == "Thinking"
        assert driver.rows()[-1].label == "Find risks / Checker"
        await driver.close()

    qt_loop.run(scenario())


def test_a_subagent_that_gave_up_is_told(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run, "risk", "Find risks")
        run.tell(
            ev.SubagentsDeclared("risk", (CHECKER,)),
            ev.SubagentStarted("risk", "checker"),
            ev.SubagentFailed("risk", "checker", "no way in"),
        )
        await driver.settle()
        assert driver.texts()[-1] == "Checker failed: no way in"
        await driver.close()

    qt_loop.run(scenario())


def todo_events(call_id: str, *statuses: str) -> list[ev.RunEvent]:
    name = "openflow_update_todo_list"
    todos = [{"content": f"Step *{i}*", "status": status} for i, status in enumerate(statuses)]
    return [
        ev.ToolStarted("risk", call_id, name, {"todos": todos}),
        ev.ToolCompleted("risk", call_id, name, "ok"),
    ]


def test_a_list_of_things_to_do_is_one_card_that_changes(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run, "risk", "Find risks")
        run.tell(*todo_events("t1", "in_progress", "pending"))
        await driver.settle()
        (row,) = driver.rows()
        assert row.text == "▸ **Step \\*0\\***  \n☐ Step \\*1\\*"
        run.tell(*todo_events("t2", "completed", "completed"))
        await driver.settle()
        assert driver.rows() == [row]
        assert row.text == "☑ ~~Step \\*0\\*~~  \n☑ ~~Step \\*1\\*~~"
        driver.window.grab()
        await driver.close()

    qt_loop.run(scenario())


def test_a_call_that_a_new_rule_allows_says_so(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await ask(driver)
        run = driver.backend.run
        run.tell(ev.ToolApprovalRequested(replace(REQUEST, approval_id="a2")))
        await driver.settle()
        driver.click(card_of(driver).allow_for_run)
        run.tell(
            ev.ToolApproved("a1", "risk", "c1", "write"),
            ev.ToolApproved("a2", "risk", "c1", "write"),
        )
        await driver.settle()
        verdicts = [row.verdict for row in driver.rows() if row.kind == "approval"]
        assert verdicts == ["Allowed", "Allowed by the rule you made for this run"]
        await driver.close()

    qt_loop.run(scenario())


def test_what_is_far_too_long_is_shown_to_its_end(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        command = "echo " + "x" * 100_000 + "\n" + "rm -r build; " * 8_000 + "\u202etxt.exe"
        call = ToolCall("c1", "bash", {"command": command})
        card = await ask(driver, tool_call=call, preview=CallPreview(cwd="."))
        shown = "\n".join(view.toPlainText() for view in card.findChildren(CallText))
        assert "x" * 100_000 in shown
        assert "rm -r build; " * 8_000 + "\\u202etxt.exe" in shown
        assert "scroll to see the rest" in words(card)
        await driver.close()

    qt_loop.run(scenario())


def test_three_calls_are_decided_with_keys_alone(driver: WindowDriver, qt_loop: QtLoop) -> None:
    """Also while another one arrives, and however often a key is pressed."""

    async def scenario() -> None:
        await ask(driver)
        run = driver.backend.run
        run.tell(
            ev.ToolApprovalRequested(replace(REQUEST, approval_id="a2")),
            ev.ToolApprovalRequested(replace(REQUEST, approval_id="a3")),
        )
        await driver.settle()
        for number, key in enumerate((Qt.Key.Key_A, Qt.Key.Key_D, Qt.Key.Key_A), 1):
            driver.window.actions_["next_waiting"].trigger()
            await driver.settle()
            card = driver.focused()
            assert isinstance(card, ApprovalCard)
            for _ in range(10):
                driver.press(key, card)
            if number == 2:
                run.tell(ev.ToolApprovalRequested(replace(REQUEST, approval_id="a4")))
                await driver.settle()
            run.tell(ev.ToolApproved(card.approval_id, "risk", "c1", "write"))
            await driver.settle()
        decided = [call[1] for call in driver.backend.calls if call[0] == "decide"]
        assert len(decided) == len(set(decided)) == 3
        assert len(driver.cards()) == 1
        await driver.close()

    qt_loop.run(scenario())
