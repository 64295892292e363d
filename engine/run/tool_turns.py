"""A turn in which the model called tools: judge each call, run them in order, give results back.

Each call is decided by itself. Calls before an undecided one run, those after it wait, and the
results go back to the model together, in call order.
"""

from __future__ import annotations

import msgspec

from engine.run import feedback
from engine.run.approval_policy import Verdict, call_digest, decide
from engine.run.budgets import BAD_ARGUMENT_TURNS_TO_FAIL
from engine.run.file_changes import merge_reads, relativise_arguments
from engine.run.plan_mode import denial, is_draft_mutation, is_seal_result, sealed_arguments
from engine.run.run_context import NodeFacts, RunContext
from engine.run.scheduling import call_model, fail_node
from engine.run.state import CallPhase, NodePhase, NodeState, ToolTurn, TurnCall
from engine.vocabulary.effects import AdmittedCall, RunTools
from engine.vocabulary.events import (
    ToolApprovalRequested,
    ToolApproved,
    ToolCallProposed,
    ToolCompleted,
    ToolDenied,
)
from engine.vocabulary.inputs import ToolDecided, ToolsFinished
from engine.vocabulary.messages import (
    AssistantMessage,
    CallItem,
    Reasoning,
    ResultItem,
    ToolCallsTurn,
    UserMessage,
)
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import (
    SEAL_PLAN_TOOL,
    ApprovalMode,
    ToolAccessPolicy,
    ToolCall,
    ToolEffects,
    ToolResult,
    ToolTier,
)


def open_turn(run: RunContext, node: NodeState, reply: ToolCallsTurn) -> None:
    """Record the model's calls, judge each, and start what may start."""
    facts = run.facts[node.id]
    node.counters.clear_for_tool_turn()
    if reply.reasoning:
        node.transcript.append(Reasoning(reply.reasoning))
    if reply.assistant_message:
        node.transcript.append(AssistantMessage(reply.assistant_message))
    calls = [_our_call(run, call) for call in reply.calls]
    turn = ToolTurn([])
    for call in calls:
        node.transcript.append(CallItem(call))
        run.events.append(ToolCallProposed(node.id, facts.label, call))
        turn.calls.append(_judge(run, node, facts, call, turn))
    if _too_many_unreadable(node, calls):
        node.turn = turn
        close_turn(run, node, feedback.NOT_RUN)
        fail_node(run, node, feedback.UNREADABLE_ARGUMENTS_EXHAUSTED)
        return
    node.turn = turn
    run.enter(node, NodePhase.TOOLS)
    for turn_call in turn.calls:
        if turn_call.approval_id:
            run.approvals[turn_call.approval_id] = node.id
            run.events.append(ToolApprovalRequested(pending_approval(facts, turn_call)))
    advance(run, node)


def _our_call(run: RunContext, call: ToolCall) -> ToolCall:
    arguments = relativise_arguments(call.arguments, run.project_root)
    return ToolCall(
        run.identifier(),
        call.name,
        arguments,
        call.provider_call_id,
        call.arguments_error,
        call.repairs,
    )


def _too_many_unreadable(node: NodeState, calls: list[ToolCall]) -> bool:
    if not any(call.arguments_error for call in calls):
        node.counters.bad_arguments = 0
        return False
    node.counters.bad_arguments += 1
    return node.counters.bad_arguments >= BAD_ARGUMENT_TURNS_TO_FAIL


def _judge(
    run: RunContext, node: NodeState, facts: NodeFacts, call: ToolCall, turn: ToolTurn
) -> TurnCall:
    """What becomes of one call: refused, put before a person, or admitted."""
    definition = run.catalog.definition(call.name)
    tier = definition.tier if definition is not None else ToolTier.WRITE
    if call.arguments_error is not None:
        return _settle(run, node, call, tier, feedback.invalid_arguments(call))
    if call.name == "write" and call.arguments.get("content") is None:
        turn.note = feedback.INCOMPLETE_WRITE
        return _settle(run, node, call, tier, feedback.invalid_write(call))
    mode = run.approval_mode(node, facts)
    is_source = run.is_plan_source(node.id)
    refusal = denial(call, tier=tier, policy=run.policy, is_source=is_source, mode=mode)
    if refusal is None and definition is None:
        return _settle(run, node, call, tier, _unavailable(run, node, facts, call))
    verdict = _verdict(run, call, tier, mode) if refusal is None else Verdict.DENY
    if verdict is Verdict.DENY:
        reason = refusal or feedback.read_only_denial(call.name)
        run.events.append(ToolDenied("", node.id, call.id, call.name, reason))
        return _settle(run, node, call, tier, reason, denied=True)
    digest = call_digest((node.id,), call.name, call.arguments)
    if verdict is Verdict.AUTO_ALLOW:
        return TurnCall(call, CallPhase.ADMITTED, tier, digest)
    return TurnCall(call, CallPhase.UNDECIDED, tier, digest, run.identifier())


def _verdict(run: RunContext, call: ToolCall, tier: ToolTier, mode: ApprovalMode) -> Verdict:
    if run.policy is ToolAccessPolicy.PLANNING:
        if call.name == SEAL_PLAN_TOOL:
            return Verdict.PROMPT
        if is_draft_mutation(call):
            return Verdict.AUTO_ALLOW
    return decide(mode, tier)


def _unavailable(run: RunContext, node: NodeState, facts: NodeFacts, call: ToolCall) -> str:
    offered = run.catalog.offered(node.id, run.approval_mode(node, facts), run.policy)
    return feedback.unavailable_tool(call.name, [tool.name for tool in offered])


def _settle(
    run: RunContext,
    node: NodeState,
    call: ToolCall,
    tier: ToolTier,
    content: str,
    *,
    denied: bool = False,
) -> TurnCall:
    result = ToolResult(call.id, call.name, content, is_error=True)
    if not denied:
        run.events.append(ToolCompleted(node.id, call.id, call.name, content, is_error=True))
    return TurnCall(call, CallPhase.SETTLED, tier, result=result)


def pending_approval(facts: NodeFacts, turn_call: TurnCall) -> PendingApproval:
    """What a person is asked about one call."""
    return PendingApproval(
        turn_call.approval_id,
        facts.id,
        facts.label,
        turn_call.call,
        turn_call.tier,
        turn_call.digest,
        (facts.id,),
        turn_call.reason,
    )


def advance(run: RunContext, node: NodeState) -> None:
    """Run what stands before the first undecided call; close the turn when all have results."""
    turn = node.turn
    if turn is None or turn.batch_id:
        return
    batch: list[TurnCall] = []
    for turn_call in turn.calls:
        if turn_call.phase is CallPhase.ADMITTED:
            batch.append(turn_call)
        elif turn_call.phase is CallPhase.UNDECIDED:
            break
    if batch:
        node.batch += 1
        turn.batch_id = batch_id_of(node.id, node.batch)
        for turn_call in batch:
            turn_call.phase = CallPhase.RUNNING
        calls = tuple([AdmittedCall(c.call, c.digest) for c in batch])
        label = run.facts[node.id].label
        run.effects.append(RunTools(node.id, label, turn.batch_id, calls, run.policy, (node.id,)))
        run.note_turn(node)
    elif all(turn_call.result is not None for turn_call in turn.calls):
        close_turn(run, node, feedback.NOT_RUN)
        call_model(run, node)
    else:
        run.note_turn(node)


def batch_id_of(node_id: str, serial: int) -> str:
    """The id of a node's `serial`-th batch."""
    return f"{node_id}#{serial}"


def batch_serial(batch_id: str) -> int:
    """The serial in a batch id, 0 where it is none of ours."""
    serial = batch_id.rpartition("#")[2]
    return int(serial) if serial.isdecimal() else 0


def close_turn(run: RunContext, node: NodeState, missing: str) -> None:
    """Put all results into the transcript, an error saying `missing` where there is none."""
    turn = node.turn
    if turn is None:
        return
    for turn_call in turn.calls:
        result = turn_call.result
        if result is None:
            result = ToolResult(turn_call.call.id, turn_call.call.name, missing, is_error=True)
            if turn_call.phase is CallPhase.UNDECIDED:
                run.state.verdicts[turn_call.approval_id] = "withdrawn"
            run.events.append(
                ToolCompleted(node.id, result.call_id, result.tool_name, missing, is_error=True)
            )
        run.approvals.pop(turn_call.approval_id, None)
        node.transcript.append(ResultItem(result))
    if turn.note:
        node.transcript.append(UserMessage(turn.note))
    node.turn = None


def take_results(run: RunContext, node: NodeState, finished: ToolsFinished) -> None:
    """Match results to the calls that ran and go on with the turn."""
    turn = node.turn
    assert turn is not None
    turn.batch_id = ""
    record_effects(run, node, finished.effects)
    by_call = {result.call_id: result for result in finished.results}
    for turn_call in turn.calls:
        if turn_call.phase is not CallPhase.RUNNING:
            continue
        call = turn_call.call
        result = by_call.get(call.id)
        if result is None:
            result = ToolResult(call.id, call.name, feedback.NOT_COMPLETED, is_error=True)
        turn_call.result = result
        turn_call.phase = CallPhase.SETTLED
        if is_seal_result(result):
            _record_as_sealed(node, result)
    advance(run, node)


def _record_as_sealed(node: NodeState, result: ToolResult) -> None:
    """Keep a reference to the sealed plan in place of what the seal was called with.

    No request has seen the call yet, so views of the transcript do not change.
    """
    for at in range(len(node.transcript) - 1, -1, -1):
        item = node.transcript[at]
        if isinstance(item, CallItem) and item.call.id == result.call_id:
            sealed = msgspec.structs.replace(item.call, arguments=sealed_arguments(result))
            node.transcript[at] = CallItem(sealed)
            return


def record_effects(run: RunContext, node: NodeState, effects: ToolEffects) -> None:
    """Keep what the calls changed and read, for the node's descendants."""
    if effects.file_changes:
        changes = run.changed_files.setdefault(node.id, [])
        changes.extend(effects.file_changes)
        node.changed_files = changes
    if effects.reads:
        node.reads = merge_reads(node.reads or {}, effects.reads)
        run.reads[node.id] = node.reads
    for path in effects.read_call_paths:
        run.state.read_calls += 1
        if any(path in run.reads.get(a, ()) for a in run.ancestors(node.id)):
            run.state.redundant_reads += 1


def decide_call(run: RunContext, node: NodeState, decided: ToolDecided) -> None:
    """Apply a person's decision to the one call that it names."""
    turn = node.turn
    assert turn is not None
    turn_call = next(c for c in turn.calls if c.approval_id == decided.approval_id)
    call = turn_call.call
    del run.approvals[decided.approval_id]
    if decided.allow:
        run.state.verdicts[decided.approval_id] = "allowed"
        turn_call.phase = CallPhase.ADMITTED
        run.events.append(ToolApproved(decided.approval_id, node.id, call.id, call.name))
    else:
        run.state.verdicts[decided.approval_id] = "denied"
        reason = feedback.denied_by_person(call.name, decided.reason)
        turn_call.phase = CallPhase.SETTLED
        turn_call.result = ToolResult(call.id, call.name, reason, is_error=True)
        run.events.append(ToolDenied(decided.approval_id, node.id, call.id, call.name, reason))
    run.note_turn(node)
    advance(run, node)
