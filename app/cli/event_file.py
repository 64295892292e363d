"""Write a run's events as JSON lines, each as it happens."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO

from orchestration.errors import UserError
from orchestration.runs.event_hub import EventRecord, event_line


class EventFile:
    """A file that gets a line for each event, from a thread of its own, flushed each time.

    The thread keeps a slow disk or reader from holding up the run.
    """

    def __init__(self, target: str) -> None:
        """Open the file anew; `-` means standard error.

        Raises:
            UserError: it cannot be opened.
        """
        self._target = target
        self._file = _opened(target)
        self._queue: SimpleQueue[EventRecord | None] = SimpleQueue()
        self._problem: OSError | None = None
        self._thread = threading.Thread(target=self._write_all, name="events", daemon=True)
        self._thread.start()

    def put(self, record: EventRecord) -> None:
        """Write the event soon; never waits."""
        self._queue.put(record)

    def close(self) -> str | None:
        """Wait until everything is written; gives a sentence if something could not be."""
        self._queue.put(None)
        self._thread.join()
        if self._target != "-":
            try:
                self._file.close()
            except OSError as error:
                self._problem = self._problem or error
        if self._problem is None or isinstance(self._problem, BrokenPipeError):
            return None
        why = self._problem.strerror or str(self._problem)
        return f"not all events could be written to {self._target}: {why}"

    def _write_all(self) -> None:
        while (record := self._queue.get()) is not None:
            if self._problem is not None:
                continue
            try:
                self._file.write(event_line(record))
                self._file.flush()
            except OSError as error:
                self._problem = error


def _opened(target: str) -> BinaryIO:
    if target == "-":
        if sys.stderr is None:
            raise UserError("the events cannot be written to standard error: it is closed")
        return sys.stderr.buffer
    try:
        return Path(target).open("wb")
    except OSError as error:
        raise UserError(
            f"the events cannot be written to {target} ({error.strerror or error}); "
            "name another file with --events"
        ) from error
