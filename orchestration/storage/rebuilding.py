"""A stored run as an engine again, and as it looked at any moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pydantic import ValidationError

from engine.graph.agents import CallableAgent
from engine.graph.serialization import WorkflowFormatError, dump_workflow, load_workflow
from engine.graph.workflow import Workflow
from engine.run.interactive_engine import InteractiveEngine
from engine.vocabulary.effects import Step
from engine.vocabulary.errors import CheckpointError, IllegalInput, InteractionError
from engine.vocabulary.inputs import EditBatchReverted, EngineInput, Started
from engine.vocabulary.ports import ToolCatalog
from orchestration.runs.entropy import SeededEntropy
from orchestration.runs.run_view import RunView
from orchestration.storage.errors import UnreadableRun
from orchestration.storage.facts import RecordedRun
from orchestration.storage.run_rows import StoredEvents


def _nothing(given: EngineInput, step: Step) -> None:
    return None


def recorded_workflow(workflow: Workflow) -> bytes:
    """A prepared workflow as it is kept with its runs."""
    return dump_workflow(workflow).encode()


def workflow_of(recorded: RecordedRun) -> Workflow:
    """The workflow that the run was started with.

    Raises:
        UnreadableRun: it is none.
    """
    try:
        return load_workflow(recorded.opening.workflow)
    except WorkflowFormatError as error:
        run_id = recorded.opening.run_id
        raise UnreadableRun(f"the workflow of run '{run_id}' cannot be read: {error}") from error


def agents_of(recorded: RecordedRun) -> dict[str, CallableAgent]:
    """The saved agents that the run took along, by id.

    Raises:
        UnreadableRun: one is none.
    """
    try:
        return {
            agent_id: CallableAgent.model_validate(document)
            for agent_id, document in recorded.opening.agents.items()
        }
    except ValidationError as error:
        run_id = recorded.opening.run_id
        raise UnreadableRun(f"a saved agent of run '{run_id}' cannot be read: {error}") from error


def rebuilt_engine(
    recorded: RecordedRun,
    workflow: Workflow,
    catalog: ToolCatalog,
    *,
    inputs: int | None = None,
    on_step: Callable[[EngineInput, Step], None] = _nothing,
) -> InteractiveEngine:
    """The engine of a stored run as it was after its first `inputs` inputs, or after all of them.

    Nothing is asked of anybody: what the engine wants is what it was given. It is live; to go on,
    restore another one from its `checkpoint()` and feed that `Started`. `on_step` gets each input
    that was taken and what followed from it.

    Raises:
        UnreadableRun: the inputs do not fit the workflow.
    """
    opening = recorded.opening
    entropy = SeededEntropy(opening.seed)
    engine = InteractiveEngine(
        workflow,
        run_id=opening.run_id,
        entropy=entropy,
        catalog=catalog,
        entrypoint=opening.entrypoint,
        project_root=opening.project_root,
        agents=agents_of(recorded),
    )
    is_live = False
    for place, given in enumerate(recorded.inputs[:inputs], start=1):
        begins = isinstance(given, Started)
        try:
            # Whoever takes a run up restores its engine, and may first undo what was edited.
            if (begins and is_live) or (engine.is_over and isinstance(given, EditBatchReverted)):
                engine = InteractiveEngine.restore(
                    engine.checkpoint(),
                    workflow,
                    entropy=entropy,
                    catalog=catalog,
                    project_root=opening.project_root,
                )
                is_live = False
            step = engine.feed(given)
        except InteractionError:
            continue  # it was refused then as well
        except (IllegalInput, CheckpointError) as error:
            raise UnreadableRun(
                f"run '{opening.run_id}' cannot be rebuilt: its fact {place} of "
                f"{len(recorded.inputs)} does not fit ({error})"
            ) from error
        on_step(given, step)
        is_live = is_live or begins
    return engine


def view_of(recorded: RecordedRun, workflow: Workflow, parts: Iterable[StoredEvents]) -> RunView:
    """The projection of a stored run after the events that are given."""
    plan_mode = workflow.settings.plan_mode
    view = RunView(
        recorded.opening.run_id,
        workflow.id,
        {node.id: node.label for node in workflow.nodes},
        plan_source=plan_mode.evidence_source_node_id if plan_mode is not None else None,
    )
    segment: int | None = None
    for part in parts:
        if segment is not None and part.segment != segment:
            view.reopen(part.records[0].time)
        segment = part.segment
        for record in part.records:
            view.apply(record)
    return view
