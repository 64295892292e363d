"""What is written while a run goes on: statements compiled once for the database at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from orchestration.storage.schema import tables

if TYPE_CHECKING:
    from sqlalchemy import Dialect, Table
    from sqlalchemy.sql import ClauseElement

Row = tuple[Any, ...]
"""The values of one statement, in the order of its columns; the run's number comes first."""


class Kind(StrEnum):
    """What a row is for; the values are the columns that it has."""

    TURN = "run seq body"
    CALL = "run seq call_id fact body"
    EVENTS = "run first_seq last_seq segment body"
    ARTIFACT = "run artifact_id node_id tool_name path size"
    USAGE = "run seq node_id model tokens_in tokens_out tokens_cached"
    NODE = "run node_id label status started completed"
    PROGRESS = "run new_status new_updated new_tokens_in new_tokens_out"


class Statement(Struct, frozen=True):
    """A text for the driver and how it wants the values of a row."""

    text: str
    bind: Callable[[Row], Any]


def compiled_statements(dialect: Dialect) -> dict[Kind, Statement]:
    """The statement of each kind."""
    import sqlalchemy as sa

    known = tables()
    runs = known.runs
    progress = (
        sa.update(runs)
        .where(runs.c.number == sa.bindparam("run"))
        .values(
            status=sa.bindparam("new_status"),
            updated=sa.bindparam("new_updated"),
            tokens_in=sa.bindparam("new_tokens_in"),
            tokens_out=sa.bindparam("new_tokens_out"),
        )
    )
    clauses: dict[Kind, ClauseElement] = {
        Kind.TURN: sa.insert(known.turns),
        Kind.CALL: sa.insert(known.calls),
        Kind.EVENTS: sa.insert(known.events),
        Kind.ARTIFACT: upsert(dialect.name, known.artifacts, ("path", "size")),
        Kind.USAGE: sa.insert(known.usage),
        Kind.NODE: upsert(dialect.name, known.nodes, ("status", "started", "completed")),
        Kind.PROGRESS: progress,
    }
    return {kind: _compiled(kind, clause, dialect) for kind, clause in clauses.items()}


def upsert(dialect_name: str, table: Table, changing: Sequence[str]) -> ClauseElement:
    """Insert a row, or change these columns of the one with the same primary key."""
    from sqlalchemy.dialects import postgresql, sqlite

    if dialect_name == "postgresql":
        into = postgresql.insert(table)
        return into.on_conflict_do_update(
            index_elements=list(table.primary_key.columns),
            set_=_changes(table, into.excluded, changing),
        )
    insert = sqlite.insert(table)
    return insert.on_conflict_do_update(
        index_elements=list(table.primary_key.columns),
        set_=_changes(table, insert.excluded, changing),
    )


def _changes(table: Table, new: Any, changing: Sequence[str]) -> dict[str, Any]:
    """What is known already is not forgotten: an absent value leaves the old one."""
    import sqlalchemy as sa

    return {name: sa.func.coalesce(new[name], table.c[name]) for name in changing}


def _compiled(kind: Kind, clause: ClauseElement, dialect: Dialect) -> Statement:
    from sqlalchemy.sql.compiler import SQLCompiler

    names = kind.value.split()
    keys = None if kind is Kind.PROGRESS else names
    compiled = clause.compile(dialect=dialect, column_keys=keys)
    assert isinstance(compiled, SQLCompiler)
    order = compiled.positiontup
    if order is None:
        return Statement(compiled.string, lambda row: dict(zip(names, row, strict=True)))
    if order == names:
        return Statement(compiled.string, lambda row: row)
    places = [names.index(name) for name in order]
    return Statement(compiled.string, lambda row: tuple([row[place] for place in places]))
