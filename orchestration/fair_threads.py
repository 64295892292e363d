"""Give the event loop its turn while other threads compute."""

from __future__ import annotations

import sys

TURN_S = 0.0005
"""How long a thread that computes keeps the others waiting.

One pass of an event loop asks for its turn at least twice, so with the 5 ms that are usual every
timer and every key came 10 ms too late while a large folder was listed. A turn of this length costs
what computes a few hundredths of its time, and only while something else wants to run.
"""


def let_threads_take_turns() -> None:
    """Shorten the turns of this process's threads; shorter ones stay as they are."""
    sys.setswitchinterval(min(sys.getswitchinterval(), TURN_S))
