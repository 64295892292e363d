"""Ending things in order: each gets its time, and what fails does not keep the rest from ending."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable

from engine.vocabulary.errors import EngineError
from orchestration.errors import UserError

logger = logging.getLogger(__name__)


async def within(seconds: float, work: Awaitable[object], what: str) -> None:
    """Wait for `work`, but no longer than this; closing goes on whatever happens."""
    try:
        await asyncio.wait_for(work, seconds)
    except TimeoutError:
        logger.warning("%s took longer than %.0f s and was cut short", what, seconds)
    except (UserError, EngineError, OSError):
        logger.exception("%s failed", what)
