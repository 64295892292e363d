"""Whole runs on a model with a tiny context: what is left out can be read again."""

from __future__ import annotations

import os
from pathlib import Path

from engine.vocabulary.errors import ContextTooLong
from engine.vocabulary.events import ContextCompacted, ToolArtifactCreated
from engine.vocabulary.messages import ModelTurn, ResultItem
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import ApprovalMode
from orchestration.settings.context_windows import window_look_up
from orchestration.settings.model import EmbeddedModel, ModelSettings, Settings
from orchestration.tools.builtin.read import READ
from providers.endpoint_report import Profile
from providers.quirks import Quirks
from tests.support.engine_driver import workflow
from tests.support.run_rig import RunRig, run_async
from tests.support.scripted_model import OK, Script, use

WINDOW = 6_000
LINE = "The quick brown fox jumps over the lazy dog.\n"
PAGES = 9
ONE = workflow(nodes=["a"], agents={"a": {"tools": {"approvalMode": ApprovalMode.YOLO}}})


def pages(folder: Path) -> None:
    """Files that are too long together."""
    folder.mkdir(parents=True, exist_ok=True)
    for at in range(PAGES):
        (folder / f"page-{at}.txt").write_text(f"page {at}\n" + LINE * 90)


def results(request: AgentRequest) -> list[str]:
    """The contents of all results in a request."""
    return [i.result.content for i in request.transcript if isinstance(i, ResultItem)]


def reader(request: AgentRequest) -> ModelTurn:
    """Reads every page, then the first one as an artifact, then submits."""
    known = results(request)
    if len(known) < PAGES:
        return use(("read", {"path": f"page-{len(known)}.txt"}))
    if len(known) == PAGES:
        artifact = known[0].partition("artifact:")[2].split()[0]
        return use(("read", {"path": f"artifact:{artifact}:raw"}))
    return OK


def rig_of(folder: Path, script: Script, window: int | None = WINDOW) -> RunRig:
    """A run whose node reads pages."""
    pages(folder / "work")
    return RunRig(ONE, script, folder / "work", tools=[READ], context_window=lambda model: window)


def test_what_was_left_out_can_be_read_as_an_artifact(tmp_path: Path) -> None:
    async def body() -> None:
        rig = rig_of(tmp_path, reader)
        assert isinstance(await rig.start(), RunCompleted)
        last = results(rig.model.requests[-1])
        assert last[0].startswith("[put aside to save context: ")
        assert "page 0" in last[PAGES]
        assert last[PAGES].count(LINE.strip()) == 90
        made = rig.events(ToolArtifactCreated)
        assert len(made) == sum(event.items for event in rig.events(ContextCompacted))
        assert {Path(event.path).name for event in made} == {
            *os.listdir(tmp_path / "own" / "artifacts")
        }
        rows = [row.message for row in rig.view.trace if "Context compacted" in row.message]
        assert rows
        assert "old results put aside" in rows[0]

    run_async(body)


def test_a_file_that_was_left_out_is_given_whole_when_it_is_read_again(tmp_path: Path) -> None:
    def script(request: AgentRequest) -> ModelTurn:
        known = results(request)
        if len(known) < PAGES:
            return reader(request)
        if len(known) == PAGES:
            return use(("read", {"path": "page-0.txt"}))
        return OK

    async def body() -> None:
        rig = rig_of(tmp_path, script)
        assert isinstance(await rig.start(), RunCompleted)
        again = results(rig.model.requests[-1])[PAGES]
        assert again.count(LINE.strip()) == 90

    run_async(body)


def test_a_refusal_for_length_compacts_and_goes_again_once(tmp_path: Path) -> None:
    refusals = iter([ContextTooLong("prompt is too long")])

    def script(request: AgentRequest) -> ModelTurn | ContextTooLong:
        known = results(request)
        if len(known) < PAGES:
            return reader(request)
        return next(refusals, OK)

    async def body() -> None:
        rig = rig_of(tmp_path, script, None)
        assert isinstance(await rig.start(), RunCompleted)
        (told,) = rig.events(ContextCompacted)
        assert told.after < told.before
        assert len(rig.model.requests) == PAGES + 2
        assert rig.events(ToolArtifactCreated)

    run_async(body)


def test_a_disk_that_is_full_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    async def body() -> None:
        rig = rig_of(tmp_path, _reads_and_submits)
        (tmp_path / "own").mkdir()
        (tmp_path / "own" / "artifacts").write_text("no folder")
        assert isinstance(await rig.start(), RunCompleted)
        said = [entry.content for entry in rig.view.chat["a"] if entry.role == "system"]
        assert any("could not be put aside for the model" in text for text in said)

    run_async(body)


def _reads_and_submits(request: AgentRequest) -> ModelTurn:
    done = len(results(request)) >= PAGES
    return OK if done else reader(request)


def test_with_no_room_at_all_the_node_fails_and_can_be_retried(tmp_path: Path) -> None:
    async def body() -> None:
        rig = rig_of(tmp_path, lambda request: ContextTooLong("prompt is too long"), None)
        outcome = await rig.start()
        assert isinstance(outcome, NeedsInteraction)
        assert "larger context window" in outcome.retryables[0].error

    run_async(body)


def test_windows_come_from_the_user_first_then_from_the_table() -> None:
    window = window_look_up(
        Settings(
            models={"GPT-4o": ModelSettings(context_window=9_000), "x": ModelSettings()},
            embedded=EmbeddedModel(n_ctx=2_048),
        )
    )
    assert window("gpt-4o") == 9_000
    assert window("claude-sonnet-4-20250514") == 200_000
    assert window("embedded") == 2_048
    assert window("x") is None
    assert window("nobody-knows-it") is None


def test_what_a_check_of_the_endpoint_has_found_goes_before_the_table() -> None:
    first, second = Quirks(), Quirks()
    for model, size in (("gpt-4o", 9_000), ("local", 4_096), ("said", 1_000), ("unsaid", None)):
        first.checked(model, Profile("2026-01-01T00:00:00Z", size))
    second.checked("local", Profile("2026-01-01T00:00:00Z", 2_048))
    settings = Settings(models={"said": ModelSettings(context_window=7_000)})
    window = window_look_up(settings, [first, second])
    assert window("gpt-4o") == 9_000
    assert window("local") == 2_048
    assert window("said") == 7_000
    assert window("unsaid") is None
    assert window("claude-sonnet-4-20250514") == 200_000
