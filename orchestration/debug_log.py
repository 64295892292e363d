"""The log for finding out what went wrong: off unless wanted, bounded, and without any key.

Records are handed to a thread, which masks what is secret and writes JSON lines to a file that its
owner alone can read. One file is kept besides the one that is written; together they stay within
the limit.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import threading
import traceback
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from orchestration.errors import UserError
from orchestration.masking import Mask
from orchestration.workspace.file_lock import locked

Level = Literal["off", "warnings", "info", "debug"]

OURS = ("app", "engine", "orchestration", "providers")
MEGABYTE = 1_000_000

_LEVELS = {"warnings": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
_MOST_WAITING = 10_000
_LONGEST = 20_000
_END_S = 5.0

Entry = tuple[float, str, str, str]


class DebugLog(logging.Handler):
    """Writes what our own loggers tell, and warnings of all others.

    Args:
        file: where; `<name>.1` beside it has what came before.
        secrets: gives values that must never be written; asked in the writing thread, as it may
            wait for the keyring.
    """

    def __init__(self, file: Path, secrets: Callable[[], Iterable[str]]) -> None:
        super().__init__(logging.DEBUG)
        self.file = file
        self._secrets = secrets
        self._level: Level = "off"
        self._most_bytes = 5 * MEGABYTE
        self._queue: queue.Queue[Entry | None] = queue.Queue(_MOST_WAITING)
        self._thread: threading.Thread | None = None
        self._old_levels: dict[str, int] = {}
        self._mask: Mask | None = None
        self._lost = 0
        self.trouble = ""

    def set_level(self, level: Level, megabytes: int) -> None:
        """Log this much from now on, in this much room."""
        self._most_bytes = megabytes * MEGABYTE
        if level == self._level:
            return
        self._take_off()
        self._level = level
        if level != "off":
            self.trouble = ""
            for name in OURS:
                logger = logging.getLogger(name)
                self._old_levels[name] = logger.level
                logger.setLevel(_LEVELS[level])
            logging.getLogger().addHandler(self)

    def renew_secrets(self) -> None:
        """Ask again which values are secret: there are others now."""
        self._mask = None

    def close(self) -> None:
        """Write what is left, and nothing more; safe to call again."""
        self._take_off()
        self._level = "off"
        thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join(_END_S)
        super().close()

    def emit(self, record: logging.LogRecord) -> None:
        """Hand a record on; blocks nobody, and leaves it out where too many wait."""
        is_ours = record.name.partition(".")[0] in OURS
        if self._level == "off" or (not is_ours and record.levelno < logging.WARNING):
            return
        if threading.current_thread() is self._thread:
            return  # what writing itself tells of would never end
        try:
            text = record.getMessage()
        except (TypeError, ValueError) as error:  # a message whose arguments do not fit it
            text = f"{record.msg} ({error})"
        if record.exc_info is not None and record.exc_info[1] is not None:
            text += "\n" + "".join(traceback.format_exception(record.exc_info[1])).rstrip()
        try:
            self._queue.put_nowait((record.created, record.levelname, record.name, text))
        except queue.Full:
            self._lost += 1
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_all, name="debug-log", daemon=True)
            self._thread.start()

    def flush_now(self) -> None:
        """Wait until everything that was told is in the file; blocking."""
        if self._thread is not None:
            self._queue.join()

    def _take_off(self) -> None:
        logging.getLogger().removeHandler(self)
        for name, level in self._old_levels.items():
            logging.getLogger(name).setLevel(level)
        self._old_levels.clear()

    def _write_all(self) -> None:
        while (entry := self._queue.get()) is not None:
            try:
                self._write(entry)
            except OSError as error:
                self.trouble = f"{self.file} cannot be written ({error.strerror or error})"
            finally:
                self._queue.task_done()
        self._queue.task_done()

    def _write(self, entry: Entry) -> None:
        created, level, name, text = entry
        if self._mask is None:
            self._mask = self._made_mask()
        text = self._mask.applied(text)
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}… ({len(text) - _LONGEST} more characters)"
        line = {
            "time": datetime.fromtimestamp(created, UTC).isoformat(timespec="milliseconds"),
            "process": os.getpid(),
            "level": level.lower(),
            "from": name,
            "text": text,
        }
        if self._lost:
            line["left_out"], self._lost = self._lost, 0
        data = (json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        # Held, so that of several programs one puts the file aside, and nothing is lost by it.
        with locked(None, self.file):
            self._make_room(len(data))
            descriptor = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(data)

    def _made_mask(self) -> Mask:
        try:
            return Mask(self._secrets())
        except UserError as error:  # nobody has got these keys, so nobody can have told them
            self.trouble = f"keys that are stored could not be looked up: {error}"
            return Mask(())

    def _make_room(self, wanted: int) -> None:
        """Put the file aside once it has half of the room."""
        try:
            size = self.file.stat().st_size
        except FileNotFoundError:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            return
        if size + wanted > self._most_bytes // 2:
            os.replace(self.file, self.before)

    @property
    def before(self) -> Path:
        """The file of what came before."""
        return self.file.with_name(f"{self.file.name}.1")

    def text(self, most_bytes: int = MEGABYTE) -> str:
        """The end of the log, masked as it is now known to be needed; blocking."""
        mask = self._made_mask()
        parts: list[bytes] = []
        for file in (self.before, self.file):
            try:
                parts.append(file.read_bytes())
            except FileNotFoundError:
                continue
        data = b"".join(parts)
        if len(data) > most_bytes:
            data = data[-most_bytes:].partition(b"\n")[2]
        return mask.applied(data.decode("utf-8", "replace"))

    def flushed_text(self) -> str:
        """The same with what was told a moment ago; blocking."""
        self.flush_now()
        return self.text()

    def size(self) -> int:
        """Bytes of both files."""
        return sum(each.stat().st_size for each in (self.before, self.file) if each.exists())

    def clear(self) -> None:
        """Delete both files; blocking."""
        self.flush_now()
        for file in (self.file, self.before):
            file.unlink(missing_ok=True)
