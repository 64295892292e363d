"""Writes groups of rows in one transaction each, on the driver's own statements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from orchestration.storage.bodies import COMPRESSED_FROM, packed
from orchestration.storage.statements import Kind, Row, compiled_statements

if TYPE_CHECKING:
    from sqlalchemy import Connection

_WITH_BODY = frozenset({Kind.TURN, Kind.CALL, Kind.EVENTS})


class GroupWriter:
    """Belongs to the storage thread. `kept` is what could not be written."""

    def __init__(self, connection: Connection, kept: list[tuple[Kind, Row]]) -> None:
        self.kept = kept
        self._statements = compiled_statements(connection.dialect)
        self._is_sqlite = connection.dialect.name == "sqlite"
        self._driver: Any = connection.connection.driver_connection
        self._through_power_failure = False
        self._unsafe = False
        self._touches = 0

    def keep(self, rows: Iterable[tuple[Kind, Row]]) -> None:
        """Take rows for the next `write`; long bodies are compressed, off the event loop."""
        for kind, row in rows:
            if kind in _WITH_BODY and len(row[-1]) >= COMPRESSED_FROM:
                self.kept.append((kind, (*row[:-1], packed(row[-1]))))
            else:
                self.kept.append((kind, row))

    def write(self, rows: Iterable[tuple[Kind, Row]], *, power: bool) -> None:
        """Write the rows, after what was kept; all of them or, with the driver's error, none.

        What could not be written is kept.
        """
        self.keep(rows)
        if not self.kept and not (power and self._unsafe):
            return
        self.outlive_power_failure(power)
        if self._is_sqlite and len(self.kept) == 1:
            self._write_one(*self.kept[0])
        else:
            self._write_many(power)
        self.kept.clear()
        self._unsafe = not power

    def _write_one(self, kind: Kind, row: Row) -> None:
        """A statement alone is a transaction of its own, and the quickest there is."""
        statement = self._statements[kind]
        self._driver.execute(statement.text, statement.bind(row))

    def _write_many(self, power: bool) -> None:
        groups: dict[Kind, list[Row]] = {}
        for kind, row in self.kept:
            groups.setdefault(kind, []).append(row)
        cursor = self._driver.cursor()
        try:
            self._begin(cursor, power)
            for kind, group in groups.items():
                statement = self._statements[kind]
                if len(group) == 1:
                    cursor.execute(statement.text, statement.bind(group[0]))
                else:
                    cursor.executemany(statement.text, [statement.bind(row) for row in group])
            if not groups:
                self._touch(cursor)
            self._driver.commit()
        except BaseException:
            self._driver.rollback()
            raise
        finally:
            cursor.close()

    def outlive_power_failure(self, wanted: bool) -> None:
        """Whether the next transactions are to be on the disk itself when they are committed."""
        if self._is_sqlite and wanted != self._through_power_failure:
            self._driver.execute(f"PRAGMA synchronous={'FULL' if wanted else 'NORMAL'}")
            self._through_power_failure = wanted

    def _begin(self, cursor: Any, power: bool) -> None:
        if self._is_sqlite:
            cursor.execute("BEGIN IMMEDIATE")
        elif not power:
            cursor.execute("SET LOCAL synchronous_commit TO OFF")

    def _touch(self, cursor: Any) -> None:
        """Change something, so that committing flushes what was committed before."""
        if self._is_sqlite:
            self._touches += 1
            cursor.execute(f"PRAGMA user_version={self._touches % 2}")
        else:
            cursor.execute("SELECT pg_current_xact_id()")
