"""What endpoints were found to do and to refuse, kept from one start of the program to the next."""

from __future__ import annotations

import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from orchestration.workspace.atomic_files import write_atomically
from providers.quirks import Quirk, Quirks

logger = logging.getLogger(__name__)


class QuirkStore:
    """One record of quirks an endpoint, in one file; losing it costs a refused request each.

    Records are handed out whole and shared, so that what one run learns helps the next at once.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._quirks: dict[str, Quirks] | None = None
        self._writer: ThreadPoolExecutor | None = None

    def of(self, endpoint: str) -> Quirks:
        """The record of one endpoint; reads the file at the first call."""
        with self._lock:
            if self._quirks is None:
                self._quirks = self._load()
            if endpoint not in self._quirks:
                self._quirks[endpoint] = self._record(endpoint, {})
            return self._quirks[endpoint]

    def forget(self, endpoint: str) -> None:
        """Forget what is known of one endpoint, also for the runs that are on."""
        self.of(endpoint).forget()
        self._write()

    def close(self) -> None:
        """Wait until everything is written."""
        if self._writer is not None:
            self._writer.shutdown(wait=True)
            self._writer = None

    def _record(self, endpoint: str, known: dict[str, Any]) -> Quirks:
        learned = partial(self._learned, endpoint)
        return Quirks(known, on_learned=learned, on_checked=partial(self._checked, endpoint))

    def _learned(self, endpoint: str, model: str, quirk: Quirk) -> None:
        logger.info("%s refuses %s for the model %s", endpoint, quirk.value, model)
        self._write()

    def _checked(self, endpoint: str, model: str) -> None:
        logger.info("%s was checked with the model %s", endpoint, model)
        self._write()

    def _write(self) -> None:
        if self._writer is None:
            self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="quirks")
        self._writer.submit(self._save)

    def _load(self) -> dict[str, Quirks]:
        try:
            stored = json.loads(self._path.read_bytes())
            return {
                str(endpoint): self._record(str(endpoint), dict(models))
                for endpoint, models in stored.items()
            }
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, LookupError, AttributeError, TypeError) as error:
            logger.warning("the record of quirks %s is not used: %s", self._path, error)
            return {}

    def _save(self) -> None:
        with self._lock:
            stored = {
                endpoint: data
                for endpoint, quirks in sorted((self._quirks or {}).items())
                if (data := quirks.as_data())
            }
        text = json.dumps(stored, indent=2) + "\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path, text.encode("utf-8"))
        except OSError as error:
            logger.warning("the record of quirks %s was not written: %s", self._path, error)
