"""What every transition works on: the graph's facts, the state, and what the step gives out."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from engine.graph.handoff import submission_schema
from engine.graph.layers import ancestors, parents_by_node
from engine.graph.node_config import AgentNodeConfig
from engine.graph.workflow import Node, Workflow
from engine.run.context_assembly import ContextAssembler
from engine.run.state import CallPhase, NodePhase, NodeState, RunState
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
    ToolConfig,
    ToolDefinition,
)

BUSY = frozenset({NodePhase.CALLING, NodePhase.BACKOFF})
WAITING = frozenset({NodePhase.AWAITING_INPUT, NodePhase.FAILED, NodePhase.INTERRUPTED})


class NodeFacts(Struct, frozen=True, gc=False):
    """What the workflow says about a node; the same for the whole run."""

    id: str
    label: str
    node: Node
    agent: AgentNodeConfig
    submission_schema: JsonObject
    tool_config: ToolConfig
    parents: tuple[str, ...]
    children: tuple[str, ...]


class RunContext:
    """The workflow, the state and the collectors of one step.

    `busy` and `waiting` are derived from the state: nodes that move by themselves, and nodes
    that a person can move. `outputs` and the three maps beside it are what nodes hand to their
    descendants.
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
        self._inputs: dict[str, JsonObject] = {}
        self._ancestors: dict[str, tuple[str, ...]] = {}
        self._named_tools: tuple[ToolDefinition, ...] = ()
        self._tool_names: tuple[str, ...] = ()
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
        if turn.batch_id:
            self.busy.add(node_id)
        else:
            self.busy.discard(node_id)
        if any(call.phase is CallPhase.UNDECIDED for call in turn.calls):
            self.waiting[node_id] = None
        elif node_id in self.waiting:
            del self.waiting[node_id]

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
        """The model that the node runs on now."""
        patch = node.patch
        if patch is None or not patch.model:
            return self.facts[node.id].agent.model
        return patch.model

    def approval_mode(self, node: NodeState, facts: NodeFacts) -> ApprovalMode:
        """The node's approval mode as it is now."""
        patch = node.patch
        if patch is None or patch.approval_mode is None:
            return facts.tool_config.approval_mode
        return patch.approval_mode


def facts_of(workflow: Workflow, parents: Mapping[str, tuple[str, ...]]) -> dict[str, NodeFacts]:
    """The agent nodes of a workflow in id order with their parents and children, both sorted."""
    children: dict[str, list[str]] = {node_id: [] for node_id in parents}
    for node_id in sorted(parents):
        for parent in parents[node_id]:
            children[parent].append(node_id)
    default_config = ToolConfig()
    facts: dict[str, NodeFacts] = {}
    for node in sorted(workflow.nodes, key=lambda node: node.id):
        agent = node.agent
        if agent is None:
            raise ValueError(f"node '{node.id}' has no agent and cannot run")
        config = agent.tools.effective()
        facts[node.id] = NodeFacts(
            node.id,
            node.label,
            node,
            agent,
            submission_schema(agent),
            default_config if config == default_config else config,
            parents[node.id],
            tuple(children[node.id]),
        )
    return facts
