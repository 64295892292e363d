"""The door to the engine: inputs in, steps out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from engine.graph.agents import CallableAgent
from engine.graph.workflow import Workflow
from engine.run import interactions, spending
from engine.run.admission import pending_approval
from engine.run.checkpoint import decode_state, encode_state, recover
from engine.run.run_context import WAITING, RunContext
from engine.run.scheduling import complete_run, start_ready_nodes
from engine.run.state import CallPhase, NodePhase, NodeState, PlanState, RunState
from engine.run.tool_turns import batch_serial, record_effects, settle_ended
from engine.run.transitions import TABLE
from engine.run.uncertainty import actor_of_uncertain, calls_at_work, uncertain_call
from engine.vocabulary.effects import NOTHING, Finish, Step
from engine.vocabulary.errors import (
    AlreadyDecided,
    CallFailure,
    IllegalInput,
    NodeNotActive,
    RunIsOver,
    UnknownApproval,
    UnknownNode,
)
from engine.vocabulary.events import ChatMessage
from engine.vocabulary.inputs import (
    CallsInspected,
    EngineInput,
    Entrypoint,
    HumanAnswered,
    MessageEdited,
    MessageWithdrawn,
    ModelReplied,
    NodeInterruptAsked,
    RetryAsked,
    Started,
    Stopped,
    TimerFired,
    ToolDecided,
    ToolsFinished,
    UncertainSettled,
)
from engine.vocabulary.messages import Attachment, TurnOutcome
from engine.vocabulary.ports import Entropy, ToolCatalog
from engine.vocabulary.report import NeedsInteraction, Retryable
from engine.vocabulary.spending import Allowance
from engine.vocabulary.tools import NO_EFFECTS, CallInspection, ToolEffects, ToolResult

_NO_AGENTS: Mapping[str, CallableAgent] = MappingProxyType({})


class InteractiveEngine:
    """One run as a state machine without input and output.

    `feed` takes one input and gives back what to do and what to tell. Equal inputs give equal
    steps: times come with the inputs, ids and randomness from `entropy`. After an exception the
    state is as it was.
    """

    def __init__(
        self,
        workflow: Workflow,
        *,
        run_id: str,
        entropy: Entropy,
        catalog: ToolCatalog,
        entrypoint: Entrypoint | None = None,
        project_root: str | None = None,
        agents: Mapping[str, CallableAgent] = _NO_AGENTS,
        state: RunState | None = None,
    ) -> None:
        """Begin a run of a valid workflow, or go on from `state` (see `restore`).

        `agents` are the saved agents that the run takes along, by id.
        """
        self._live = False
        self._routes: dict[type, Callable[[Any], bool | None]] = {
            ModelReplied: self._feed_reply,
            ToolsFinished: self._feed_tool_results,
            CallsInspected: self._feed_inspections,
            TimerFired: self._feed_timer,
            Started: self._start,
            Stopped: self._stop,
            ToolDecided: self._decide,
            UncertainSettled: self._settle_uncertain,
            MessageEdited: self._edit_message,
            MessageWithdrawn: self._withdraw_message,
        }
        plan_mode = workflow.settings.plan_mode
        self._run = RunContext(
            workflow,
            state
            or RunState(
                workflow_id=workflow.id,
                run_id=run_id,
                entrypoint=entrypoint or Entrypoint(),
                nodes={
                    node_id: NodeState(node_id)
                    for node_id in sorted(node.id for node in workflow.nodes)
                },
                plan=PlanState(plan_mode.evidence_source_node_id) if plan_mode else None,
                agents={agent_id: agent.document() for agent_id, agent in agents.items()},
            ),
            entropy=entropy,
            catalog=catalog,
            project_root=project_root,
        )

    @classmethod
    def restore(
        cls,
        data: bytes,
        workflow: Workflow,
        *,
        entropy: Entropy,
        catalog: ToolCatalog,
        project_root: str | None = None,
    ) -> InteractiveEngine:
        """An engine in the state of a checkpoint; feed it `Started` to make it go on.

        Raises:
            CheckpointError: if the state does not fit the workflow.
        """
        state = decode_state(data, workflow)
        return cls(
            workflow,
            run_id=state.run_id,
            entropy=entropy,
            catalog=catalog,
            project_root=project_root,
            state=state,
        )

    def checkpoint(self) -> bytes:
        """The whole state as JSON."""
        return encode_state(self._run.state)

    @property
    def is_over(self) -> bool:
        """Whether the run has completed, failed for good or been stopped."""
        return self._run.state.over

    @property
    def calls_at_work(self) -> frozenset[str]:
        """The tool calls that run, or whose end is uncertain."""
        return calls_at_work(self._run.state)

    def phase(self, node_id: str) -> NodePhase:
        """Where a node or a subagent stands."""
        return self._node(node_id).phase

    def state_of(self, node_id: str) -> NodeState:
        """The state of a node or a subagent, to be read only."""
        return self._node(node_id)

    def allowed(self, node_id: str = "") -> Allowance:
        """What a node, or the whole run, may use up, with what a person has added since."""
        return spending.allowed(self._run, self._node(node_id) if node_id else None)

    def require_movable(self, node_id: str) -> None:
        """Check that a message would let the node go on: it waits, failed or was interrupted.

        Raises:
            UnknownNode: there is no such node.
            NodeNotActive: it has not begun, works or is done.
        """
        if self._node(node_id).phase not in WAITING:
            raise NodeNotActive(node_id)

    def feed(self, given: EngineInput) -> Step:
        """Take one input.

        Raises:
            IllegalInput: if the input cannot come in this state; a bug in whoever feeds it.
            InteractionError: if it is a person's wish that cannot be had; nothing was changed.
        """
        run = self._run
        state = run.state
        if state.over:
            return self._feed_after_end(given)
        if state.limits is not None:
            spending.pass_time(run, given.at, is_start=type(given) is Started)
        route = self._routes.get(type(given))
        if route is None:
            self._apply(self._node(given.node_id), given)  # type: ignore[union-attr]
        elif route(given) is False:
            return NOTHING
        if run.ended:
            settle_ended(run)
        if not run.busy and not state.over:
            self._settle()
        return Step(*run.take_step())

    def _feed_after_end(self, given: EngineInput) -> Step:
        if isinstance(given, ModelReplied | ToolsFinished | CallsInspected | TimerFired | Stopped):
            return NOTHING
        raise RunIsOver

    def _feed_reply(self, replied: ModelReplied) -> bool:
        """Apply a reply unless its call was cancelled meanwhile; whether it was applied."""
        node = self._node(replied.node_id)
        if replied.call < node.call:
            return False
        if replied.call > node.call:
            raise IllegalInput(self._misrouted(replied, node))
        self._apply(node, replied)
        return True

    def _feed_tool_results(self, finished: ToolsFinished) -> bool:
        """Apply results unless their batch was cancelled meanwhile; whether they were applied.

        What a cancelled batch had done before counts all the same.
        """
        node = self._node(finished.node_id)
        if node.turn is None or node.turn.batch_id != finished.batch_id:
            if 0 < batch_serial(finished.batch_id) <= node.batch:
                record_effects(self._run, node, finished.effects)
                return False
            raise IllegalInput(self._misrouted(finished, node))
        self._apply(node, finished)
        return True

    def _feed_inspections(self, inspected: CallsInspected) -> bool:
        """Apply an inspection unless it was cancelled meanwhile; whether it was applied."""
        node = self._node(inspected.node_id)
        if node.turn is None or node.turn.inspection_id != inspected.batch_id:
            if 0 < batch_serial(inspected.batch_id) <= node.batch:
                return False
            raise IllegalInput(self._misrouted(inspected, node))
        self._apply(node, inspected)
        return True

    def _feed_timer(self, fired: TimerFired) -> bool:
        """Apply a timer unless the node has moved on meanwhile; whether it was applied."""
        node = self._node(fired.node_id)
        if node.phase is not NodePhase.BACKOFF:
            return False
        self._apply(node, fired)
        return True

    def _misrouted(self, given: EngineInput, node: NodeState) -> str:
        expected = ", ".join(sorted(self._run.busy)) or "none"
        name = type(given).__name__
        return f"{name} for node '{node.id}', which is {node.phase.value}; at work: {expected}"

    def _apply(self, node: NodeState, given: EngineInput) -> None:
        transition = TABLE.get((node.phase, type(given)))
        if transition is None:
            raise IllegalInput(self._misrouted(given, node))
        transition.action(self._run, node, given)

    def _node(self, node_id: str) -> NodeState:
        node = self._run.state.nodes.get(node_id)
        if node is None:
            node = self._run.state.subagents.get(node_id)
            if node is None:
                raise UnknownNode(node_id)
        return node

    def _decide(self, decided: ToolDecided) -> None:
        node_id = self._run.approvals.get(decided.approval_id)
        if node_id is not None:
            self._apply(self._node(node_id), decided)
            return
        verdict = self._run.state.verdicts.get(decided.approval_id)
        if verdict is not None:
            raise AlreadyDecided(decided.approval_id, verdict)
        raise UnknownApproval(decided.approval_id)

    def _settle_uncertain(self, settled: UncertainSettled) -> None:
        self._apply(actor_of_uncertain(self._run, settled.call_id), settled)

    def _edit_message(self, edited: MessageEdited) -> None:
        interactions.edit_message(self._run, edited)

    def _withdraw_message(self, withdrawn: MessageWithdrawn) -> None:
        interactions.withdraw_message(self._run, withdrawn)

    def _start(self, started: Started) -> None:
        run, state = self._run, self._run.state
        if self._live:
            raise IllegalInput("Started for a run that is under way")
        if started.message is not None:
            self.require_movable(started.message.node_id)
        self._live = True
        if not state.started:
            state.started = True
            spending.begin(run, started)
            text = state.entrypoint.text
            if text.strip():
                for facts in run.facts.values():
                    if not facts.parents:
                        run.events.append(ChatMessage(facts.id, "user", text))
        else:
            recover(run, started)
        start_ready_nodes(run)

    def _stop(self, stopped: Stopped) -> None:
        interactions.stop_run(self._run)

    def _settle(self) -> None:
        """Nothing moves by itself: the run is complete, or a person is needed."""
        if self._run.remaining == 0:
            complete_run(self._run)
        elif self._run.waiting:
            self._run.effects.append(Finish(self.waiting()))

    def waiting(self) -> NeedsInteraction:
        """Everything that waits for a person right now, interrupted nodes before failed ones."""
        run = self._run
        inputs, approvals, interrupted, failed, uncertain = [], [], [], [], []
        for node_id in sorted(run.waiting):
            node, facts = self._node(node_id), run.facts[node_id]
            if node.phase is NodePhase.AWAITING_INPUT:
                inputs.append(interactions.pending_input(run, node))
            elif node.phase is NodePhase.INTERRUPTED:
                text = "interrupted by the user"
                interrupted.append(Retryable(node_id, facts.label, text, interrupted=True))
            elif node.phase is NodePhase.FAILED:
                failed.append(Retryable(node_id, facts.label, node.error))
            elif node.turn is not None:
                approvals += [
                    pending_approval(run, node, call)
                    for call in node.turn.calls
                    if call.approval_id and call.approval_id in run.approvals
                ]
                uncertain += [
                    uncertain_call(run, node, call)
                    for call in node.turn.calls
                    if call.phase is CallPhase.UNCERTAIN
                ]
        retryables = tuple(interrupted + failed)
        asked = spending.asked_once(inputs)
        return NeedsInteraction(asked, tuple(approvals), retryables, tuple(uncertain))

    def start(self, at: float) -> Step:
        """Begin, or go on after `restore`."""
        return self.feed(Started(at))

    def on_ai_complete(
        self, node_id: str, call: int, reply: TurnOutcome | CallFailure, at: float
    ) -> Step:
        """A model call has ended."""
        return self.feed(ModelReplied(node_id, call, reply, at))

    def on_tool_results(
        self,
        node_id: str,
        batch_id: str,
        results: tuple[ToolResult, ...],
        at: float,
        effects: ToolEffects = NO_EFFECTS,
    ) -> Step:
        """A tool batch has ended."""
        return self.feed(ToolsFinished(node_id, batch_id, results, at, effects))

    def on_human_input(
        self,
        node_id: str,
        text: str,
        at: float,
        *,
        attachments: tuple[Attachment, ...] = (),
        pause_id: str = "",
    ) -> Step:
        """A person answers a waiting node."""
        return self.feed(HumanAnswered(node_id, text, at, attachments, pause_id))

    def on_calls_inspected(
        self, node_id: str, batch_id: str, inspections: tuple[CallInspection, ...], at: float
    ) -> Step:
        """It is known what the calls would touch that a person is to be asked about."""
        return self.feed(CallsInspected(node_id, batch_id, inspections, at))

    def on_tool_decision(
        self,
        approval_id: str,
        allow: bool,
        at: float,
        *,
        reason: str | None = None,
        for_run: bool = False,
    ) -> Step:
        """A person decides about a call, and perhaps about equal ones in this run."""
        return self.feed(ToolDecided(approval_id, allow, at, reason, for_run))

    def retry_node(self, node_id: str, at: float, *, message: str | None = None) -> Step:
        """A person retries a failed or interrupted node."""
        return self.feed(RetryAsked(node_id, at, message))

    def mark_node_interrupted(self, node_id: str, at: float) -> Step:
        """A person interrupts a node at work."""
        return self.feed(NodeInterruptAsked(node_id, at))
