"""A person decides about a call: what they are shown, and what follows from the answer."""

from __future__ import annotations

from engine.run import feedback
from engine.run.admission import admit_by_rules, allow, ask_about, deny
from engine.run.run_context import RunContext
from engine.run.state import CallPhase, NodeState
from engine.run.tool_turns import advance
from engine.vocabulary.inputs import CallsInspected, ToolDecided


def take_inspections(run: RunContext, node: NodeState, inspected: CallsInspected) -> None:
    """Ask a person about the calls that were looked up, each with what was found."""
    turn = node.turn
    assert turn is not None
    turn.inspection_id = ""
    by_call = {inspection.call_id: inspection for inspection in inspected.inspections}
    for turn_call in turn.calls:
        if turn_call.phase is CallPhase.INSPECTING:
            ask_about(run, node, turn_call, by_call)
    run.note_turn(node)
    advance(run, node)


def decide_call(run: RunContext, node: NodeState, decided: ToolDecided) -> None:
    """Apply a decision to the call that it names and, if it is one for the run, to equal ones."""
    turn = node.turn
    assert turn is not None
    turn_call = next(c for c in turn.calls if c.approval_id == decided.approval_id)
    concerned = [node]
    if decided.allow:
        allow(run, node, turn_call)
        if decided.for_run and turn_call.rule is not None:
            rules = run.state.rules
            rules.extend(rule for rule in turn_call.rule.rules if rule not in rules)
            concerned += [actor for actor in admit_by_rules(run) if actor is not node]
    else:
        del run.approvals[decided.approval_id]
        run.state.verdicts[decided.approval_id] = "denied"
        deny(run, node, turn_call, feedback.denied_by_person(turn_call.call.name, decided.reason))
    for actor in concerned:
        run.note_turn(actor)
        advance(run, actor)
