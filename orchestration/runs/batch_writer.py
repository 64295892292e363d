"""Writing small files off the event loop, as many as there are in one go."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

Job = tuple[Path, bytes]


class BatchWriter:
    """Writes whole files atomically; what piles up during one batch is the next batch.

    One batch is one trip to a thread, however many files it has. Unlike `write_atomically`, which
    is for what must outlive a power failure, it does not wait for the disk.
    """

    __slots__ = ("_busy", "_pending")

    def __init__(self) -> None:
        self._pending: list[tuple[Job, asyncio.Future[None]]] = []
        self._busy: asyncio.Future[list[OSError | None]] | None = None

    async def write(self, path: Path, content: bytes) -> None:
        """Return when the file is there; its folder is made if need be.

        Being cancelled does not keep the file from being written.

        Raises:
            OSError: if it cannot be written.
        """
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending.append(((path, content), written))
        if self._busy is None:
            self._write_next()
        await written

    async def drained(self) -> None:
        """Return when nothing is being written any more."""
        while self._busy is not None:
            await asyncio.wait([self._busy])

    def _write_next(self) -> None:
        batch, self._pending = self._pending, []
        loop = asyncio.get_running_loop()
        self._busy = loop.run_in_executor(None, _write_all, [job for job, _ in batch])

        def tell(done: asyncio.Future[list[OSError | None]]) -> None:
            self._busy = None
            for (_, written), error in zip(batch, done.result(), strict=True):
                if written.done():
                    continue
                if error is None:
                    written.set_result(None)
                else:
                    written.set_exception(error)
            if self._pending:
                self._write_next()

        self._busy.add_done_callback(tell)


def _write_all(jobs: Sequence[Job]) -> list[OSError | None]:
    return [_write(path, content) for path, content in jobs]


def _write(path: Path, content: bytes) -> OSError | None:
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        return error
    return None
