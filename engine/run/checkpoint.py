"""A run's state as stored text: written, read, checked against its workflow, and recovered."""

from __future__ import annotations

import msgspec
from pydantic import ValidationError

from engine.graph.agents import CallableAgent
from engine.graph.workflow import Workflow
from engine.run.admission import pending_approval
from engine.run.interactions import announce_question, resume_interrupted, take_message
from engine.run.plan_mode import packet_problem
from engine.run.run_context import RunContext
from engine.run.scheduling import call_model
from engine.run.state import NodePhase, NodeState, RunState
from engine.run.subagents import Done, NeedAi, step_of
from engine.run.tool_turns import advance, forget_inspection
from engine.run.uncertainty import OF_UNKNOWN_END, Known, recover_call
from engine.vocabulary.errors import (
    CheckpointError,
    InvalidFrozenChangeEvidencePacket,
    StaleNodeIds,
    WorkflowMismatch,
)
from engine.vocabulary.events import NodeErrored, ToolApprovalRequested
from engine.vocabulary.inputs import MessageQueued, Started

_DECODER = msgspec.json.Decoder(RunState)


def encode_state(state: RunState) -> bytes:
    """The state as JSON."""
    return msgspec.json.encode(state)


def decode_state(data: bytes, workflow: Workflow) -> RunState:
    """Read a state and check that it fits the workflow; nodes added since then are idle.

    Raises:
        CheckpointError: `WorkflowMismatch` first, then `StaleNodeIds`, then
            `InvalidFrozenChangeEvidencePacket`, or the base class for unreadable data.
    """
    try:
        state = _DECODER.decode(data)
    except msgspec.DecodeError as error:
        raise CheckpointError(f"the stored run cannot be read: {error}") from error
    if state.workflow_id != workflow.id:
        raise WorkflowMismatch(
            f"the stored run belongs to workflow '{state.workflow_id}', not '{workflow.id}'"
        )
    known = {node.id for node in workflow.nodes}
    named = set(state.nodes)
    if state.plan is not None:
        named.add(state.plan.source_node_id)
    if stale := tuple(sorted(named - known)):
        raise StaleNodeIds(stale)
    if state.plan is not None and state.plan.packet is not None:
        source = state.plan.source_node_id
        problem = packet_problem(state.plan.packet, source, state.nodes[source].output)
        if problem is not None:
            raise InvalidFrozenChangeEvidencePacket(problem)
    _check_agents(state)
    for node_id in sorted(known - set(state.nodes)):
        state.nodes[node_id] = NodeState(node_id)
    state.nodes = dict(sorted(state.nodes.items()))
    state.over = False
    return state


def _check_agents(state: RunState) -> None:
    for agent_id, document in state.agents.items():
        try:
            CallableAgent.model_validate(document)
        except ValidationError as error:
            raise CheckpointError(
                f"the saved agent '{agent_id}' cannot be read: {error}"
            ) from error


def recover(run: RunContext, started: Started) -> None:
    """Make a restored run go on: calls that were under way are made again.

    Answers and decisions that were open stay open with the same ids, and are announced anew. Tool
    calls that had ended are not repeated, and those that may have written wait for a person. The
    node that the message is for takes it as its answer, or retries with it.
    """
    message, known = started.message, Known(started)
    at_work = list(run.state.subagents.values())
    for node in list(run.state.nodes.values()):
        if message is not None and node.id == message.node_id:
            take_message(run, node, message)
        elif node.phase is NodePhase.INTERRUPTED:
            resume_interrupted(run, node)
        elif node.phase in {NodePhase.CALLING, NodePhase.BACKOFF}:
            call_model(run, node)
        elif node.phase is NodePhase.TOOLS:
            _recover_turn(run, node, known)
        elif node.phase is NodePhase.AWAITING_INPUT:
            announce_question(run, node)
        elif node.phase is NodePhase.FAILED:
            label = run.facts[node.id].label
            run.events.append(NodeErrored(node.id, label, node.error))
    for actor in at_work:
        _recover_subagent(run, actor, message, known)


def _recover_subagent(
    run: RunContext, actor: NodeState, message: MessageQueued | None, known: Known
) -> None:
    step = step_of(actor)
    if isinstance(step, Done):
        return
    if message is not None and actor.id == message.node_id:
        take_message(run, actor, message)
    elif not isinstance(step, NeedAi):
        _recover_turn(run, actor, known)
    elif actor.phase is NodePhase.INTERRUPTED:
        resume_interrupted(run, actor)
    elif actor.phase is NodePhase.AWAITING_INPUT:
        announce_question(run, actor)
    else:
        call_model(run, actor)


def _recover_turn(run: RunContext, node: NodeState, known: Known) -> None:
    """Find out what became of each call of a turn, ask what was open, and go on with the rest."""
    turn = node.turn
    if turn is None:
        return
    turn.batch_id = ""
    forget_inspection(turn)
    for turn_call in turn.calls:
        if turn_call.phase in OF_UNKNOWN_END and not turn_call.actor_id:
            recover_call(run, node, turn_call, known)
    for turn_call in turn.calls:
        if turn_call.approval_id in run.approvals:
            pending = pending_approval(run, node, turn_call)
            run.events.append(ToolApprovalRequested(pending))
    run.note_turn(node)
    advance(run, node)
