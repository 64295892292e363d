"""Whether a call may run: judged by the policy and the rules of the run, else put before a person.

What a person is asked about is looked up first, so that they see it and decide about that.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.run import feedback
from engine.run.actors import NodeFacts
from engine.run.approval_policy import (
    Verdict,
    call_digest,
    decide,
    reason_to_ask,
    tier_of_call,
)
from engine.run.approval_rules import allows, proposal
from engine.run.budgets import MAX_DRIFTS
from engine.run.plan_mode import denial, is_draft_mutation
from engine.run.run_context import RunContext
from engine.run.state import CallPhase, NodeState, ToolTurn, TurnCall
from engine.vocabulary.events import (
    ToolApprovalRequested,
    ToolApproved,
    ToolCompleted,
    ToolDenied,
)
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import (
    SEAL_PLAN_TOOL,
    ApprovalMode,
    CallInspection,
    ToolAccessPolicy,
    ToolCall,
    ToolResult,
    ToolTier,
)

_CHANGED_SINCE = "what it would touch has changed since it was allowed"


def judge(
    run: RunContext, node: NodeState, facts: NodeFacts, call: ToolCall, turn: ToolTurn
) -> TurnCall:
    """What becomes of a new call: refused, to be put before a person, or admitted."""
    definition = run.definition(call.name, facts)
    tier = tier_of_call(definition, call)
    turn_call = TurnCall(call, CallPhase.ADMITTED, tier)
    if call.arguments_error is not None:
        settle_with_error(run, node, turn_call, feedback.invalid_arguments(call))
        return turn_call
    if call.name == "write" and call.arguments.get("content") is None:
        turn.note = feedback.INCOMPLETE_WRITE
        settle_with_error(run, node, turn_call, feedback.invalid_write(call))
        return turn_call
    mode, policy = run.approval_mode(node, facts), run.policy
    # Where nothing may be changed, what counts is the tool and not what a command seems to do.
    of_tool = tier if definition is None else definition.tier
    is_source = run.is_plan_source(node.id)
    refusal = denial(call, tier=of_tool, policy=policy, is_source=is_source, mode=mode)
    if refusal is None and definition is None:
        names = [tool.name for tool in run.offered(node, facts, policy)]
        settle_with_error(run, node, turn_call, feedback.unavailable_tool(call.name, names))
        return turn_call
    if refusal is not None:
        deny(run, node, turn_call, refusal)
        return turn_call
    verdict = _verdict(run, call, of_tool if mode is ApprovalMode.READ_ONLY else tier, mode)
    if verdict is Verdict.DENY:
        deny(run, node, turn_call, feedback.read_only_denial(call.name))
    elif verdict is Verdict.AUTO_ALLOW or _is_allowed_for_run(run, call, mode):
        turn_call.digest = call_digest(facts.path, call.name, call.arguments)
    else:
        turn_call.phase = CallPhase.PROMPTED
    return turn_call


def judge_again(run: RunContext, node: NodeState, turn_call: TurnCall) -> None:
    """A call was not run, because it is no longer what was allowed: ask anew, but not for ever."""
    call, facts = turn_call.call, run.facts[node.id]
    turn_call.drifts += 1
    turn_call.is_bound, turn_call.approval_id, turn_call.preview = False, "", None
    mode = run.approval_mode(node, facts)
    definition = run.definition(call.name, facts)
    writes = definition is None or definition.tier is ToolTier.WRITE
    if turn_call.drifts > MAX_DRIFTS:
        settle_with_error(run, node, turn_call, feedback.kept_changing(call.name))
    elif mode is ApprovalMode.READ_ONLY and writes:
        deny(run, node, turn_call, feedback.read_only_denial(call.name))
    elif _is_allowed_for_run(run, call, mode):
        turn_call.digest = call_digest(facts.path, call.name, call.arguments)
        turn_call.phase = CallPhase.ADMITTED
    else:
        turn_call.phase = CallPhase.PROMPTED


def _verdict(run: RunContext, call: ToolCall, tier: ToolTier, mode: ApprovalMode) -> Verdict:
    if run.policy is ToolAccessPolicy.PLANNING:
        if call.name == SEAL_PLAN_TOOL:
            return Verdict.PROMPT
        if is_draft_mutation(call):
            return Verdict.AUTO_ALLOW
    return decide(mode, tier)


def _is_allowed_for_run(run: RunContext, call: ToolCall, mode: ApprovalMode) -> bool:
    """Whether a rule of the run allows a call about which a person would be asked."""
    rules = run.state.rules
    return (
        bool(rules)
        and mode is not ApprovalMode.READ_ONLY
        and run.policy is not ToolAccessPolicy.PLANNING
        and allows(rules, call)
    )


def settle_with_error(run: RunContext, node: NodeState, turn_call: TurnCall, content: str) -> None:
    """Give a call an error for a result, and tell it."""
    settle(run, node, turn_call, content, is_error=True)


def settle(
    run: RunContext, node: NodeState, turn_call: TurnCall, content: str, *, is_error: bool
) -> None:
    """Give a call that no tool port ran its result, and tell it."""
    call = turn_call.call
    turn_call.result = ToolResult(call.id, call.name, content, is_error=is_error)
    turn_call.phase = CallPhase.SETTLED
    run.events.append(ToolCompleted(node.id, call.id, call.name, content, is_error=is_error))


def deny(run: RunContext, node: NodeState, turn_call: TurnCall, reason: str) -> None:
    """Give a call a denial for a result, and tell it."""
    call = turn_call.call
    turn_call.result = ToolResult(call.id, call.name, reason, is_error=True)
    turn_call.phase = CallPhase.SETTLED
    run.events.append(ToolDenied(turn_call.approval_id, node.id, call.id, call.name, reason))


def ask_about(
    run: RunContext,
    node: NodeState,
    turn_call: TurnCall,
    inspections: Mapping[str, CallInspection],
) -> None:
    """Put a call before a person, unless a rule has come up meanwhile that allows it.

    The decision binds what the inspection found. `inspections` are by call id.
    """
    call, facts = turn_call.call, run.facts[node.id]
    mode = run.approval_mode(node, facts)
    if _is_allowed_for_run(run, call, mode):
        turn_call.digest = call_digest(facts.path, call.name, call.arguments)
        turn_call.phase = CallPhase.ADMITTED
        return
    inspection = inspections.get(call.id)
    targets = () if inspection is None else inspection.targets
    turn_call.preview = None if inspection is None else inspection.preview
    turn_call.digest = call_digest(facts.path, call.name, call.arguments, targets)
    turn_call.is_bound = True
    turn_call.rule = None if run.policy is ToolAccessPolicy.PLANNING else proposal(call)
    turn_call.reason = reason_to_ask(call, turn_call.tier)
    if turn_call.drifts:
        turn_call.reason += f"; {_CHANGED_SINCE}"
    turn_call.approval_id = run.identifier()
    turn_call.phase = CallPhase.UNDECIDED
    run.approvals[turn_call.approval_id] = node.id
    run.events.append(ToolApprovalRequested(pending_approval(run, node, turn_call)))


def pending_approval(run: RunContext, node: NodeState, turn_call: TurnCall) -> PendingApproval:
    """What a person is asked about one call; the node that is named is the one they know."""
    path = run.facts[node.id].path
    return PendingApproval(
        turn_call.approval_id,
        path[0],
        run.facts[path[0]].label,
        turn_call.call,
        turn_call.tier,
        turn_call.digest,
        path,
        turn_call.reason,
        turn_call.preview,
        turn_call.rule,
    )


def allow(run: RunContext, node: NodeState, turn_call: TurnCall) -> None:
    """A person allowed a call that they were asked about, itself or by a rule."""
    call, approval_id = turn_call.call, turn_call.approval_id
    del run.approvals[approval_id]
    run.state.verdicts[approval_id] = "allowed"
    turn_call.phase = CallPhase.ADMITTED
    run.events.append(ToolApproved(approval_id, node.id, call.id, call.name))


def admit_by_rules(run: RunContext) -> list[NodeState]:
    """Allow every open call that the rules match now; gives whose calls they were."""
    concerned: dict[str, NodeState] = {}
    for approval_id, actor_id in list(run.approvals.items()):
        actor = run.actor(actor_id)
        assert actor is not None
        assert actor.turn is not None
        turn_call = next(c for c in actor.turn.calls if c.approval_id == approval_id)
        mode = run.approval_mode(actor, run.facts[actor_id])
        if _is_allowed_for_run(run, turn_call.call, mode):
            # What was shown to nobody binds nothing: the rule allows the call as such.
            path = run.facts[actor_id].path
            turn_call.digest = call_digest(path, turn_call.call.name, turn_call.call.arguments)
            turn_call.is_bound = False
            allow(run, actor, turn_call)
            concerned[actor_id] = actor
    return list(concerned.values())
