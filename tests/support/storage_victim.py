"""A program that keeps the facts of calls until it is killed; it says what it was promised.

Started with a folder. Its calls have an effect: a line in the file `effects`. On its output it
says `began N` once the intent of call N is safe, and `ended N` once its result is.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.inputs import TimerFired
from engine.vocabulary.tools import ToolCall, ToolResult
from orchestration.storage.errors import RunNotStored
from orchestration.storage.run_journal import RunJournal
from tests.support.engine_driver import workflow
from tests.support.storage_rig import opening_of, stored_runs

RUN = "victim"


def say(text: str) -> None:
    """Say it at once."""
    os.write(1, f"{text}\n".encode())


async def keep_calling(journal: RunJournal, first: int, effects: int) -> None:
    """Make one call after the other."""
    number = first
    while True:
        call = ToolCall(str(number), "write", {"path": "x", "content": "y" * (number % 5000)})
        journal.input(TimerFired("a", float(number)))
        await journal.intent("a", AdmittedCall(call, "digest"))
        say(f"began {number}")
        os.write(effects, f"{number}\n".encode())
        await journal.result("a", ToolResult(call.id, call.name, "done"))
        say(f"ended {number}")
        number += 1


async def main(folder: Path) -> None:
    """Take the run up where it was left, or begin it."""
    effects = os.open(folder / "effects", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    async with stored_runs(folder) as store:
        try:
            resumed = await store.resume_run(RUN, is_reading=lambda call: False)
            numbers = [int(call_id) for call_id in resumed.recorded.ends]
            numbers += [int(call.call.call.id) for call in resumed.recorded.open_calls]
            journal, first = resumed.journal, max(numbers, default=0) + 1
        except RunNotStored:
            opened = await store.open_run(
                opening_of(workflow(nodes=["a"]), RUN), is_reading=lambda call: False
            )
            journal, first = opened.journal, 1
        say("ready")
        await keep_calling(journal, first, effects)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
