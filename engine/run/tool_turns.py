"""A turn in which the model called tools: judge each call, run them in order, give results back.

Each call is decided by itself. Calls before an undecided one run, those after it wait, and the
results go back to the model together, in call order. Calls of subagents are carried out here and
go to no tool port; those that stand next to each other run side by side.
"""

from __future__ import annotations

import msgspec

from engine.run import feedback, subagents
from engine.run.actors import conversation_id_of
from engine.run.admission import judge, judge_again, settle, settle_with_error
from engine.run.budgets import BAD_ARGUMENT_TURNS_TO_FAIL
from engine.run.file_changes import merge_reads, relativise_arguments
from engine.run.plan_mode import is_seal_result, sealed_arguments
from engine.run.run_context import RunContext
from engine.run.scheduling import call_model, fail_node, say_as_user
from engine.run.state import CallPhase, NodePhase, NodeState, ToolTurn, TurnCall
from engine.vocabulary.effects import AdmittedCall, InspectCalls, RunTools
from engine.vocabulary.events import ToolCallProposed, ToolCompleted, ToolStarted
from engine.vocabulary.inputs import ToolsFinished
from engine.vocabulary.messages import (
    AssistantMessage,
    CallItem,
    Reasoning,
    ResultItem,
    ToolCallsTurn,
    UserMessage,
)
from engine.vocabulary.tools import (
    DECLARE_SUBAGENTS_TOOL,
    SUBAGENT_TOOLS,
    ToolCall,
    ToolEffects,
    ToolResult,
)

# Looked up once: members of an enumeration are slow to get at, and each turn asks for them often.
_SETTLED, _ADMITTED, _RUNNING = CallPhase.SETTLED, CallPhase.ADMITTED, CallPhase.RUNNING


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
        turn.calls.append(judge(run, node, facts, call, turn))
    if _too_many_unreadable(node, calls):
        node.turn = turn
        close_turn(run, node, feedback.NOT_RUN)
        fail_node(run, node, feedback.UNREADABLE_ARGUMENTS_EXHAUSTED)
        return
    node.turn = turn
    run.enter(node, NodePhase.TOOLS)
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


def advance(run: RunContext, node: NodeState) -> None:
    """Run what stands before the first undecided call; close the turn when all have results."""
    turn = node.turn
    if turn is None:
        return
    upcoming: list[TurnCall] = []
    delegates: bool | None = None
    is_blocked = must_ask = False
    for turn_call in turn.calls:
        phase = turn_call.phase
        if phase is _SETTLED:
            continue
        if phase is _ADMITTED or phase is _RUNNING:
            if is_blocked:
                continue
            to_subagent = turn_call.call.name in SUBAGENT_TOOLS
            if delegates is not None and delegates is not to_subagent:
                is_blocked = True
                continue
            delegates = to_subagent
            if phase is _ADMITTED:
                upcoming.append(turn_call)
        else:
            is_blocked = True
            must_ask = must_ask or phase is CallPhase.PROMPTED
    if must_ask and not turn.inspection_id:
        _inspect(run, node, turn)
    if delegates is None and not is_blocked:
        close_turn(run, node, feedback.NOT_RUN)
        call_model(run, node)
    elif not upcoming or turn.batch_id:
        run.note_turn(node)
    elif delegates:
        _delegate(run, node, upcoming)
    else:
        _run(run, node, turn, upcoming)


def _run(run: RunContext, node: NodeState, turn: ToolTurn, upcoming: list[TurnCall]) -> None:
    facts = run.facts[node.id]
    node.batch += 1
    turn.batch_id = batch_id_of(node.id, node.batch)
    for turn_call in upcoming:
        turn_call.phase = _RUNNING
    calls = tuple([AdmittedCall(c.call, c.digest, c.is_bound) for c in upcoming])
    run.effects.append(
        RunTools(
            node.id,
            facts.label,
            turn.batch_id,
            calls,
            run.policy,
            facts.path,
            conversation_id_of(node),
            run.approval_mode(node, facts),
        )
    )
    run.note_turn(node)


def _inspect(run: RunContext, node: NodeState, turn: ToolTurn) -> None:
    """Have looked up what the calls would touch that a person is to be asked about."""
    asked = [turn_call for turn_call in turn.calls if turn_call.phase is CallPhase.PROMPTED]
    node.batch += 1
    turn.inspection_id = batch_id_of(node.id, node.batch)
    for turn_call in asked:
        turn_call.phase = CallPhase.INSPECTING
    calls = tuple([turn_call.call for turn_call in asked])
    path, conversation = run.facts[node.id].path, conversation_id_of(node)
    run.effects.append(
        InspectCalls(node.id, turn.inspection_id, calls, run.policy, path, conversation)
    )


def forget_inspection(turn: ToolTurn) -> None:
    """The inspection that is under way will not be answered: it has to be made again."""
    turn.inspection_id = ""
    for turn_call in turn.calls:
        if turn_call.phase is CallPhase.INSPECTING:
            turn_call.phase = CallPhase.PROMPTED


def _delegate(run: RunContext, node: NodeState, upcoming: list[TurnCall]) -> None:
    """Carry out calls that have to do with subagents; those that were put to work go on alone."""
    run.note_turn(node)
    begun: list[NodeState] = []
    has_settled = False
    for turn_call in upcoming:
        call = turn_call.call
        if call.name == DECLARE_SUBAGENTS_TOOL:
            run.events.append(ToolStarted(node.id, call.id, call.name, call.arguments))
            content, is_error = subagents.declare(run, node, call)
            settle(run, node, turn_call, content, is_error=is_error)
            has_settled = True
        elif not subagents.is_at_work(node, subagents.called_id(call.arguments)):
            run.events.append(ToolStarted(node.id, call.id, call.name, call.arguments))
            actor = subagents.begin(run, node, turn_call)
            if isinstance(actor, NodeState):
                begun.append(actor)
            else:
                settle_with_error(run, node, turn_call, actor)
                has_settled = True
    for actor in begun:
        say_as_user(run, actor, subagents.opening_words(run, actor))
        call_model(run, actor)
    if has_settled:
        advance(run, node)


def settle_ended(run: RunContext) -> None:
    """Give the callers of subagents that have ended their results, and let them go on."""
    while run.ended:
        actor = run.ended.pop(0)
        delegation, step = actor.delegation, subagents.step_of(actor)
        assert delegation is not None
        assert isinstance(step, subagents.Done)
        caller = run.state.nodes[delegation.node_id]
        assert caller.turn is not None
        turn_call = next(
            call
            for call in caller.turn.calls
            if call.actor_id == actor.id and call.phase is CallPhase.RUNNING
        )
        settle(run, caller, turn_call, step.content, is_error=step.is_error)
        advance(run, caller)


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
            is_uncertain = turn_call.phase is CallPhase.UNCERTAIN
            content = feedback.UNCERTAIN_CALL if is_uncertain else missing
            result = ToolResult(turn_call.call.id, turn_call.call.name, content, is_error=True)
            if turn_call.phase is CallPhase.UNDECIDED:
                run.state.verdicts[turn_call.approval_id] = "withdrawn"
            run.events.append(
                ToolCompleted(node.id, result.call_id, result.tool_name, content, is_error=True)
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
        if turn_call.phase is not _RUNNING:
            continue
        call = turn_call.call
        result = by_call.get(call.id)
        if result is None:
            result = ToolResult(call.id, call.name, feedback.NOT_COMPLETED, is_error=True)
        if result.drifted:
            judge_again(run, node, turn_call)
            continue
        give_result(node, turn_call, result)
    advance(run, node)


def give_result(node: NodeState, turn_call: TurnCall, result: ToolResult) -> None:
    """Settle a call with what its tool gave."""
    turn_call.result = result
    turn_call.phase = _SETTLED
    if is_seal_result(result):
        _record_as_sealed(node, result)


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
    """Keep what the calls changed and read, for the descendants of the node they count to."""
    if node.delegation is not None:
        node = run.state.nodes[node.delegation.node_id]
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
