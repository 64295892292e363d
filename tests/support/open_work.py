"""What an engine has asked for and not been answered, for tests that answer it in any order."""

from __future__ import annotations

from engine.vocabulary.effects import (
    CallModel,
    CancelWork,
    Finish,
    InspectCalls,
    RunTools,
    Step,
    Wait,
)


class OpenWork:
    """Effects that are under way, by actor; no actor may have two of one kind."""

    def __init__(self) -> None:
        self.calls: dict[str, CallModel] = {}
        self.batches: dict[str, RunTools] = {}
        self.inspections: dict[str, InspectCalls] = {}
        self.timers: dict[str, float] = {}
        self.finished: Finish | None = None

    def note(self, step: Step) -> None:
        """Take over the effects of a step."""
        self.finished = None
        for effect in step.effects:
            match effect:
                case CallModel():
                    assert effect.node_id not in self.calls
                    self.calls[effect.node_id] = effect
                case RunTools():
                    assert effect.node_id not in self.batches
                    self.batches[effect.node_id] = effect
                case InspectCalls():
                    assert effect.node_id not in self.inspections
                    self.inspections[effect.node_id] = effect
                case Wait():
                    self.timers[effect.node_id] = effect.until
                case CancelWork():
                    for kind in (self.calls, self.batches, self.inspections, self.timers):
                        kind.pop(effect.node_id, None)
                case Finish():
                    self.finished = effect

    @property
    def actors(self) -> set[str]:
        """Whoever has something under way."""
        return {*self.calls, *self.batches, *self.inspections, *self.timers}
