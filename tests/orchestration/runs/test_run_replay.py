"""A run is a function of its recorded inputs."""

from pathlib import Path

import pytest

from engine.run.interactive_engine import InteractiveEngine
from engine.vocabulary.effects import Step
from engine.vocabulary.errors import (
    InteractionError,
    PermanentFailure,
    StalePause,
    TransientFailure,
)
from engine.vocabulary.inputs import EngineInput, Entrypoint
from engine.vocabulary.report import RunCompleted
from orchestration.runs.entropy import SeededEntropy
from tests.support.engine_driver import ASKING, workflow
from tests.support.run_rig import RunRig, run_async, settled_needs
from tests.support.scripted_model import OK, Scripted, ask, use


def test_recorded_inputs_fed_again_give_the_same_effects_and_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("text")
    steps: list[Step] = []
    feed = InteractiveEngine.feed

    def recording(self: InteractiveEngine, given: EngineInput) -> Step:
        step = feed(self, given)
        steps.append(step)
        return step

    flow = workflow(
        [("a", "c"), ("b", "c")],
        agents={"a": ASKING},
        settings={"retryPolicy": {"max_attempts": 2, "backoff_ms": 0}},
    )
    script: dict[str, list[Scripted]] = {
        "a": [use(("read", {"path": "f"}), ("write", {"path": "g", "content": "h"})), ask("?"), OK],
        "b": [TransientFailure("busy"), OK],
        "c": [PermanentFailure("no"), OK],
    }

    async def body() -> None:
        rig = RunRig(flow, script, tmp_path, text="Go")
        monkeypatch.setattr(InteractiveEngine, "feed", recording)
        rig.run.start()
        await rig.run.decide((await settled_needs(rig)).approvals[0].approval_id, True)
        await settled_needs(rig)
        with pytest.raises(StalePause):
            await rig.run.answer("a", "x", "wrong")
        await rig.run.answer("a", "because")
        await settled_needs(rig)
        await rig.run.retry_node("c")
        assert isinstance(await rig.run.settled(), RunCompleted)
        monkeypatch.undo()
        again = InteractiveEngine(
            flow,
            run_id=rig.journal.run_id,
            entropy=SeededEntropy(rig.journal.seed),
            catalog=rig.catalog,
            entrypoint=Entrypoint("Go"),
        )
        replayed = []
        for given in rig.journal.inputs:
            try:
                replayed.append(again.feed(given))
            except InteractionError:
                continue
        assert replayed == steps
        assert again.is_over

    run_async(body)


def test_ids_and_randomness_depend_on_the_seed_and_the_serial_alone() -> None:
    one, same, other = SeededEntropy(b"a" * 16), SeededEntropy(b"a" * 16), SeededEntropy(b"b" * 16)
    serials = range(1, 2000)
    assert [one.identifier(n) for n in serials] == [same.identifier(n) for n in serials]
    assert len({one.identifier(n) for n in serials} | {other.identifier(n) for n in serials}) == (
        2 * len(serials)
    )
    assert all(c.isalnum() or c == "-" for n in serials for c in one.identifier(n))
    fractions = [one.fraction(n) for n in serials]
    assert fractions == [same.fraction(n) for n in reversed(serials)][::-1]
    assert all(0 <= fraction < 1 for fraction in fractions)
    assert 0.45 < sum(fractions) / len(fractions) < 0.55
