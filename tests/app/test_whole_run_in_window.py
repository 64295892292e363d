"""The window over the real backend, on the real loop, with a model that plays a script."""

from __future__ import annotations

from pathlib import Path

from engine.vocabulary.errors import PermanentFailure
from engine.vocabulary.messages import Usage
from tests.support.qt_loop import QtLoop, until
from tests.support.run_rig import scripted_backend
from tests.support.scripted_model import Held, ScriptedModel, Streamed, ask, submit, use
from tests.support.window_driver import WindowDriver
from tests.support.workflow_files import write_workflow

USAGE = Usage(prompt_tokens=90, completion_tokens=10, total_tokens=100)


def test_a_run_from_the_first_word_to_the_last_output(
    qt_loop: QtLoop, tmp_path: Path, data_dir: Path
) -> None:
    thinking = Streamed(
        (("thinking", "Small steps."), ("text", "Here is "), ("text", "the **plan**.")),
        submit({"steps": ["one", "two"]}, "Here is the **plan**.", usage=USAGE),
    )
    held = Held(submit({"risks": []}))
    model = ScriptedModel(
        {
            "idea": [ask("For whom?"), submit({"summary": "For all"})],
            "plan": [thinking],
            "risk": [
                use(("write", {"path": "risks.md", "content": "# Risks"})),
                held,
            ],
            "brief": [PermanentFailure("the key was refused"), submit({"brief": "Done"})],
        }
    )
    file = write_workflow(tmp_path / "planning.workflow.json", model="gpt-4o")
    driver = WindowDriver(file, backend=scripted_backend(model, data_dir))

    async def scenario() -> None:
        await driver.start()
        assert driver.can("run")
        driver.write("Resumable uploads")
        driver.press_enter()

        await until(lambda: driver.statuses()["idea"] == "Waiting for Input")
        await driver.settle()
        assert driver.texts()[:2] == ["Resumable uploads", "For whom?"]
        driver.write("For everyone")
        driver.press_enter()

        await until(lambda: driver.statuses()["risk"] == "Awaiting Approval")
        await driver.settle()
        assert driver.statuses()["idea"] == "Done"
        assert "Here is the **plan**." in driver.texts()
        driver.click(driver.card_button("Allow"))

        await held.begun.wait()
        await driver.settle()
        assert (data_dir / "written" / "risks.md").read_text() == "# Risks"
        held.release.set()

        await until(lambda: driver.statuses()["brief"] == "Failed")
        await driver.settle()
        assert any("the key was refused" in text for text in driver.texts())
        driver.click(driver.card_button("Retry"))

        await until(lambda: driver.statuses()["brief"] == "Done")
        await driver.settle()
        assert set(driver.statuses().values()) == {"Done"}
        assert driver.texts()[-1].startswith("Workflow completed · 4 outputs")
        assert driver.can("run")
        assert not driver.cards()
        await driver.close()

    qt_loop.run(scenario())
    driver.dispose()


def test_stop_ends_a_model_call_and_continue_goes_on(
    qt_loop: QtLoop, tmp_path: Path, data_dir: Path
) -> None:
    held = Held(submit({"summary": "late"}))
    model = ScriptedModel(
        {
            "idea": [held, submit({"summary": "again"})],
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
        await held.begun.wait()
        await driver.settle()
        assert driver.statuses()["idea"] == "Thinking"

        driver.click(driver.window.top_bar.stop)
        await until(lambda: driver.statuses()["idea"] == "Stopped")
        await driver.settle()
        assert held.cancelled
        assert driver.window.top_bar.run.isVisible()

        driver.click(driver.card_button("Continue"))
        await until(lambda: set(driver.statuses().values()) == {"Done"})
        await driver.settle()
        assert not driver.cards()
        await driver.close()

    qt_loop.run(scenario())
    driver.dispose()


def test_closing_the_window_in_the_middle_of_a_run_leaves_nothing_behind(
    qt_loop: QtLoop, tmp_path: Path, data_dir: Path
) -> None:
    held = Held(submit({}))
    model = ScriptedModel({"idea": [held]})
    file = write_workflow(tmp_path / "planning.workflow.json", model="gpt-4o")
    driver = WindowDriver(file, backend=scripted_backend(model, data_dir))

    async def scenario() -> None:
        await driver.start()
        driver.press_enter()
        await held.begun.wait()

        await driver.close()

        assert held.cancelled
        assert driver.workbench.tasks.count == 0

    qt_loop.run(scenario())
    driver.dispose()
