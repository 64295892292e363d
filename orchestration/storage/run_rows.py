"""Reading and writing stored runs: functions that get a connection with a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from engine.vocabulary.inputs import (
    EngineInput,
    NodeInterruptAsked,
    Stopped,
    ToolsFinished,
    UncertainSettled,
)
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.journal import SeenFile
from orchestration.runs.stored import RunQuery, StoredRun
from orchestration.runs.view_values import RunStatus
from orchestration.storage.bodies import encode, packed, unpacked
from orchestration.storage.errors import RunAlreadyStored, RunNotStored, UnreadableRun
from orchestration.storage.event_log import RECORDS
from orchestration.storage.facts import (
    ENDS,
    INPUTS,
    INTENT,
    INTENTS,
    OPENINGS,
    RESULT,
    SEEN,
    SEENS,
    CallEnd,
    FinishedByReference,
    NodeStanding,
    OpenCall,
    RecordedRun,
    RunOpening,
)
from orchestration.storage.leases import LeaseKeeper
from orchestration.storage.schema import tables

if TYPE_CHECKING:
    from sqlalchemy import Connection

SEARCHED_LENGTH = 2000


class StoredEvents(Struct, frozen=True):
    """Events of a run that belong to one of its sessions."""

    segment: int
    records: tuple[EventRecord, ...]


def searched_text(name: str, started_with: str, workflow_name: str) -> str:
    """What a search looks at."""
    return "\n".join((name, workflow_name, started_with[:SEARCHED_LENGTH])).casefold()


def insert_run(connection: Connection, opening: RunOpening) -> int:
    """Store a new run; gives its number.

    Raises:
        RunAlreadyStored: its id is taken.
    """
    import sqlalchemy as sa

    known = tables()
    taken = sa.select(known.runs.c.number).where(known.runs.c.id == opening.run_id)
    if connection.scalar(taken) is not None:
        raise RunAlreadyStored(opening.run_id)
    digest = _keep_workflow(connection, opening.workflow)
    inserted = connection.execute(
        sa.insert(known.runs).values(
            id=opening.run_id,
            name=opening.name,
            status=RunStatus.RUNNING.value,
            workflow_id=opening.workflow_id,
            workflow_name=opening.workflow_name,
            started=opening.started,
            updated=opening.started,
            parent_id=opening.parent_id,
            fork_seq=opening.fork_seq,
            search=searched_text(opening.name, opening.entrypoint.text, opening.workflow_name),
        )
    )
    key = inserted.inserted_primary_key
    assert key is not None
    number = int(key[0])
    connection.execute(
        sa.insert(known.recordings).values(
            run=number,
            workflow_hash=digest,
            body=packed(encode(msgspec.structs.replace(opening, workflow=b""))),
        )
    )
    return number


def record_again(connection: Connection, number: int, opening: RunOpening) -> None:
    """Replace what a run was started with, such as the models that answer it."""
    import sqlalchemy as sa

    recordings = tables().recordings
    digest = _keep_workflow(connection, opening.workflow)
    body = packed(encode(msgspec.structs.replace(opening, workflow=b"")))
    connection.execute(
        sa.update(recordings)
        .where(recordings.c.run == number)
        .values(workflow_hash=digest, body=body)
    )


def _keep_workflow(connection: Connection, workflow: bytes) -> str:
    """Keep a workflow, unless it is there; gives its hash."""
    import sqlalchemy as sa

    known = tables().workflows
    digest = sha256(workflow).hexdigest()
    if connection.scalar(sa.select(known.c.hash).where(known.c.hash == digest)) is None:
        connection.execute(sa.insert(known).values(hash=digest, body=packed(workflow)))
    return digest


def run_number(connection: Connection, run_id: str) -> int:
    """A run's number.

    Raises:
        RunNotStored: there is no such run.
    """
    import sqlalchemy as sa

    runs = tables().runs
    number = connection.scalar(sa.select(runs.c.number).where(runs.c.id == run_id))
    if number is None:
        raise RunNotStored(run_id)
    return int(number)


def last_fact(connection: Connection, number: int) -> int:
    """The number of a run's last fact, 0 if there is none."""
    import sqlalchemy as sa

    known = tables()
    found = [
        connection.scalar(sa.select(sa.func.max(table.c.seq)).where(table.c.run == number))
        for table in (known.turns, known.calls)
    ]
    return max(seq or 0 for seq in found)


def list_runs(
    connection: Connection,
    wanted: RunQuery,
    leases: LeaseKeeper,
) -> list[StoredRun]:
    """Runs, the latest change first."""
    runs = tables().runs
    found = _summaries(wanted).order_by(runs.c.updated.desc(), runs.c.number.desc())
    if wanted.limit is not None or wanted.offset:
        found = found.limit(wanted.limit).offset(wanted.offset)
    return [_summary(row, leases) for row in connection.execute(found)]


def summary_of(connection: Connection, run_id: str, leases: LeaseKeeper) -> StoredRun:
    """The row of one run.

    Raises:
        RunNotStored: there is no such run.
    """
    number = run_number(connection, run_id)
    runs = tables().runs
    found = _summaries(RunQuery()).where(runs.c.number == number)
    return _summary(connection.execute(found).one(), leases)


def load_run(connection: Connection, run_id: str, leases: LeaseKeeper) -> RecordedRun:
    """Everything that it takes to feed a run to a fresh engine.

    Raises:
        RunNotStored: there is no such run.
        UnreadableRun: a part of it is missing.
    """
    import sqlalchemy as sa

    known = tables()
    number = run_number(connection, run_id)
    row = connection.execute(_summaries(RunQuery()).where(known.runs.c.number == number)).one()
    recorded = connection.execute(
        sa.select(
            known.recordings.c.workflow_hash,
            known.recordings.c.body,
            known.workflows.c.body.label("workflow"),
        )
        .join(known.workflows, known.workflows.c.hash == known.recordings.c.workflow_hash)
        .where(known.recordings.c.run == number)
    ).first()
    if recorded is None:
        raise UnreadableRun(f"run '{run_id}' has lost what it was started with")
    turns = connection.execute(
        sa.select(known.turns.c.seq, known.turns.c.body)
        .where(known.turns.c.run == number)
        .order_by(known.turns.c.seq)
    ).all()
    facts = connection.execute(
        sa.select(known.calls.c.seq, known.calls.c.call_id, known.calls.c.fact, known.calls.c.body)
        .where(known.calls.c.run == number, known.calls.c.fact.in_((INTENT, RESULT, SEEN)))
        .order_by(known.calls.c.seq)
    ).all()
    run_of = {"events": known.events.c.run == number, "calls": known.calls.c.run == number}
    last_event, segment, last_call = connection.execute(
        sa.select(
            sa.select(sa.func.max(known.events.c.last_seq))
            .where(run_of["events"])
            .scalar_subquery(),
            sa.select(sa.func.max(known.events.c.segment))
            .where(run_of["events"])
            .scalar_subquery(),
            sa.select(sa.func.max(known.calls.c.seq)).where(run_of["calls"]).scalar_subquery(),
        )
    ).one()
    summary = _summary(row, leases)
    ends, seen = _ends(facts)
    seqs, bodies = zip(*turns, strict=True) if turns else ((), ())
    inputs = _inputs(run_id, bodies, ends)
    return RecordedRun(
        number=number,
        summary=summary,
        opening=msgspec.structs.replace(
            OPENINGS.one(recorded.body), name=summary.name, workflow=unpacked(recorded.workflow)
        ),
        workflow_hash=recorded.workflow_hash,
        inputs=inputs,
        input_seqs=seqs,
        ends=ends,
        seen=seen,
        open_calls=_open_calls(facts, seqs, inputs),
        next_seq=max(last_call or 0, seqs[-1] if seqs else 0) + 1,
        last_event=last_event or 0,
        segments=0 if segment is None else segment + 1,
    )


def load_events(
    connection: Connection, run_id: str, until: int | None = None
) -> list[StoredEvents]:
    """A run's events in order, up to and with number `until`."""
    import sqlalchemy as sa

    events = tables().events
    number = run_number(connection, run_id)
    found = sa.select(events.c.segment, events.c.body).where(events.c.run == number)
    if until is not None:
        found = found.where(events.c.first_seq <= until)
    parts = []
    for row in connection.execute(found.order_by(events.c.first_seq)):
        records = RECORDS.one(row.body)
        if until is not None and records and records[-1].seq > until:
            records = [record for record in records if record.seq <= until]
        parts.append(StoredEvents(row.segment, tuple(records)))
    return parts


def _summaries(wanted: RunQuery) -> Any:
    import sqlalchemy as sa

    known = tables()
    runs, leases = known.runs, known.leases
    found = sa.select(
        runs.c.id,
        runs.c.name,
        runs.c.status,
        runs.c.workflow_id,
        runs.c.workflow_name,
        runs.c.started,
        runs.c.updated,
        runs.c.tokens_in,
        runs.c.tokens_out,
        runs.c.parent_id,
        runs.c.fork_seq,
        leases.c.holder,
        leases.c.place,
        leases.c.pid,
        leases.c.expires,
    ).outerjoin_from(runs, leases, leases.c.run == runs.c.number)
    if wanted.text:
        found = found.where(runs.c.search.contains(wanted.text.casefold(), autoescape=True))
    if wanted.workflow_id is not None:
        found = found.where(runs.c.workflow_id == wanted.workflow_id)
    if wanted.statuses:
        found = found.where(runs.c.status.in_(sorted(s.value for s in wanted.statuses)))
    if wanted.changed_from is not None:
        found = found.where(runs.c.updated >= wanted.changed_from)
    if wanted.changed_before is not None:
        found = found.where(runs.c.updated < wanted.changed_before)
    return found


def _summary(row: Any, leases: LeaseKeeper) -> StoredRun:
    run_id, name, status, *values, holder, place, pid, expires = row
    is_driven = expires is not None and leases.is_alive(holder, place, pid, expires)
    values.append(f"process {pid}" if is_driven else "")
    return StoredRun(run_id, name, RunStatus(status), *values)


def _ends(
    facts: Sequence[Any],
) -> tuple[dict[str, CallEnd], tuple[tuple[int, SeenFile], ...]]:
    """The latest end of each call, and what all of them showed of files, in order."""
    rows = [row for row in facts if row.fact == RESULT]
    ends = ENDS.many([row.body for row in rows])
    seen = [(row.seq, s) for row in facts if row.fact == SEEN for s in SEENS.one(row.body).seen]
    seen += [(row.seq, s) for row, end in zip(rows, ends, strict=True) for s in end.seen]
    return {row.call_id: end for row, end in zip(rows, ends, strict=True)}, tuple(seen)


def _inputs(
    run_id: str, bodies: Sequence[bytes], ends: dict[str, CallEnd]
) -> tuple[EngineInput, ...]:
    inputs: list[EngineInput] = []
    for value in INPUTS.many(bodies):
        if type(value) is FinishedByReference:
            try:
                inputs.append(value.resolved(ends))
            except KeyError as error:
                raise UnreadableRun(f"run '{run_id}' has lost the result of call {error}") from None
        else:
            inputs.append(value)  # type: ignore[arg-type]
    return tuple(inputs)


def _open_calls(
    facts: Sequence[Any], seqs: Sequence[int], inputs: Sequence[EngineInput]
) -> tuple[OpenCall, ...]:
    """Intents after which neither a result was kept nor the engine told of an end."""
    last: dict[str, Any] = {row.call_id: row for row in facts if row.fact != SEEN}
    rows = [row for row in last.values() if row.fact == INTENT]
    if not rows:
        return ()
    answered: dict[str, int] = {}
    interrupted: dict[str, int] = {}
    settled: dict[str, int] = {}
    stopped = 0
    for seq, given in zip(seqs, inputs, strict=True):
        if isinstance(given, ToolsFinished):
            answered[given.node_id] = seq
        elif isinstance(given, NodeInterruptAsked):
            interrupted[given.node_id] = seq
        elif isinstance(given, UncertainSettled):
            settled[given.call_id] = seq
        elif isinstance(given, Stopped):
            stopped = seq
    found = []
    for row, call in zip(rows, INTENTS.many([row.body for row in rows]), strict=True):
        caller, node_id = call.node_id, call.node_id.partition("/")[0]
        end = max(
            stopped,
            answered.get(caller, 0),
            settled.get(call.call.call.id, 0),
            interrupted.get(caller, 0),
            interrupted.get(node_id, 0),
        )
        if row.seq > end:
            found.append(call)
    return tuple(found)


def list_nodes(connection: Connection, run_id: str) -> list[NodeStanding]:
    """How the nodes of a run stand."""
    import sqlalchemy as sa

    nodes = tables().nodes
    number = run_number(connection, run_id)
    found = sa.select(nodes).where(nodes.c.run == number).order_by(nodes.c.node_id)
    return [NodeStanding(*row[1:]) for row in connection.execute(found)]


def usage_by_node(connection: Connection, run_id: str) -> dict[str, tuple[int | None, int | None]]:
    """Tokens in and out of each node, what its subagents used counted in."""
    import sqlalchemy as sa

    usage = tables().usage
    number = run_number(connection, run_id)
    found = sa.select(usage.c.node_id, usage.c.tokens_in, usage.c.tokens_out).where(
        usage.c.run == number
    )
    totals: dict[str, tuple[int | None, int | None]] = {}
    for actor, *counts in connection.execute(found):
        node_id = actor.partition("/")[0]
        before = totals.get(node_id, (None, None))
        totals[node_id] = (_sum(before[0], counts[0]), _sum(before[1], counts[1]))
    return totals


def _sum(one: int | None, other: int | None) -> int | None:
    return one if other is None else (one or 0) + other
