"""What a check of an endpoint found out about one model."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct


class State(StrEnum):
    """Whether an endpoint can do something."""

    YES = "yes"
    NO = "no"
    IGNORED = "ignored"
    """It is accepted and makes no difference."""
    UNKNOWN = "unknown"


class Finding(Struct, frozen=True):
    """One thing that was tried; `detail` says more in a few words, or what was answered."""

    name: str
    state: State
    detail: str = ""


class EndpointReport(Struct, frozen=True):
    """All that a check found.

    Attributes:
        ok: the model answered.
        sentence: how the check went, for people.
        models: what the endpoint lists, sorted; empty where it lists nothing.
        model: the one that was asked.
        findings: what was tried, in the order in which it was.
        refuses: names of the quirks that requests heed from now on.
        context_window: in tokens, as the endpoint itself says it; `None` where it does not.
    """

    ok: bool
    sentence: str
    models: tuple[str, ...] = ()
    model: str = ""
    findings: tuple[Finding, ...] = ()
    refuses: tuple[str, ...] = ()
    context_window: int | None = None

    def as_data(self) -> dict[str, Any]:
        """The report as plain JSON data."""
        return {
            "ok": self.ok,
            "sentence": self.sentence,
            "model": self.model,
            "models": list(self.models),
            "context_window": self.context_window,
            "findings": {
                finding.name: {"state": finding.state.value, "detail": finding.detail}
                for finding in self.findings
            },
            "refuses": list(self.refuses),
        }


class Profile(Struct, frozen=True):
    """What is kept of the last check of a model: when it was, and what it found.

    `checked_at` is in ISO format, in UTC.
    """

    checked_at: str
    context_window: int | None = None
    findings: tuple[Finding, ...] = ()
