"""Stored runs as the window and the command line ask for them and get them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct, field

from orchestration.runs.view_values import RunStatus


class RunQuery(Struct, frozen=True):
    """Which runs to list; what is absent does not matter.

    `text` is looked for in the name, in what the run was started with and in the workflow's name.
    Times are seconds since the epoch, of the latest change.
    """

    text: str = ""
    workflow_id: str | None = None
    statuses: frozenset[RunStatus] = frozenset()
    changed_from: float | None = None
    changed_before: float | None = None
    limit: int | None = None
    offset: int = 0


EVERY_RUN = RunQuery()


class StoredRun(Struct, frozen=True, gc=False):
    """One row of a list of runs. Times are seconds since the epoch.

    `parent_id` is the run that it was forked from, and `fork_seq` the last fact that the two
    share. `driven_by` names the process that drives it, and is empty where none does.
    """

    run_id: str
    name: str
    status: RunStatus
    workflow_id: str
    workflow_name: str
    started: float
    updated: float
    tokens_in: int | None = None
    tokens_out: int | None = None
    parent_id: str | None = None
    fork_seq: int | None = None
    driven_by: str = ""

    @property
    def was_cut_off(self) -> bool:
        """Whether its process ended in the middle of it."""
        return self.status is RunStatus.RUNNING and not self.driven_by

    @property
    def can_resume(self) -> bool:
        """Whether it can go on, in this process."""
        return self.status is not RunStatus.COMPLETED and not self.driven_by


class ForkChanges(Struct, frozen=True, kw_only=True):
    """What a fork has other than its parent; `None` and nothing leave it as it was.

    Prompts, model and provider are those of the node that the fork is made at. `answer` replaces
    what a person last said to that node before the fork. `tool_results` replaces what the model
    gets to read of the node's tool calls, by call id.
    """

    system_prompt: str | None = None
    task_prompt: str | None = None
    model: str | None = None
    provider: str | None = None
    answer: str | None = None
    tool_results: dict[str, str] = field(default_factory=dict)


NO_CHANGES = ForkChanges()


class NodeFigures(Struct, frozen=True, gc=False):
    """One node of a run in figures: its output, how long it took and what it cost."""

    status: str
    output: Any = None
    seconds: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None


class ComparedNode(Struct, frozen=True, gc=False):
    """A node side by side in two runs; `None` where a run does not have it."""

    node_id: str
    label: str
    a: NodeFigures | None
    b: NodeFigures | None

    @property
    def has_same_output(self) -> bool:
        """Whether both runs have the node, with equal outputs."""
        return self.a is not None and self.b is not None and self.a.output == self.b.output


class RunComparison(Struct, frozen=True):
    """Two runs side by side.

    `differences` are sentences that say in what the runs' workflows, prompts, models and texts
    differ. `seconds_a` and `seconds_b` are from the start to the latest change.
    """

    a: StoredRun
    b: StoredRun
    nodes: tuple[ComparedNode, ...]
    seconds_a: float
    seconds_b: float
    differences: tuple[str, ...] = ()


class GoodCopy(Struct, frozen=True):
    """The latest good copy of the run database; `made` is seconds since the epoch."""

    path: Path
    made: float


class RestoredRuns(Struct, frozen=True):
    """A copy that took the place of the run database, and where that one was put."""

    copy: GoodCopy
    aside: Path
