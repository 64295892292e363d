"""A run as a person sees it: started, streaming, watched, done."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt

from engine.graph.problems import Problem
from engine.vocabulary import events as ev
from engine.vocabulary.messages import Usage
from engine.vocabulary.report import NodeOutput, RunReport
from engine.vocabulary.tools import ToolCall
from orchestration.settings.provider_choice import Readiness
from tests.support.fake_backend import DEMO_READY, FakeRun
from tests.support.qt_loop import QtLoop, turns, until
from tests.support.window_driver import WindowDriver, begin
from tests.support.window_events import asks


def test_text_in_the_composer_starts_the_run(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        assert driver.can("run")
        assert not driver.can("stop")

        await driver.run("Resumable uploads")

        assert driver.backend.requests[0].text == "Resumable uploads"
        assert driver.chat.composer.text == ""
        assert driver.window.top_bar.stop.isVisible()
        assert not driver.window.top_bar.run.isVisible()
        assert driver.can("stop")
        assert not driver.can("run")
        await driver.close()

    qt_loop.run(scenario())


def test_the_run_button_takes_the_composers_text(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        driver.write("A text")

        driver.click(driver.window.top_bar.run)
        await driver.settle()

        assert [request.text for request in driver.backend.requests] == ["A text"]
        await driver.close()

    qt_loop.run(scenario())


def test_shift_enter_breaks_the_line(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        driver.write("one")
        before = driver.chat.composer.field.height()

        driver.press_enter(Qt.KeyboardModifier.ShiftModifier)

        assert driver.chat.composer.field.toPlainText() == "one\n"
        assert driver.chat.composer.field.height() > before
        assert not driver.backend.requests
        await driver.close()

    qt_loop.run(scenario())


def test_streamed_text_arrives_as_one_change_a_frame(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        await driver.settle()
        changes: list[object] = []
        model = driver.chat.model
        assert model is not None
        model.changed.connect(changes.append)

        for burst in (1, 2, 3):
            for _ in range(100):
                run.tell(ev.ChatMessageDelta("idea", "m1", "assistant", "word "))
            await until(partial(driver.says, "word " * 100 * burst))
            assert len(changes) == burst

        assert driver.rows()[0].is_open
        assert driver.statuses()["idea"] == "Thinking"
        assert "Clarify idea is thinking" in driver.chat.activity.text()

        run.tell(ev.ChatMessageDelta("idea", "m1", "assistant", "", finalize=True))
        await driver.settle()
        assert not driver.rows()[0].is_open
        await driver.close()

    qt_loop.run(scenario())


def test_statuses_outputs_and_the_end(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run("Uploads")
        run.tell(ev.ChatMessage("idea", "user", "Uploads"))
        begin(run)
        usage = Usage(prompt_tokens=500, completion_tokens=120, total_tokens=620)
        run.tell(ev.UsageReported("idea", usage, "test-model"))
        run.tell(ev.NodeCompleted("idea", "Clarify idea", {"summary": "Chunks"}), seconds=3)
        run.tell(ev.NodeQueued("plan", "Create plan"))
        await driver.settle()

        assert driver.statuses() == {
            "idea": "Done",
            "plan": "Queued",
            "risk": "Idle",
            "brief": "Idle",
        }
        info = driver.window.scene.items_by_node["idea"].info
        assert (info.tokens, round(info.seconds or 0)) == (620, 3)
        assert driver.texts() == ["Uploads", "**Summary**: Chunks"]

        outputs = (NodeOutput("idea", {}),)
        run.tell(ev.Finished(RunReport("planning", outputs, usage=usage)), seconds=1)
        await driver.settle()
        assert driver.texts()[-1] == "Workflow completed · 1 output · 4 s · 620 tokens"
        assert driver.window.top_bar.run.isVisible()
        assert driver.can("run")
        await driver.close()

    qt_loop.run(scenario())


def test_choosing_a_node_filters_the_conversation(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        run.tell(ev.ChatMessage("plan", "assistant", "From plan"))
        run.tell(ev.ChatMessage("risk", "assistant", "From risk"))
        await driver.settle()
        assert driver.chat.filter_bar.labels() == ["All", "Create plan", "Find risks"]

        driver.window.scene.choose_node("risk")
        assert driver.texts() == ["From risk"]

        driver.chat.filter_bar.chosen.emit("")
        assert driver.texts() == ["From plan", "From risk"]
        assert driver.window.scene.chosen_node() == ""
        await driver.close()

    qt_loop.run(scenario())


def test_what_waits_is_one_key_away_and_never_takes_the_focus(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        driver.write("half a thou")
        begin(run, "risk", "Find risks")
        run.tell(asks("risk", "Find risks", "Which ones?"))
        await driver.settle()
        field = driver.chat.composer.field
        assert driver.focused() is field
        assert driver.chat.composer.text == "half a thou"
        assert driver.window.top_bar.waiting.text() == "1 waiting"
        assert not driver.window.waiting_list.isVisible()

        driver.press(Qt.Key.Key_F8, field)
        assert driver.window.waiting_list.row_texts() == ["Planning / Find risks asks a question"]
        assert driver.window.waiting_list.isAncestorOf(driver.focused() or driver.window)

        focused = driver.focused()
        assert focused is not None
        driver.press(Qt.Key.Key_Return, focused)
        await driver.settle()
        assert driver.window.scene.chosen_node() == "risk"
        assert driver.focused() is field
        assert not driver.window.waiting_list.isVisible()
        await driver.close()

    qt_loop.run(scenario())


def test_tool_calls_are_one_line_that_opens(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        call = ToolCall("c1", "read", {"path": "docs/api.md"})
        run.tell(
            ev.ToolCallProposed("idea", "Clarify idea", call),
            ev.ToolStarted("idea", "c1", "read", call.arguments),
        )
        await driver.settle()
        tool = driver.rows()[0].tool
        assert tool is not None
        assert (tool.verb, tool.target, tool.status) == ("Read File", "docs/api.md", "running")
        assert driver.statuses()["idea"] == "Running Tool"

        run.tell(ev.ToolCompleted("idea", "c1", "read", "# API"), seconds=2)
        await driver.settle()
        assert (tool.status, tool.seconds, tool.output) == ("completed", 2.0, "# API")
        await driver.close()

    qt_loop.run(scenario())


def test_the_trace_lists_what_happened(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run()
        begin(run)
        run.tell(ev.NodeCompleted("idea", "Clarify idea", {}))
        await driver.settle()
        driver.window.dock.show_tab(1)

        trace = driver.window.dock.trace.model
        told = [
            tuple(trace.index(row, column).data() for column in (1, 2, 3))
            for row in range(trace.rowCount())
        ]
        assert told == [
            ("Queued", "Clarify idea", "Queued"),
            ("Running", "Clarify idea", "Started"),
            ("Done", "Clarify idea", "Completed"),
        ]
        await driver.close()

    qt_loop.run(scenario())


def test_a_workflow_that_cannot_run_says_why_and_offers_the_demo_model(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    problem = Problem("unknown_model", "node 'idea' names the model 'gpt-5.5'", node_id="idea")
    driver.backend.ready[None] = Readiness(False, "no provider offers gpt-5.5")
    driver.backend.problems_by_provider[None] = (problem,)

    async def scenario() -> None:
        await driver.start()
        assert not driver.can("run")
        assert driver.window.top_bar.chip.text == "Can't run yet: 1 problem"
        assert "Can't run yet" in driver.window.top_bar.run.toolTip()
        await turns(5)

        driver.write("Uploads")
        driver.click(driver.card_button("Run with the demo model"))
        await until(lambda: driver.backend.live_runs, "the demo run was not started")
        await driver.settle()

        request = driver.backend.requests[0]
        assert (request.text, request.overrides.provider) == ("Uploads", "embedded")
        assert driver.window.top_bar.chip.text == (
            "Demo model: runs on your computer, makes things up"
        )
        await driver.close()

    qt_loop.run(scenario())


def test_a_refused_start_lists_every_problem(driver: WindowDriver, qt_loop: QtLoop) -> None:
    driver.backend.refusal = (
        Problem("missing_key", "the key of OpenAI is missing"),
        Problem("unknown_tool", "node 'plan' names a tool that there is not", node_id="plan"),
    )

    async def scenario() -> None:
        await driver.start()
        driver.write("Uploads")
        driver.press_enter()
        await driver.settle()

        assert not driver.backend.live_runs
        assert driver.cards()[0].title.text() == "This workflow can't run yet: 2 problems"
        assert driver.chat.composer.text == "Uploads"
        await driver.close()

    qt_loop.run(scenario())


def test_the_demo_model_is_called_by_its_name(driver: WindowDriver, qt_loop: QtLoop) -> None:
    driver.backend.ready[None] = DEMO_READY

    async def scenario() -> None:
        await driver.start()
        chip = driver.window.top_bar.chip
        assert chip.text == "Demo model: runs on your computer, makes things up"
        assert chip.accessibleName() == f"Readiness: {chip.text}"
        assert driver.can("run")
        await driver.close()

    qt_loop.run(scenario())


def test_a_run_is_still_there_after_looking_at_another_workflow(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await driver.start()
        first = driver.window.document.path
        assert first is not None
        other = first.with_name("other.workflow.json")
        other.write_text(first.read_text().replace('"Planning"', '"Other"'))
        run: FakeRun = await driver.run("Uploads")
        begin(run)
        await driver.settle()

        driver.window.sidebar.chosen.emit(other)
        await driver.settle()
        assert driver.window.document.graph.name == "Other"
        assert {"Planning", "Other"} <= set(driver.window.sidebar.names())
        assert set(driver.statuses().values()) == {"Idle"}
        run.tell(ev.ChatMessage("idea", "assistant", "Meanwhile"))
        run.tell(asks("idea", "Clarify idea", "Well?"))
        await driver.settle()
        assert driver.window.top_bar.waiting.text() == "1 waiting"

        driver.window.waiting_list.chosen.emit(driver.window.waiting_list.entries[0])
        await driver.settle()
        assert driver.window.document.path == first
        assert driver.texts() == ["Meanwhile", "Well?"]
        assert driver.statuses()["idea"] == "Waiting for Input"
        await driver.close()

    qt_loop.run(scenario())
