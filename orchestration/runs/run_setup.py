"""What a run is made from, and the parts of it that follow from that alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from engine.graph.agents import CallableAgent
from engine.graph.node_config import MarkdownHandoff
from engine.graph.workflow import Workflow
from engine.vocabulary.events import RunEvent
from engine.vocabulary.ports import ModelPort, ToolCatalog
from engine.vocabulary.spending import SpendingLimits
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.handoffs import HandoffStore
from orchestration.runs.hosted_tools import HostedTools
from orchestration.runs.invocation import Price
from orchestration.runs.journal import Journal
from orchestration.runs.limits import Budget
from orchestration.runs.run_view import RunView


class RunTelling(Struct, frozen=True):
    """What the tool port of a run gets from the run: where it tells, records and reads."""

    emit: Callable[[RunEvent], None]
    journal: Journal
    read_handoff: Callable[[str, str], str | None]


class RunSetup(Struct, frozen=True, kw_only=True):
    """Everything that one run is made from.

    `workflow` is prepared: every node names its model and provider. `make_tools` makes the run's
    tool port. `agents` are the saved agents that it takes along, by id. `folder` is the run's own,
    for handoff documents; without one they stay in memory.
    `project_root` is the execution folder where the person chose it. `notices` are told first.
    """

    run_id: str
    workflow: Workflow
    models: ModelPort
    catalog: ToolCatalog
    make_tools: Callable[[RunTelling], HostedTools]
    budget: Budget
    text: str = ""
    folder: Path | None = None
    project_root: str | None = None
    notices: tuple[str, ...] = ()
    agents: Mapping[str, CallableAgent] = MappingProxyType({})
    on_event: Callable[[EventRecord], None] | None = None
    context_window: Callable[[str], int | None] | None = None
    limits: SpendingLimits | None = None
    price: Price | None = None
    seed: bytes | None = None
    clock: Callable[[], float] = time.time


def new_view(setup: RunSetup) -> RunView:
    """The projection of a run of which nothing was told."""
    plan_mode = setup.workflow.settings.plan_mode
    return RunView(
        setup.run_id,
        setup.workflow.id,
        {node.id: node.label for node in setup.workflow.nodes},
        plan_source=plan_mode.evidence_source_node_id if plan_mode is not None else None,
    )


def new_handoffs(setup: RunSetup) -> HandoffStore:
    """Where the run's handoff documents go."""
    return HandoffStore(
        setup.folder / "handoffs" if setup.folder is not None else None,
        {
            node.id: node.agent.handoff.template
            for node in setup.workflow.nodes
            if node.agent is not None and isinstance(node.agent.handoff, MarkdownHandoff)
        },
    )
