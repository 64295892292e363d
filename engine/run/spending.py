"""What a run and its nodes have used up, when that is warned of, and when they pause for it.

A limit is looked at before each model call, so nothing that was paid for is thrown away. What a
subagent uses counts to its node. Times come with the inputs; waiting for a person is no work.
"""

from __future__ import annotations

from functools import lru_cache

from engine.run.run_context import RunContext
from engine.run.state import NodePhase, NodeState, Question, Spent
from engine.vocabulary.events import NodeAwaitingInput
from engine.vocabulary.inputs import Started
from engine.vocabulary.messages import Question as Choice
from engine.vocabulary.messages import QuestionOption, StructuredInput, Usage
from engine.vocabulary.report import PendingInput
from engine.vocabulary.spending import (
    MEASURES,
    NODE,
    RUN,
    Allowance,
    BudgetWarning,
    SpendingLimits,
    SpentLimit,
    amount_text,
)


def begin(run: RunContext, started: Started) -> None:
    """Take the limits of a run that begins."""
    if started.limits is not None and started.limits != SpendingLimits():
        run.state.limits, run.state.spent = started.limits, Spent()
        run.state.last_at = started.at


def pass_time(run: RunContext, at: float, *, is_start: bool) -> None:
    """Count the time since the last input for all that worked meanwhile."""
    state = run.state
    elapsed = 0.0 if is_start else at - state.last_at
    state.last_at = at
    if elapsed <= 0 or not run.busy or state.spent is None:
        return
    state.spent.seconds += elapsed
    owners = {_owner(run, actor_id).id for actor_id in run.busy}
    for owner_id in owners:
        _spent(state.nodes[owner_id]).seconds += elapsed


def count(run: RunContext, node: NodeState, usage: Usage | None, *, is_turn: bool) -> None:
    """Count a reply, and warn of what has come to be too much."""
    state = run.state
    limits, of_run = state.limits, state.spent
    if limits is None or of_run is None:
        return
    owner = _owner(run, node.id)
    of_node = _spent(owner)
    for spent in (of_run, of_node):
        spent.turns += is_turn
        if usage is not None:
            spent.tokens += _tokens(usage)
            spent.cost += usage.cost or 0.0
    _warn(run, owner.id, RUN, of_run, limits.warn_run)
    _warn(run, owner.id, NODE, of_node, limits.warn_node)


def _tokens(usage: Usage) -> int:
    if usage.total_tokens is not None:
        return usage.total_tokens
    return (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)


def _warn(run: RunContext, node_id: str, scope: str, spent: Spent, allowed: Allowance) -> None:
    for measure, limit in _limited(allowed):
        if measure in spent.warned or getattr(spent, measure) < limit:
            continue
        spent.warned.append(measure)
        amount = float(getattr(spent, measure))
        run.events.append(BudgetWarning(node_id, scope, measure, amount, float(limit)))


@lru_cache(maxsize=64)
def _limited(allowed: Allowance) -> tuple[tuple[str, float], ...]:
    """The measures that have a limit, with it."""
    pairs = [(measure, getattr(allowed, measure)) for measure in MEASURES]
    return tuple([(measure, limit) for measure, limit in pairs if limit is not None])


def used_up(run: RunContext, node: NodeState) -> SpentLimit | None:
    """The first limit that keeps an actor from another model call, those of the run first."""
    state = run.state
    limits, of_run = state.limits, state.spent
    if limits is None or of_run is None:
        return None
    owner = _owner(run, node.id)
    return _over(owner.id, RUN, of_run, limits.run) or (
        None if owner.spent is None else _over(owner.id, NODE, owner.spent, limits.node)
    )


def _over(node_id: str, scope: str, spent: Spent, allowed: Allowance) -> SpentLimit | None:
    for measure, limit in _limited(allowed):
        limit = spent.raised.get(measure, limit)
        amount = getattr(spent, measure)
        if amount >= limit:
            return SpentLimit(scope, node_id, measure, float(amount), float(limit))
    return None


def pause(run: RunContext, node: NodeState, limit: SpentLimit) -> None:
    """Let an actor wait until a person says whether it may use up more.

    All that wait for the same limit ask one question.
    """
    asked = next(
        (other.question for other in waiting_for(run, limit) if other.question is not None), None
    )
    pause_id = run.identifier() if asked is None else asked.pause_id
    label = run.workflow.name if limit.scope == RUN else run.facts[limit.node_id].label
    text = question_text(label, limit)
    node.question = Question(pause_id, text, _choices(text, limit), limit)
    run.enter(node, NodePhase.AWAITING_INPUT)
    run.events.append(
        NodeAwaitingInput(
            node.id,
            run.facts[node.id].label,
            "",
            structured_input=node.question.structured,
            pause_id=pause_id,
            question=text,
            budget=limit,
        )
    )


def asked_once(inputs: list[PendingInput]) -> tuple[PendingInput, ...]:
    """What nodes wait for, each question once: many may wait for the same limit."""
    known: dict[str, PendingInput] = {}
    for pending in inputs:
        known.setdefault(pending.pause_id, pending)
    return tuple(known.values())


def waiting_for(run: RunContext, limit: SpentLimit) -> list[NodeState]:
    """The actors that wait because of the same limit, in the order in which they came to it."""
    found = []
    for actor_id in run.waiting:
        actor = run.actor(actor_id)
        asked = None if actor is None or actor.question is None else actor.question.budget
        if actor is None or asked is None:
            continue
        is_same = (asked.scope, asked.measure) == (limit.scope, limit.measure)
        if is_same and (limit.scope == RUN or asked.node_id == limit.node_id):
            found.append(actor)
    return found


def raise_limit(run: RunContext, limit: SpentLimit, more: float | None) -> float:
    """Allow as much again as the limit was at first, or `more`; the new limit."""
    spent = spent_of(run, limit)
    allowed = run.state.limits or SpendingLimits()
    first = getattr(allowed.run if limit.scope == RUN else allowed.node, limit.measure)
    raised = max(getattr(spent, limit.measure), limit.limit) + (more or first or limit.limit)
    spent.raised[limit.measure] = float(raised)
    return float(raised)


def spent_of(run: RunContext, limit: SpentLimit) -> Spent:
    """The account that a limit is about."""
    if limit.scope == RUN and run.state.spent is not None:
        return run.state.spent
    return _spent(run.state.nodes[limit.node_id])


def allowed(run: RunContext, node: NodeState | None) -> Allowance:
    """What a node, or without one the whole run, may use up; what was raised counts."""
    limits = run.state.limits or SpendingLimits()
    at_first, spent = (limits.run, run.state.spent) if node is None else (limits.node, node.spent)
    raised = {} if spent is None else spent.raised
    pairs = [(measure, getattr(at_first, measure)) for measure in MEASURES]
    return Allowance(
        **{key: value if value is None else raised.get(key, value) for key, value in pairs}
    )


def is_stopped(run: RunContext, node: NodeState) -> bool:
    """Whether a person did not want the actor's node to use up any more."""
    spent = _owner(run, node.id).spent
    return spent is not None and spent.is_stopped


def allow_again(node: NodeState) -> None:
    """A person wants a node to go on that was stopped for its limit; it asks again."""
    if node.spent is not None:
        node.spent.is_stopped = False


def question_text(label: str, limit: SpentLimit) -> str:
    """What a person is asked when a limit is used up."""
    what = "this run" if limit.scope == RUN else "this node and its subagents"
    return (
        f"{label} has used {amount_text(limit.measure, limit.spent)} of the "
        f"{amount_text(limit.measure, limit.limit)} allowed for {what}. Go on with more, or stop?"
    )


def stopped_text(limit: SpentLimit) -> str:
    """Why a node failed that a person did not let go on."""
    return (
        f"stopped at the limit of {amount_text(limit.measure, limit.limit)}; retry it to be asked "
        "again, or give it more"
    )


def _choices(text: str, limit: SpentLimit) -> StructuredInput:
    what = "run" if limit.scope == RUN else "node"
    return StructuredInput(
        (
            Choice(
                "limit",
                "Limit",
                text,
                (
                    QuestionOption("Continue", "Allow as much again"),
                    QuestionOption("Stop", f"Stop the {what}; it can go on later"),
                ),
            ),
        )
    )


def _owner(run: RunContext, actor_id: str) -> NodeState:
    """The node that an actor's use counts to."""
    node = run.state.nodes.get(actor_id)
    if node is not None:
        return node
    delegation = run.state.subagents[actor_id].delegation
    assert delegation is not None
    return run.state.nodes[delegation.node_id]


def _spent(node: NodeState) -> Spent:
    if node.spent is None:
        node.spent = Spent()
    return node.spent
