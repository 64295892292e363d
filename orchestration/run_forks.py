"""Forks of stored runs: where in the past they begin, and what is other about them."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import msgspec

from engine.graph.workflow import Workflow
from engine.vocabulary.inputs import EngineInput
from orchestration.errors import UserError
from orchestration.run_keeping import RunKeeper
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.stored import NO_CHANGES, ForkChanges
from orchestration.storage.errors import StorageError, StorageUnavailable
from orchestration.storage.facts import RecordedRun, RunOpening
from orchestration.storage.forking import (
    Past,
    changed_inputs,
    changed_workflow,
    insert_fork,
    place_of_turn,
)
from orchestration.storage.rebuilding import rebuilt_engine, recorded_workflow, workflow_of
from orchestration.storage.run_folders import remove, run_folder
from orchestration.storage.told import last_event_of, steps_of, told_until
from orchestration.tools.registry import ToolRegistry

ToolsFor = Callable[[Workflow, frozenset[str]], ToolRegistry]
"""The tools of a run of a workflow whose named nodes cannot call any."""


class ForkPoint(msgspec.Struct, frozen=True):
    """Where a fork begins: before a turn of a node, or after an event, or at the end."""

    node_id: str | None = None
    turn: int | None = None
    seq: int | None = None


async def fork(
    keeper: RunKeeper,
    run_id: str,
    point: ForkPoint,
    changes: ForkChanges,
    tools_for: ToolsFor,
) -> str:
    """Store a run that shares the past of another one; gives its id. It is to be taken up.

    Raises:
        RunNotStored: there is no such run.
        UserError: there is no such point, or the changes do not fit it.
    """
    if point.node_id is None and changes != NO_CHANGES:
        raise UserError("say which node the changes are about")
    recorded = await keeper.store.load(run_id)
    parts = await keeper.store.events(run_id)
    records = [record for part in parts for record in part.records]
    new_id = str(uuid4())
    opening, past = await asyncio.to_thread(
        _past, recorded, records, new_id, point, changes, tools_for
    )
    await asyncio.to_thread(_copy_folder, keeper.folder, run_id, new_id)
    try:
        await keeper.database.run(lambda connection: insert_fork(connection, opening, past))
    except StorageError:
        await asyncio.to_thread(remove, run_folder(keeper.folder, new_id))
        raise
    return new_id


def _past(
    recorded: RecordedRun,
    records: list[EventRecord],
    new_id: str,
    point: ForkPoint,
    changes: ForkChanges,
    tools_for: ToolsFor,
) -> tuple[RunOpening, Past]:
    opening, workflow = recorded.opening, workflow_of(recorded)
    catalog = tools_for(workflow, frozenset(opening.nodes_without_tools))
    steps = steps_of(recorded, workflow, catalog)
    taken = tuple(step.given for step in steps)
    if point.seq is not None:
        count = told_until(steps, records, point.seq)
    elif point.node_id is not None:
        count = place_of_turn(taken, point.node_id, 1 if point.turn is None else point.turn)
    else:
        count = len(taken)
    inputs, first = taken[:count], count
    if point.node_id is not None:
        inputs, first = changed_inputs(inputs, point.node_id, changes)
        workflow = changed_workflow(workflow, point.node_id, changes)
    if not inputs:
        raise UserError("nothing had happened at that point: start the workflow anew instead")
    shared = msgspec.structs.replace(recorded, inputs=inputs)
    at_work = rebuilt_engine(shared, workflow, catalog).calls_at_work
    last = last_event_of(steps[:first], records)
    fork_seq = _seq_of(recorded, taken[count - 1])
    fork_opening = msgspec.structs.replace(
        opening,
        run_id=new_id,
        name=f"{opening.name} (fork)",
        workflow=recorded_workflow(workflow),
        parent_id=opening.run_id,
        fork_seq=fork_seq,
        started=time.time(),
    )
    return fork_opening, Past(
        inputs,
        {call_id: end for call_id, end in recorded.ends.items() if call_id in at_work},
        tuple([c for c in recorded.open_calls if c.call.call.id in at_work]),
        tuple([seen for seq, seen in recorded.seen if seq <= fork_seq]),
        tuple([record for record in records if record.seq <= last]),
    )


def _seq_of(recorded: RecordedRun, given: EngineInput) -> int:
    pairs = zip(recorded.inputs, recorded.input_seqs, strict=True)
    return next(seq for one, seq in pairs if one is given)


def _copy_folder(runs: Path, run_id: str, new_id: str) -> None:
    source, target = run_folder(runs, run_id), run_folder(runs, new_id)
    try:
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
    except (OSError, shutil.Error) as error:
        raise StorageUnavailable(
            f"the files of run '{run_id}' cannot be copied: {error}"
        ) from error
