"""Wait for a permit of the process-wide budget."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from orchestration.runs.limits import Permits


@asynccontextmanager
async def permit(permits: Permits) -> AsyncIterator[None]:
    """Hold one permit; being cancelled at any moment loses none."""
    if not permits.try_take():
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def grant() -> None:
            if granted.done():  # cancelled, and not resumed yet
                permits.give_back()
            else:
                granted.set_result(None)

        claim = permits.claim(grant)
        try:
            await granted
        except asyncio.CancelledError:
            permits.withdraw(claim)
            if not granted.cancelled():  # granted, and cancelled before it could go on
                permits.give_back()
            raise
    try:
        yield
    finally:
        permits.give_back()
