"""What a run is started with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from engine.vocabulary.spending import NO_LIMIT, Allowance
from orchestration.runs.event_hub import EventRecord

if TYPE_CHECKING:
    from engine.graph.workflow import Workflow


class RunOverrides(Struct, frozen=True):
    """Settings that replace the workflow's own, for every node; `None` leaves them alone.

    `wire` is `chat`, `responses` or `messages`.
    """

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    wire: str | None = None


NO_OVERRIDES = RunOverrides()


class RunRequest(Struct, frozen=True):
    """One run to start.

    `text` goes to the root nodes. `cwd` is the execution folder; without it the run gets a managed
    folder. `on_event` sees every event from the first on, in order, as it happens. `source` is the
    file of the workflow, to tell later whether it was edited since. `allowance` is what the run may
    use up, before what the settings say.
    """

    workflow: Workflow
    text: str = ""
    overrides: RunOverrides = NO_OVERRIDES
    allowance: Allowance = NO_LIMIT
    cwd: Path | None = None
    on_event: Callable[[EventRecord], None] | None = None
    source: Path | None = None
