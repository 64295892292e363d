"""What every transition works on: the graph's facts, the state, and what the step gives out."""

from __future__ import annotations

from collections.abc import Mapping

from engine.graph.agents import CallableAgent
from engine.graph.layers import ancestors, parents_by_node
from engine.graph.workflow import Workflow
from engine.run.actors import NodeFacts, facts_of, stricter, subagent_facts
from engine.run.context_assembly import ContextAssembler
from engine.run.context_fit import ContextKeeper
from engine.run.state import CallPhase, NodePhase, NodeState, RunState
from engine.run.subagent_tools import DEFINITIONS, offer
from engine.vocabulary.effects import Effect
from engine.vocabulary.events import RunEvent
from engine.vocabulary.messages import HandoffArtifact
from engine.vocabulary.ports import Entropy, ToolCatalog
from engine.vocabulary.tools import (
    ApprovalMode,
    FileChangeRecord,
    JsonObject,
    ReadRecord,
    ToolAccessPolicy,
    ToolDefinition,
)

BUSY = frozenset({NodePhase.CALLING, NodePhase.BACKOFF})
WAITING = frozenset({NodePhase.AWAITING_INPUT, NodePhase.FAILED, NodePhase.INTERRUPTED})


_Offer = tuple[tuple[ToolDefinition, ...], int, tuple[ToolDefinition, ...]]
"""What the host offers, how many subagents are listed, and everything together."""


class RunContext:
    """The workflow, the state and the collectors of one step.

    `facts` has every actor: the nodes, and the subagents that work or have worked. `busy` and
    `waiting` are derived from the state: actors that move by themselves, and actors that a person
    can move. `outputs` and the three maps beside it are what nodes hand to their descendants.
    `ended` collects subagents whose callers have not been told yet.
    """

    def __init__(
        self,
        workflow: Workflow,
        state: RunState,
        *,
        entropy: Entropy,
        catalog: ToolCatalog,
        project_root: str | None,
    ) -> None:
        self.workflow = workflow
        self.state = state
        self.catalog = catalog
        self.project_root = project_root
        self._parents = parents_by_node(workflow)
        self.assembler = ContextAssembler(
            workflow, project_root=project_root, parents=self._parents
        )
        self.facts = facts_of(workflow, self._parents)
        self.agents = {
            agent_id: CallableAgent.model_validate(document)
            for agent_id, document in state.agents.items()
        }
        self.keeper = ContextKeeper()
        self._entropy = entropy
        self.effects: list[Effect] = []
        self.events: list[RunEvent] = []
        self.busy: set[str] = set()
        self.waiting: dict[str, None] = {}
        self.open_parents: dict[str, int] = {}
        self.remaining = 0
        self.outputs: dict[str, object] = {}
        self.handoffs: dict[str, HandoffArtifact] = {}
        self.changed_files: dict[str, list[FileChangeRecord]] = {}
        self.reads: dict[str, Mapping[str, ReadRecord]] = {}
        self.approvals: dict[str, str] = {}
        self.messages: dict[str, str] = {}
        self.ended: list[NodeState] = []
        self._inputs: dict[str, JsonObject] = {}
        self._ancestors: dict[str, tuple[str, ...]] = {}
        self._named_tools: tuple[ToolDefinition, ...] = ()
        self._tool_names: tuple[str, ...] = ()
        self._without_listing: _Offer = ((), 0, ())
        self._with_listing: dict[str, _Offer] = {}
        self._derive()

    def _derive(self) -> None:
        nodes = self.state.nodes
        done = {node.id for node in nodes.values() if node.phase is NodePhase.DONE}
        self.remaining = len(self.facts) - len(done)
        for node_id, facts in self.facts.items():
            parents = facts.parents
            self.open_parents[node_id] = (
                sum(parent not in done for parent in parents) if done else len(parents)
            )
        if self.state.started:
            for node in nodes.values():
                self._derive_from(node)
        for actor in self.state.subagents.values():
            self.add_subagent(actor)
            if actor.phase is not NodePhase.DONE:
                self._derive_from(actor)

    def _derive_from(self, node: NodeState) -> None:
        """Take over what a node has handed out, what it is asked and what it asks."""
        if node.phase is NodePhase.DONE:
            self.outputs[node.id] = node.output
            if node.handoff is not None:
                self.handoffs[node.id] = node.handoff
        if node.changed_files:
            self.changed_files[node.id] = node.changed_files
        if node.reads:
            self.reads[node.id] = node.reads
        for message in node.queued or ():
            self.messages[message.message_id] = node.id
        for turn_call in node.turn.calls if node.turn is not None else ():
            if turn_call.phase is CallPhase.UNDECIDED:
                self.approvals[turn_call.approval_id] = node.id
        self.enter(node, node.phase)

    def take_step(self) -> tuple[tuple[Effect, ...], tuple[RunEvent, ...]]:
        """Hand out what was collected and begin anew."""
        effects, events = tuple(self.effects), tuple(self.events)
        self.effects, self.events = [], []
        return effects, events

    def identifier(self) -> str:
        """A new id of this run."""
        self.state.serial += 1
        return self._entropy.identifier(self.state.serial)

    def fraction(self) -> float:
        """A new number in [0, 1)."""
        self.state.serial += 1
        return self._entropy.fraction(self.state.serial)

    def enter(self, node: NodeState, phase: NodePhase) -> None:
        """Put the node into a phase and keep the derived sets true."""
        node.phase = phase
        if phase is NodePhase.TOOLS:
            self.note_turn(node)
            return
        node_id = node.id
        if phase in BUSY:
            self.busy.add(node_id)
        else:
            self.busy.discard(node_id)
        if phase in WAITING:
            self.waiting[node_id] = None
        elif node_id in self.waiting:
            del self.waiting[node_id]

    def note_turn(self, node: NodeState) -> None:
        """Sort a node in a tool turn into `busy` and `waiting` by the calls of the turn."""
        turn, node_id = node.turn, node.id
        if turn is None:
            return
        if turn.batch_id or turn.inspection_id:
            self.busy.add(node_id)
        else:
            self.busy.discard(node_id)
        undecided, uncertain = CallPhase.UNDECIDED, CallPhase.UNCERTAIN
        for call in turn.calls:
            if call.phase is undecided or call.phase is uncertain:
                self.waiting[node_id] = None
                return
        self.waiting.pop(node_id, None)

    def input_of(self, node_id: str, tools: tuple[ToolDefinition, ...]) -> JsonObject:
        """What the node is given; kept while it is at work, since its ancestors are done."""
        known = self._inputs.get(node_id)
        if known is None:
            plan = self.state.plan
            known = self._inputs[node_id] = self.assembler.input(
                node_id,
                outputs=self.outputs,
                handoffs=self.handoffs,
                changed_files=self.changed_files,
                reads=self.reads,
                entrypoint=self.state.entrypoint,
                evidence_packet=None if plan is None else plan.packet,
                opens_documents=bool(tools),
            )
        return known

    def forget_input(self, node_id: str | None = None) -> None:
        """Build the node's input anew, or that of all nodes, when it is asked for again."""
        if node_id is None:
            self._inputs.clear()
        else:
            self._inputs.pop(node_id, None)

    def ancestors(self, node_id: str) -> tuple[str, ...]:
        """All nodes that come before the node, sorted."""
        known = self._ancestors.get(node_id)
        if known is None:
            known = self._ancestors[node_id] = ancestors(node_id, self._parents)
        return known

    def tool_names(self, tools: tuple[ToolDefinition, ...]) -> tuple[str, ...]:
        """The names of the tools; equal tools in a row, the common case, are named once."""
        if tools is not self._named_tools:
            self._named_tools, self._tool_names = tools, tuple([tool.name for tool in tools])
        return self._tool_names

    def actor(self, actor_id: str) -> NodeState | None:
        """The state of a node, or of a subagent that works or has worked."""
        return self.state.nodes.get(actor_id) or self.state.subagents.get(actor_id)

    def add_subagent(self, actor: NodeState) -> None:
        """Work out what is fixed about a subagent from what it was called for."""
        delegation = actor.delegation
        assert delegation is not None
        subagents = self.state.nodes[delegation.node_id].subagents
        assert subagents is not None
        subagent = subagents[delegation.subagent_id]
        saved = self.agents[subagent.id] if subagent.is_saved else None
        caller = self.facts[delegation.node_id]
        self.facts[actor.id] = subagent_facts(caller, subagent, saved, delegation)

    def offered(
        self, node: NodeState, facts: NodeFacts, policy: ToolAccessPolicy
    ) -> tuple[ToolDefinition, ...]:
        """The tools that an actor is offered under `policy`: the host's, then the engine's own.

        A node that is offered none at all has a model that cannot call any.
        """
        mode = self.approval_mode(node, facts)
        tools = self.catalog.offered(facts.caller_id or node.id, mode, policy)
        if (
            not tools
            or facts.caller_id is not None
            or mode is ApprovalMode.READ_ONLY
            or policy is ToolAccessPolicy.PLANNING
        ):
            return tools
        subagents = node.subagents
        if subagents is None:
            if tools is not self._without_listing[0]:
                self._without_listing = (tools, 0, tools + offer(()))
            return self._without_listing[2]
        kept = self._with_listing.get(node.id)
        if kept is None or kept[0] is not tools or kept[1] != len(subagents):
            kept = (tools, len(subagents), tools + offer(subagents.values()))
            self._with_listing[node.id] = kept
        return kept[2]

    def definition(self, name: str, facts: NodeFacts) -> ToolDefinition | None:
        """A tool that the actor may name, offered or not; `None` if there is none."""
        if facts.caller_id is None and name in DEFINITIONS:
            return DEFINITIONS[name]
        return self.catalog.definition(name)

    def is_plan_source(self, node_id: str) -> bool:
        """Whether the node drafts and seals the plan, and the plan is not frozen yet."""
        plan = self.state.plan
        return plan is not None and plan.packet is None and plan.source_node_id == node_id

    @property
    def policy(self) -> ToolAccessPolicy:
        """The phase of plan mode, as tools see it."""
        plan = self.state.plan
        if plan is None or plan.packet is not None:
            return ToolAccessPolicy.EXECUTION
        return ToolAccessPolicy.PLANNING

    def is_interactive(self, facts: NodeFacts) -> bool:
        """Whether the node may ask a person."""
        return facts.agent.request_user_input or self.is_plan_source(facts.id)

    def model_of(self, node: NodeState) -> str:
        """The model that the actor runs on now; a subagent without one has its caller's."""
        patch = node.patch
        if patch is not None and patch.model:
            return patch.model
        model = self.facts[node.id].agent.model
        if not model and node.delegation is not None:
            return self.model_of(self.state.nodes[node.delegation.node_id])
        return model

    def approval_mode(self, node: NodeState, facts: NodeFacts) -> ApprovalMode:
        """The actor's approval mode as it is now; a subagent's is never laxer than its caller's."""
        patch = node.patch
        if patch is None or patch.approval_mode is None:
            mode = facts.tool_config.approval_mode
        else:
            mode = patch.approval_mode
        if facts.caller_id is None:
            return mode
        caller = self.state.nodes[facts.caller_id]
        return stricter(mode, self.approval_mode(caller, self.facts[caller.id]))
