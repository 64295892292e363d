"""The plan of a run: written, sealed once, found again after a restart."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from orchestration.tools.tool import services_in
from orchestration.workspace.artifacts import ArtifactStore
from orchestration.workspace.paths import Workspace
from orchestration.workspace.plan_draft import MAX_PLAN_BYTES, PlanDraft, PlanRefused

PLAN = "# Plan\n\n1. Größe prüfen ✔\n"


def test_there_is_no_draft_before_one_is_written(tmp_path: Path) -> None:
    plan = PlanDraft(tmp_path / "run")
    assert plan.read() is None
    assert plan.sealed() is None
    with pytest.raises(PlanRefused, match=r"no draft yet: write run://PLAN\.md"):
        plan.seal()
    assert not (tmp_path / "run").exists()


def test_a_draft_is_read_as_it_was_written_last(tmp_path: Path) -> None:
    plan = PlanDraft(tmp_path)
    plan.write("first")
    plan.write(PLAN)
    assert plan.read() == PLAN
    assert PlanDraft(tmp_path).read() == PLAN


def test_sealing_says_what_was_sealed_and_says_the_same_again(tmp_path: Path) -> None:
    plan = PlanDraft(tmp_path)
    plan.write(PLAN)
    sealed = plan.seal()
    data = PLAN.encode()
    assert (sealed.sha256, sealed.bytes) == (sha256(data).hexdigest(), len(data))
    assert plan.seal() == plan.sealed() == sealed
    assert PlanDraft(tmp_path).seal() == sealed
    assert [path.name for path in tmp_path.iterdir()] == [f"{sealed.id}-plan.md"]


def test_the_sealed_plan_is_an_artifact_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    services = services_in(tmp_path / "run", Workspace(tmp_path / "project"))
    services.plan.write(PLAN)
    assert services.artifacts.read(services.plan.seal().id) == PLAN
    assert not list((tmp_path / "project").iterdir())


@pytest.mark.parametrize("again", [False, True], ids=["same run", "after a restart"])
def test_a_sealed_plan_is_not_open_to_changes(tmp_path: Path, again: bool) -> None:
    plan = PlanDraft(tmp_path)
    plan.write(PLAN)
    sealed = plan.seal()
    if again:
        plan = PlanDraft(tmp_path)
    with pytest.raises(PlanRefused, match=f"artifact:{sealed.id}"):
        plan.read()
    with pytest.raises(PlanRefused, match="sealed"):
        plan.write("another")
    assert ArtifactStore(tmp_path).read(sealed.id) == PLAN


@pytest.mark.parametrize("text", ["", " \n\t", "\u2003\u00a0"])
def test_a_blank_draft_is_not_sealed(tmp_path: Path, text: str) -> None:
    plan = PlanDraft(tmp_path)
    plan.write(text)
    with pytest.raises(PlanRefused, match="blank"):
        plan.seal()
    assert plan.read() == text


def test_a_plan_may_be_as_large_as_the_limit_and_no_larger(tmp_path: Path) -> None:
    plan = PlanDraft(tmp_path)
    plan.write("x" * MAX_PLAN_BYTES)
    with pytest.raises(PlanRefused, match=str(MAX_PLAN_BYTES + 1)):
        plan.write("x" * (MAX_PLAN_BYTES - 1) + "é")
    assert plan.seal().bytes == MAX_PLAN_BYTES


def test_a_draft_that_someone_made_too_large_is_not_sealed(tmp_path: Path) -> None:
    plan = PlanDraft(tmp_path)
    plan.write(PLAN)
    (tmp_path / "PLAN.md").write_bytes(b"x" * (MAX_PLAN_BYTES + 1))
    with pytest.raises(PlanRefused, match="at most"):
        plan.seal()
    assert plan.sealed() is None


def test_after_a_crash_between_sealing_and_removing_the_draft_the_sealed_plan_counts(
    tmp_path: Path,
) -> None:
    plan = PlanDraft(tmp_path)
    plan.write(PLAN)
    sealed = plan.seal()
    (tmp_path / "PLAN.md").write_text(PLAN)
    later = PlanDraft(tmp_path)
    with pytest.raises(PlanRefused, match="sealed"):
        later.read()
    assert later.seal() == sealed
    assert not (tmp_path / "PLAN.md").exists()
