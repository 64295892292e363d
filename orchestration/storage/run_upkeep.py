"""Changing what is stored of whole runs: functions that get a connection with a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestration.storage.facts import OPENINGS
from orchestration.storage.leases import LeaseKeeper
from orchestration.storage.run_rows import run_number, searched_text
from orchestration.storage.schema import tables

if TYPE_CHECKING:
    from sqlalchemy import Connection

PAGES_GIVEN_BACK = 1000
"""At most so many free pages of the file are given back at once: nobody is to wait for long."""


def rename_run(connection: Connection, run_id: str, name: str) -> None:
    """Give a run another name, under which searches find it."""
    import sqlalchemy as sa

    known = tables()
    number = run_number(connection, run_id)
    opening, workflow_name = connection.execute(
        sa.select(known.recordings.c.body, known.runs.c.workflow_name)
        .join(known.runs, known.runs.c.number == known.recordings.c.run)
        .where(known.recordings.c.run == number)
    ).one()
    text = OPENINGS.one(opening).entrypoint.text
    connection.execute(
        sa.update(known.runs)
        .where(known.runs.c.number == number)
        .values(name=name, search=searched_text(name, text, workflow_name))
    )


def is_driven(connection: Connection, run_id: str, leases: LeaseKeeper) -> bool:
    """Whether a process drives the run."""
    import sqlalchemy as sa

    held = tables().leases
    number = run_number(connection, run_id)
    lease = connection.execute(sa.select(held).where(held.c.run == number)).first()
    return lease is not None and leases.is_alive(
        lease.holder, lease.place, lease.pid, lease.expires
    )


def delete_run(connection: Connection, run_id: str) -> None:
    """Delete everything of a run, and its workflow if no other run shares it."""
    import sqlalchemy as sa

    known = tables()
    number = run_number(connection, run_id)
    for table in known.of_a_run():
        connection.execute(sa.delete(table).where(table.c.run == number))
    connection.execute(sa.delete(known.runs).where(known.runs.c.number == number))
    in_use = sa.select(known.recordings.c.workflow_hash)
    connection.execute(sa.delete(known.workflows).where(known.workflows.c.hash.not_in(in_use)))
    if connection.dialect.name == "sqlite":
        free = connection.exec_driver_sql("PRAGMA freelist_count").scalar_one()
        for _ in range(min(free, PAGES_GIVEN_BACK)):
            # One page a time: the driver takes but the first step of the whole.
            connection.exec_driver_sql("PRAGMA incremental_vacuum(1)")


def sizes(connection: Connection) -> dict[str, int]:
    """How many bytes the facts of each run take, by id."""
    import sqlalchemy as sa

    known = tables()
    total: dict[str, int] = dict.fromkeys(connection.scalars(sa.select(known.runs.c.id)), 0)
    for table in (known.turns, known.calls, known.events):
        found = (
            sa.select(known.runs.c.id, sa.func.sum(sa.func.length(table.c.body)))
            .join(table, table.c.run == known.runs.c.number)
            .group_by(known.runs.c.id)
        )
        for run_id, size in connection.execute(found):
            total[run_id] += int(size or 0)
    return total
