"""What is kept of a run that begins, and what a run of another day goes on with."""

from __future__ import annotations

import logging
import time
from hashlib import sha256
from pathlib import Path

import msgspec

from engine.graph.serialization import WorkflowFormatError, dump_workflow, load_workflow
from engine.graph.workflow import Workflow
from engine.run.interactive_engine import InteractiveEngine
from engine.vocabulary.inputs import Entrypoint, MessageQueued, Started
from engine.vocabulary.recovery import CallEvidence, KnownEnd
from orchestration.run_making import ReadyRun
from orchestration.runs.entropy import SeededEntropy
from orchestration.runs.recovery import Recovery
from orchestration.runs.requests import RunOverrides, RunRequest
from orchestration.storage.facts import RecordedRun, RunOpening, run_name
from orchestration.storage.file_evidence import versions_now
from orchestration.storage.rebuilding import (
    rebuilt_engine,
    recorded_workflow,
    view_of,
)
from orchestration.storage.run_rows import StoredEvents
from orchestration.storage.told import Told, untold
from orchestration.storage.uncertain import classified

logger = logging.getLogger(__name__)


def opening_of(run_id: str, seed: bytes, request: RunRequest, ready: ReadyRun) -> RunOpening:
    """What a new run is stored with; blocking."""
    workflow = ready.workflow
    return RunOpening(
        run_id=run_id,
        name=run_name(request.text, workflow.name),
        workflow=recorded_workflow(workflow),
        workflow_id=workflow.id,
        workflow_name=workflow.name,
        seed=seed,
        entrypoint=Entrypoint(request.text),
        agents={agent_id: agent.document() for agent_id, agent in ready.agents.items()},
        nodes_without_tools=tuple(sorted(ready.nodes_without_tools)),
        source_hash=_hash_of(request.workflow),
        source=str(request.source.resolve()) if request.source is not None else "",
        overrides=request.overrides,
        cwd=str(ready.workspace.root),
        project_root=ready.project_root,
        started=time.time(),
    )


def overrides_since(began: RunOverrides, now: RunOverrides) -> RunOverrides:
    """What a run that goes on is prepared with, from what it began with and what is wanted now.

    Which models answer was settled when it began; how they are reached was not.
    """
    if now.provider is not None:
        return now  # the address that it began with was another provider's
    return RunOverrides(
        provider=began.provider if began.base_url is not None else None,
        model=now.model,
        base_url=now.base_url or began.base_url,
        wire=now.wire or began.wire,
    )


def recorded_again(opening: RunOpening, ready: ReadyRun, wanted: RunOverrides) -> RunOpening:
    """What a run is stored with after other providers or models were named for it."""
    return msgspec.structs.replace(
        opening,
        workflow=recorded_workflow(ready.workflow),
        agents={agent_id: agent.document() for agent_id, agent in ready.agents.items()},
        overrides=overrides_since(opening.overrides, wanted),
    )


def _hash_of(workflow: Workflow) -> str:
    return sha256(dump_workflow(workflow).encode()).hexdigest()


def began_with(opening: RunOpening, workflow: Workflow) -> bool:
    """Whether a run was started with this workflow, and nothing was changed for it as a fork."""
    return opening.parent_id is None and opening.source_hash == _hash_of(workflow)


def was_edited(opening: RunOpening) -> bool:
    """Whether the file that the run's workflow came from says something else by now."""
    if not opening.source or not opening.source_hash:
        return False
    try:
        now = load_workflow(Path(opening.source).read_bytes())
    except FileNotFoundError:
        return False
    except (OSError, WorkflowFormatError) as error:
        logger.info("the workflow of a run cannot be compared: %s", error)
        return True
    return _hash_of(now) != opening.source_hash


def recovery_of(recorded: RecordedRun, ready: ReadyRun, parts: list[StoredEvents]) -> Recovery:
    """Everything that the run goes on with; blocking."""
    opening, workflow = recorded.opening, ready.workflow
    steps: list[Told] = []
    engine = rebuilt_engine(
        recorded,
        workflow,
        ready.tools,
        on_step=lambda given, step: steps.append(Told(given, step.events)),
    )
    records = [record for part in parts for record in part.records]
    open_calls = recorded.open_calls
    _, uncertain = classified(open_calls, versions_now(open_calls))
    return Recovery(
        engine=InteractiveEngine.restore(
            engine.checkpoint(),
            workflow,
            entropy=SeededEntropy(opening.seed),
            catalog=ready.tools,
            project_root=opening.project_root,
        ),
        view=view_of(recorded, workflow, parts),
        last_event=recorded.last_event,
        untold=untold(steps, recorded.ends, records),
        messages=sum(map(_is_message, recorded.inputs)),
        ends=tuple(
            [
                KnownEnd(end.result, end.effects)
                for call_id, end in recorded.ends.items()
                if call_id in engine.calls_at_work
            ]
        ),
        evidence=tuple(
            [
                CallEvidence(one.call.call.call.id, one.sign, one.files, one.folders)
                for one in uncertain
            ]
        ),
    )


def _is_message(given: object) -> bool:
    return isinstance(given, MessageQueued) or (
        isinstance(given, Started) and given.message is not None
    )
