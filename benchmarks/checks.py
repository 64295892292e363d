"""The targets of a benchmark: what was measured for each, and whether all are met."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Check(NamedTuple):
    """One target: what was measured, and whether it is met."""

    name: str
    measured: str
    target: str
    met: bool


def verdict(checks: Sequence[Check]) -> int:
    """Print every target; give the program's exit status."""
    width = max((len(check.name) for check in checks), default=0)
    print()
    for check in checks:
        mark = "ok  " if check.met else "MISS"
        print(f"{mark} {check.name:<{width}} {check.measured:>10}   {check.target}")
    return 0 if all(check.met for check in checks) else 1
