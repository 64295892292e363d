"""Notes what is logged as an error while a test runs."""

from __future__ import annotations

import logging


class LogGuard(logging.Handler):
    """Collects every record of level ERROR and above, of whatever logger."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record."""
        self.records.append(record)

    def take(self) -> list[logging.LogRecord]:
        """What was collected since the last time."""
        records, self.records = self.records, []
        return records
