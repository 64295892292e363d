"""How much may go on at once in the whole program."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from msgspec import Struct

Grant = Callable[[], None]


class Claim(Struct, eq=False):
    """A place in the queue for a permit; good for one grant."""

    grant: Grant | None


class Permits:
    """A number of permits and a queue, first come, first served.

    Waiting costs no task: a permit that becomes free is handed on by calling the next in line.
    """

    __slots__ = ("_in_use", "_limit", "_queue")

    def __init__(self, limit: int) -> None:
        self._limit = _checked(limit)
        self._in_use = 0
        self._queue: deque[Claim] = deque()

    @property
    def in_use(self) -> int:
        """How many permits are taken."""
        return self._in_use

    @property
    def waiting(self) -> int:
        """How many claims are in the queue."""
        return sum(claim.grant is not None for claim in self._queue)

    def try_take(self) -> bool:
        """Take a permit if one is free and nobody is waiting for it."""
        if self._queue or self._in_use >= self._limit:
            return False
        self._in_use += 1
        return True

    def claim(self, grant: Grant) -> Claim:
        """Wait for a permit; `grant` is called with it, never before this returns."""
        claim = Claim(grant)
        self._queue.append(claim)
        return claim

    def withdraw(self, claim: Claim) -> None:
        """Leave the queue; nothing happens if the permit was granted already."""
        claim.grant = None

    def give_back(self) -> None:
        """Return one permit; it goes to the next in line."""
        self._in_use -= 1
        self._hand_on()

    def resize(self, limit: int) -> None:
        """Change the number of permits; those that are taken stay taken."""
        self._limit = _checked(limit)
        self._hand_on()

    def _hand_on(self) -> None:
        queue = self._queue
        while queue and self._in_use < self._limit:
            grant = queue.popleft().grant
            if grant is not None:
                self._in_use += 1
                grant()


class Budget:
    """The limits of the process: model calls in flight and tool calls in flight."""

    __slots__ = ("provider_calls", "tools")

    def __init__(self, provider_calls: int = 8, tools: int = 16) -> None:
        self.provider_calls = Permits(provider_calls)
        self.tools = Permits(tools)

    def resize(self, provider_calls: int, tools: int) -> None:
        """Change the limits; what is under way goes on, and more waits or less.

        Raises:
            ValueError: a limit is less than 1; nothing was changed.
        """
        _checked(tools)
        self.provider_calls.resize(provider_calls)
        self.tools.resize(tools)


def _checked(limit: int) -> int:
    if limit < 1:
        raise ValueError(f"a limit must be at least 1, not {limit}")
    return limit
