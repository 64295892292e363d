"""Calls that were at work when the run broke off: ended, repeated, or put before a person."""

from __future__ import annotations

from collections.abc import Mapping

from engine.run import feedback
from engine.run.admission import settle, settle_with_error
from engine.run.run_context import RunContext
from engine.run.state import CallPhase, NodeState, RunState, TurnCall
from engine.run.tool_turns import advance, give_result, record_effects
from engine.vocabulary.errors import NotUncertain
from engine.vocabulary.events import ToolCallSettled, ToolCallUncertain
from engine.vocabulary.inputs import Started, UncertainSettled
from engine.vocabulary.recovery import CallEvidence, KnownEnd, UncertainCall, UncertainChoice
from engine.vocabulary.tools import ToolTier

OF_UNKNOWN_END = frozenset({CallPhase.RUNNING, CallPhase.UNCERTAIN})


def calls_at_work(state: RunState) -> frozenset[str]:
    """The calls that run, or whose end is uncertain, by id."""
    actors = [*state.nodes.values(), *state.subagents.values()]
    turns = [actor.turn for actor in actors if actor.turn is not None]
    return frozenset(
        call.call.id for turn in turns for call in turn.calls if call.phase in OF_UNKNOWN_END
    )


class Known:
    """What is known of calls that were at work, by call id.

    `evidence` is `None` where nobody looked: then every writing call may have run.
    """

    def __init__(self, started: Started) -> None:
        self.ends: Mapping[str, KnownEnd] = {end.result.call_id: end for end in started.ends}
        self.evidence: Mapping[str, CallEvidence] | None = (
            None
            if started.evidence is None
            else {evidence.call_id: evidence for evidence in started.evidence}
        )


def recover_call(run: RunContext, node: NodeState, turn_call: TurnCall, known: Known) -> None:
    """Decide what becomes of a call that was at work or is uncertain already.

    One that ended has its result, one that only reads or did not begin runs, and of any other a
    person has to say what became of it.
    """
    call_id = turn_call.call.id
    end = known.ends.get(call_id)
    evidence = known.evidence.get(call_id) if known.evidence is not None else CallEvidence(call_id)
    if end is not None:
        record_effects(run, node, end.effects)
        give_result(node, turn_call, end.result)
    elif turn_call.phase is CallPhase.UNCERTAIN:
        turn_call.evidence = evidence or turn_call.evidence
    elif turn_call.tier is ToolTier.READ or evidence is None:
        turn_call.phase = CallPhase.ADMITTED
    else:
        turn_call.phase = CallPhase.UNCERTAIN
        turn_call.evidence = evidence
    if turn_call.phase is CallPhase.UNCERTAIN:
        run.events.append(ToolCallUncertain(uncertain_call(run, node, turn_call)))


def uncertain_call(run: RunContext, node: NodeState, turn_call: TurnCall) -> UncertainCall:
    """What a person is to say about a call; the node that is named is the one they know."""
    path = run.facts[node.id].path
    evidence = turn_call.evidence or CallEvidence(turn_call.call.id)
    return UncertainCall(path[0], run.facts[path[0]].label, turn_call.call, evidence, path)


def actor_of_uncertain(run: RunContext, call_id: str) -> NodeState:
    """Whose call of unknown end this is.

    Raises:
        NotUncertain: no such call is.
    """
    for actor_id in run.waiting:
        actor = run.actor(actor_id)
        if actor is not None and _find(actor, call_id) is not None:
            return actor
    raise NotUncertain(call_id)


def settle_call(run: RunContext, node: NodeState, settled: UncertainSettled) -> None:
    """A person says what became of a call: it is done, runs again, or is skipped."""
    turn_call = _find(node, settled.call_id)
    assert turn_call is not None
    call, choice = turn_call.call, settled.choice
    turn_call.evidence = None
    run.events.append(ToolCallSettled(node.id, call.id, call.name, choice))
    if choice is UncertainChoice.REDO:
        turn_call.phase = CallPhase.ADMITTED
    elif choice is UncertainChoice.DONE:
        settle(run, node, turn_call, feedback.SETTLED_AS_DONE, is_error=False)
    else:
        settle_with_error(run, node, turn_call, feedback.SETTLED_AS_SKIPPED)
    run.note_turn(node)
    advance(run, node)


def _find(actor: NodeState, call_id: str) -> TurnCall | None:
    for turn_call in actor.turn.calls if actor.turn is not None else ():
        if turn_call.phase is CallPhase.UNCERTAIN and turn_call.call.id == call_id:
            return turn_call
    return None
