"""The life of a subagent: declared, called, at work, done.

A subagent at work is an actor like a node: the same table moves it, the same budgets hold, the
same policy judges its calls. What is particular to it is here: where it comes from, how a call
of it begins, and how it ends. `step_of` says what it needs next.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from engine.graph.agents import callable_by
from engine.run import feedback
from engine.run.actors import actor_id_of, conversation_id_of
from engine.run.budgets import MAX_COUNTED_RETRIES, MAX_SUBAGENT_TURNS
from engine.run.run_context import RunContext
from engine.run.state import (
    CallPhase,
    Delegation,
    NodePhase,
    NodeState,
    Subagent,
    SubagentStatus,
    TurnCall,
)
from engine.run.subagent_tools import (
    BadSubagentCall,
    declared_content,
    output_content,
    read_call,
    read_declaration,
    seed_message,
)
from engine.vocabulary.events import (
    NodeCompleted,
    SubagentCompleted,
    SubagentFailed,
    SubagentsDeclared,
    SubagentStarted,
    SubagentSummary,
)
from engine.vocabulary.messages import Completed
from engine.vocabulary.tools import JsonObject, ToolCall


class NeedAi(Struct, frozen=True, gc=False):
    """A model call is under way or due."""


class NeedTools(Struct, frozen=True, gc=False):
    """Calls run, or are looked up for a decision; `call_ids` are those that have no result."""

    call_ids: tuple[str, ...]


class NeedDecision(Struct, frozen=True, gc=False):
    """Nothing moves until a person decides about one of these."""

    approval_ids: tuple[str, ...]


class Done(Struct, frozen=True, gc=False):
    """It has ended; `content` is what its caller gets to read."""

    content: str
    is_error: bool


SubagentStep = NeedAi | NeedTools | NeedDecision | Done


def step_of(actor: NodeState) -> SubagentStep:
    """What a subagent needs next, from its state alone."""
    delegation, turn = actor.delegation, actor.turn
    assert delegation is not None
    if actor.phase is NodePhase.DONE:
        return Done(delegation.content, bool(actor.error))
    if actor.phase is not NodePhase.TOOLS or turn is None:
        return NeedAi()
    if turn.batch_id or turn.inspection_id:
        return NeedTools(tuple([call.call.id for call in turn.calls if call.result is None]))
    return NeedDecision(
        tuple([c.approval_id for c in turn.calls if c.phase is CallPhase.UNDECIDED])
    )


def predeclare(run: RunContext, node: NodeState) -> None:
    """Give a node the saved agents that it may call, once."""
    if node.subagents is not None or node.delegation is not None:
        return
    agents = callable_by(run.facts[node.id].agent, run.agents)
    if not agents:
        return
    node.subagents = {
        agent.id: Subagent(agent.id, agent.name, agent.purpose, is_saved=True) for agent in agents
    }
    _announce(run, node, node.subagents.values())


def declare(run: RunContext, node: NodeState, call: ToolCall) -> tuple[str, bool]:
    """Carry out a call that declares subagents; its result, and whether that is an error."""
    try:
        items = read_declaration(call.arguments)
    except BadSubagentCall as problem:
        return _refusal(call, str(problem)), True
    subagents = {} if node.subagents is None else node.subagents
    node.subagents = subagents
    declared = []
    for name, purpose in items:
        subagent = Subagent(_new_id(node, subagents), name, purpose)
        subagents[subagent.id] = subagent
        declared.append(subagent)
    _announce(run, node, declared)
    return declared_content(declared), False


def _new_id(node: NodeState, taken: dict[str, Subagent]) -> str:
    serial = 1 + sum(not subagent.is_saved for subagent in taken.values())
    while (subagent_id := f"{node.id}-subagent-{serial}") in taken:
        serial += 1
    return subagent_id


def _announce(run: RunContext, node: NodeState, subagents: Iterable[Subagent]) -> None:
    summaries = tuple(
        [SubagentSummary(one.id, one.name, one.purpose, one.status.value) for one in subagents]
    )
    run.events.append(SubagentsDeclared(node.id, summaries))


def called_id(arguments: JsonObject) -> str:
    """The subagent that a call names, empty where it names none."""
    name = arguments.get("subagent_id")
    return name.strip() if isinstance(name, str) else ""


def is_at_work(node: NodeState, subagent_id: str) -> bool:
    """Whether a subagent of the node works on an earlier call."""
    subagent = (node.subagents or {}).get(subagent_id)
    return subagent is not None and subagent.status is SubagentStatus.ACTIVE


def begin(run: RunContext, node: NodeState, turn_call: TurnCall) -> NodeState | str:
    """Put the called subagent to work; the actor, or the error result of a call that cannot be."""
    call = turn_call.call
    try:
        subagent_id, task = read_call(call.arguments)
    except BadSubagentCall as problem:
        return _refusal(call, str(problem))
    known = node.subagents or {}
    subagent = known.get(subagent_id)
    actor_id = actor_id_of(node.id, subagent_id)
    if subagent is None or actor_id in run.state.nodes:
        names = ", ".join(known) or "none"
        return _refusal(call, f"there is no subagent '{subagent_id}' here; available: {names}")
    if subagent.status in {SubagentStatus.ACTIVE, SubagentStatus.FAILED}:
        return _refusal(
            call, f"'{subagent_id}' cannot be called again: it is {subagent.status.value}"
        )
    subagent.calls += 1
    subagent.status = SubagentStatus.ACTIVE
    actor = NodeState(actor_id, delegation=Delegation(node.id, subagent_id, subagent.calls, task))
    _follow_up(run, actor)
    run.state.subagents[actor_id] = actor
    run.add_subagent(actor)
    turn_call.actor_id = actor_id
    turn_call.phase = CallPhase.RUNNING
    run.events.append(SubagentStarted(node.id, subagent_id))
    return actor


def _follow_up(run: RunContext, actor: NodeState) -> None:
    """Count on from the subagent's call before, whose transcript is put away."""
    before = run.state.subagents.get(actor.id)
    if before is None:
        return
    run.state.earlier_transcripts[conversation_id_of(before)] = before.transcript
    actor.call, actor.batch = before.call, before.batch
    actor.retries = min(before.retries + 1, MAX_COUNTED_RETRIES)


def opening_words(run: RunContext, actor: NodeState) -> str:
    """The message that a subagent's transcript begins with."""
    delegation = actor.delegation
    assert delegation is not None
    return seed_message(run.facts[actor.id].label, delegation.task)


def has_spent_its_turns(actor: NodeState) -> bool:
    """Whether a subagent has had as many turns as it may have."""
    return actor.delegation is not None and actor.delegation.turns >= MAX_SUBAGENT_TURNS


def complete(run: RunContext, actor: NodeState, reply: Completed) -> None:
    """A subagent has submitted its output."""
    delegation = actor.delegation
    assert delegation is not None
    actor.output = reply.output
    content = output_content(reply.output, reply.assistant_message)
    label = run.facts[actor.id].label
    run.events.append(NodeCompleted(actor.id, label, reply.output, None, reply.repairs))
    run.events.append(SubagentCompleted(delegation.node_id, delegation.subagent_id))
    _end(run, actor, content, SubagentStatus.COMPLETED)
    run.ended.append(actor)


def fail(run: RunContext, actor: NodeState, error: str) -> None:
    """A subagent gives up: its caller gets an error and goes on."""
    _give_up(run, actor, error, SubagentStatus.FAILED)
    run.ended.append(actor)


def interrupt(run: RunContext, actor: NodeState) -> None:
    """A person stops a subagent: its caller gets an error, and may call it again."""
    _give_up(run, actor, feedback.SUBAGENT_INTERRUPTED, SubagentStatus.DECLARED)
    run.ended.append(actor)


def abandon(run: RunContext, actor: NodeState) -> None:
    """A subagent's caller was interrupted; the call has its result already."""
    _give_up(run, actor, feedback.SUBAGENT_INTERRUPTED, SubagentStatus.DECLARED)


def _give_up(run: RunContext, actor: NodeState, error: str, status: SubagentStatus) -> None:
    delegation = actor.delegation
    assert delegation is not None
    actor.error = error
    _end(run, actor, feedback.error_content(error), status)
    run.events.append(SubagentFailed(delegation.node_id, delegation.subagent_id, error))


def _end(run: RunContext, actor: NodeState, content: str, status: SubagentStatus) -> None:
    delegation = actor.delegation
    assert delegation is not None
    delegation.content = content
    subagents = run.state.nodes[delegation.node_id].subagents
    assert subagents is not None
    subagents[delegation.subagent_id].status = status
    run.enter(actor, NodePhase.DONE)


def _refusal(call: ToolCall, problem: str) -> str:
    return feedback.error_content(f"[invalid_args] {call.name}: {problem}")
