"""The targets of a benchmark: what was measured for each, and whether all are met."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
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


def measure_in_children(
    about: str | None,
    child: Callable[[Sequence[str]], dict[str, float]],
    measure: Callable[[int], Sequence[Check]],
    *,
    rounds: int,
) -> int:
    """The command line of a benchmark that starts itself again for each of its figures.

    Args:
        about: what the benchmark is; its first line is shown.
        child: one measurement in this process, named by its arguments.
        measure: all of them, with so many processes for each figure.
        rounds: how many processes unless the caller names another number.

    Returns:
        The program's exit status.
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0] if about else "")
    parser.add_argument(
        "--rounds", type=int, default=rounds, help="fresh processes for each figure"
    )
    parser.add_argument("--quick", action="store_true", help="one process for each figure")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(options.child)))
        return 0
    return verdict(measure(1 if options.quick else options.rounds))
