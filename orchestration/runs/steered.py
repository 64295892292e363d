"""What can be steered in a run under way, as it stands: queued messages, settings, limits."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from engine.graph.workflow import Workflow
from engine.run.interactive_engine import InteractiveEngine
from engine.vocabulary.errors import UnknownNode
from engine.vocabulary.tools import ApprovalMode


class QueuedWord(Struct, frozen=True):
    """A message that a node has not got yet; `message_id` is for editing or taking it back."""

    message_id: str
    node_id: str
    text: str


class NodeSettings(Struct, frozen=True):
    """What counts at the node's next model call; `None` where it is left to the model.

    `changed` names the fields that are other than in the workflow.
    """

    model: str
    approval_mode: ApprovalMode
    provider_id: str | None = None
    reasoning_effort: str | None = None
    reasoning_budget_tokens: int | None = None
    changed: frozenset[str] = frozenset()


def queued_messages(engine: InteractiveEngine, workflow: Workflow) -> tuple[QueuedWord, ...]:
    """Everything that waits for a model call, node by node, oldest first."""
    return tuple(
        QueuedWord(queued.message_id, node.id, queued.text)
        for node in workflow.nodes
        for queued in engine.state_of(node.id).queued or ()
    )


def settings_of(engine: InteractiveEngine, workflow: Workflow, node_id: str) -> NodeSettings:
    """The settings of a node of a prepared workflow, with what was changed in mid-run.

    Raises:
        UnknownNode: the workflow has no agent with this id.
    """
    node = next((each for each in workflow.nodes if each.id == node_id), None)
    if node is None or node.agent is None:
        raise UnknownNode(node_id)
    agent, common = node.agent, workflow.settings
    effort = agent.reasoning_effort or common.reasoning_effort
    budget = agent.reasoning_budget_tokens or common.reasoning_budget_tokens
    mode = agent.tools.effective().approval_mode
    at_first = NodeSettings(
        agent.model, mode, agent.provider_id or common.provider_id or None, effort, budget
    )
    patch = engine.state_of(node_id).patch
    if patch is None:
        return at_first
    if patch.clear_reasoning:
        effort = budget = None
    now = NodeSettings(
        patch.model or at_first.model,
        patch.approval_mode or mode,
        at_first.provider_id,
        patch.reasoning_effort or effort,
        patch.reasoning_budget_tokens or budget,
    )
    names = ("model", "approval_mode", "reasoning_effort", "reasoning_budget_tokens")
    changed = frozenset(name for name in names if getattr(now, name) != getattr(at_first, name))
    return msgspec.structs.replace(now, changed=changed)
