"""What a run that was left on another day goes on with."""

from __future__ import annotations

from msgspec import Struct

from engine.run.interactive_engine import InteractiveEngine
from engine.vocabulary.events import RunEvent
from engine.vocabulary.recovery import CallEvidence, KnownEnd
from orchestration.runs.run_view import RunView


class Recovery(Struct, frozen=True, kw_only=True):
    """A run as its facts tell it.

    Attributes:
        engine: restored, and not live.
        view: the projection of everything that was told.
        last_event: the number of the last event.
        untold: what had happened and was not told any more; told first.
        messages: how many messages a person has sent to nodes.
        ends: of calls that had ended, though the engine was not told.
        evidence: of calls that had begun and whose end is not known.
    """

    engine: InteractiveEngine
    view: RunView
    last_event: int = 0
    untold: tuple[RunEvent, ...] = ()
    messages: int = 0
    ends: tuple[KnownEnd, ...] = ()
    evidence: tuple[CallEvidence, ...] = ()
