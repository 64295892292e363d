"""What the doors of this package raise: each message is one sentence for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.graph.problems import Problem


class UserError(Exception):
    """Something that the person can put right; `str()` says what, where and what to do."""


class RunRefused(UserError):
    """A run that was not started; `problems` lists everything that stands in its way."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        sentences = "; ".join(problem.message for problem in self.problems)
        super().__init__(sentences or "the run was refused")


class RunNotFound(UserError):
    """There is no run with this id (any more)."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(f"there is no run '{run_id}'; it may have been closed to make room")


class RunAlreadyActive(UserError):
    """The workflow has a run that is not over; `run_id` names it."""

    def __init__(self, workflow_name: str, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(
            f"workflow '{workflow_name}' is running already; stop that run before starting another"
        )


class RunStillActive(UserError):
    """Something that can only be done to a run that is over."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(f"run '{run_id}' is still on; stop it first")


class NoContinuableRun(UserError):
    """Only a run that was stopped or has failed can be continued."""

    def __init__(self, run_id: str, status: str) -> None:
        self.run_id = run_id
        super().__init__(f"run '{run_id}' is {status}; only a stopped or failed one can go on")


class EditNotUndone(UserError):
    """An edit that cannot be undone. `labels` are files that were changed since, if that is why."""

    def __init__(self, why: str, labels: tuple[str, ...] = ()) -> None:
        self.labels = labels
        super().__init__(why)
