"""Everything that a run is made from: prepared, with the tools and the folders of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct

from engine.graph.agents import CallableAgent
from engine.graph.workflow import Workflow
from engine.run.approval_policy import tier_of_call
from engine.vocabulary.spending import NO_LIMIT, Allowance
from engine.vocabulary.tools import ApprovalMode, ToolCall, ToolTier
from orchestration.errors import UserError
from orchestration.pricing import Prices
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.limits import Budget
from orchestration.runs.model_router import ModelRouter
from orchestration.runs.preparation import PreparedRun, prepare
from orchestration.runs.requests import RunRequest
from orchestration.runs.run_setup import RunSetup, RunTelling
from orchestration.runs.spending_limits import spending_limits
from orchestration.settings.context_windows import window_look_up
from orchestration.settings.data_folder import runs_folder, secrets_file
from orchestration.surroundings import Surroundings
from orchestration.tools.builtin.web_search import web_search_tool
from orchestration.tools.file_edits.file_memory import FileMemory
from orchestration.tools.registry import ToolRegistry
from orchestration.tools.runner import ToolRunner
from orchestration.tools.tool import Tool, services_in
from orchestration.workspace.paths import Workspace
from providers.config import ProviderConfig
from providers.specs import EMBEDDED


class ReadyRun(Struct, frozen=True, kw_only=True):
    """A run that can begin, with the tools of its own and what its person must see."""

    workflow: Workflow
    connections: Mapping[str, ProviderConfig]
    agents: Mapping[str, CallableAgent]
    nodes_without_tools: frozenset[str]
    workspace: Workspace
    tools: ToolRegistry
    project_root: str | None
    notices: tuple[str, ...]

    @property
    def may_write(self) -> bool:
        """Whether any node may change files."""
        return any(
            node.agent is not None
            and node.id not in self.nodes_without_tools
            and node.agent.tools.effective().approval_mode is not ApprovalMode.READ_ONLY
            for node in self.workflow.nodes
        )

    def is_reading(self, call: ToolCall) -> bool:
        """Whether a call changes nothing."""
        return tier_of_call(self.tools.definition(call.name), call) is ToolTier.READ


class RunMaker:
    """Makes runs ready and puts them together."""

    def __init__(self, surroundings: Surroundings, budget: Budget) -> None:
        self._all = surroundings
        self._budget = budget

    def ready(self, request: RunRequest) -> ReadyRun:
        """Prepare a new run; blocking.

        Raises:
            RunRefused: with every problem at once; nothing was made.
        """
        prepared = self._prepared(request)
        return self._with_tools(
            prepared.workflow,
            connections=prepared.connections,
            agents=prepared.agents,
            nodes_without_tools=prepared.nodes_without_tools,
            cwd=prepared.cwd,
            project_root=str(prepared.cwd) if request.cwd is not None else None,
            notices=(*prepared.notices, *self._unpriced(request, prepared)),
        )

    def _prepared(self, request: RunRequest) -> PreparedRun:
        return prepare(
            request,
            settings=self._all.settings,
            secrets=self._all.secrets,
            env=self._all.env,
            registry=self._all.tools,
            data_dir=self._all.data_dir,
            embedded=self._all.embedded,
            quirks=self._all.quirks,
        )

    def _unpriced(self, request: RunRequest, prepared: PreparedRun) -> Iterator[str]:
        """Say for which models a limit on money cannot hold."""
        settings = self._all.settings
        limits = spending_limits(settings.limits, request.allowance)
        if limits is None or limits.run.cost is limits.node.cost is None:
            return
        prices = Prices(settings, prepared.connections)
        agents = [node.agent for node in prepared.workflow.nodes if node.agent is not None]
        models = sorted({(agent.model, agent.provider_id) for agent in agents}, key=str)
        unknown = [name for name, provider in models if not prices.is_known(provider, name)]
        if unknown:
            yield (
                f"what calls of {', '.join(unknown)} cost is not known, so the limit on money does "
                "not count them: set their prices, or limit tokens or turns"
            )

    def ready_again(
        self,
        request: RunRequest,
        *,
        agents: Mapping[str, CallableAgent],
        nodes_without_tools: frozenset[str],
        project_root: str | None,
    ) -> ReadyRun:
        """Prepare a run of another day, with the workflow and the agents that it began with.

        Where the request names a provider, an address or a model, its nodes are answered by that.
        Blocking.

        Raises:
            RunRefused: nobody would answer it any more, or its folder is gone.
        """
        prepared = self._prepared(request)
        assert request.cwd is not None
        workflow, overrides = request.workflow, request.overrides
        if overrides.provider or overrides.base_url or overrides.model:
            workflow = _answered_as(workflow, prepared.workflow)
            agents = {name: each.model_copy(update={"model": ""}) for name, each in agents.items()}
        return self._with_tools(
            workflow,
            connections=prepared.connections,
            agents=agents,
            nodes_without_tools=nodes_without_tools,
            cwd=prepared.cwd,
            project_root=project_root,
            notices=(),
        )

    def setup(
        self,
        run_id: str,
        ready: ReadyRun,
        *,
        seed: bytes,
        text: str = "",
        allowance: Allowance = NO_LIMIT,
        notices: tuple[str, ...] = (),
        on_event: Callable[[EventRecord], None] | None = None,
        files: FileMemory | None = None,
    ) -> RunSetup:
        """What a coordinator is made from; `files` is what its nodes know from another day."""
        folder = runs_folder(self._all.data_dir) / run_id
        port = self._all.pool.port
        return RunSetup(
            run_id=run_id,
            workflow=ready.workflow,
            models=ModelRouter({name: port(to) for name, to in ready.connections.items()}),
            catalog=ready.tools,
            make_tools=partial(self._run_tools, ready, folder, files),
            agents=ready.agents,
            budget=self._budget,
            text=text,
            folder=folder,
            project_root=ready.project_root,
            notices=(*ready.notices, *notices),
            on_event=on_event,
            context_window=window_look_up(
                self._all.settings, [to.quirks for to in ready.connections.values()]
            ),
            limits=spending_limits(self._all.settings.limits, allowance),
            price=Prices(self._all.settings, ready.connections).cost,
            seed=seed,
        )

    def _with_tools(
        self,
        workflow: Workflow,
        *,
        connections: Mapping[str, ProviderConfig],
        agents: Mapping[str, CallableAgent],
        nodes_without_tools: frozenset[str],
        cwd: Path,
        project_root: str | None,
        notices: tuple[str, ...],
    ) -> ReadyRun:
        if any(provider_id != EMBEDDED for provider_id in connections):
            Prices(self._all.settings, connections).load()
        added = [Path(f) for f in self._all.settings.added_folders if os.path.isdir(f)]
        try:
            tools = self.tools_for(workflow, nodes_without_tools)
        except UserError as error:
            notices = (*notices, f"no node can search the web: {error}")
            tools = _tools_of(self._all.tools, workflow, nodes_without_tools)
        return ReadyRun(
            workflow=workflow,
            connections=connections,
            agents=agents,
            nodes_without_tools=nodes_without_tools,
            workspace=Workspace(cwd, added, [secrets_file(self._all.data_dir)]),
            tools=tools,
            project_root=project_root,
            notices=notices,
        )

    def tools_for(self, workflow: Workflow, nodes_without_tools: frozenset[str]) -> ToolRegistry:
        """The tools of a run of the workflow; may wait for the keyring.

        Raises:
            UserError: a key of theirs cannot be read.
        """
        web_search = self._web_search()
        tools = self._all.tools if web_search is None else self._all.tools.plus(web_search)
        return _tools_of(tools, workflow, nodes_without_tools)

    def _web_search(self) -> Tool | None:
        """The tool that needs keys, where there are any; may wait for the keyring."""
        settings, secrets = self._all.settings.tools, self._all.secrets
        keys = {name: secrets.get(key) or "" for name, key in settings.search_keys.items()}
        return web_search_tool(settings, keys)

    def _run_tools(
        self, ready: ReadyRun, folder: Path, files: FileMemory | None, telling: RunTelling
    ) -> ToolRunner:
        return ToolRunner(
            ready.tools,
            emit=telling.emit,
            journal=telling.journal,
            permits=self._budget.tools,
            services=services_in(
                folder, ready.workspace, self._all.settings.tools, telling.read_handoff, files
            ),
            retry_policy=ready.workflow.settings.retry_policy,
            plan_source=ready.tools.plan_source,
        )


def _tools_of(
    tools: ToolRegistry, workflow: Workflow, nodes_without_tools: frozenset[str]
) -> ToolRegistry:
    plan_mode = workflow.settings.plan_mode
    source = plan_mode.evidence_source_node_id if plan_mode is not None else None
    return tools.for_run(nodes_without_tools, source)


def _answered_as(workflow: Workflow, other: Workflow) -> Workflow:
    """The workflow with the providers and models that the same nodes have in another one."""
    agents = {node.id: node.agent for node in other.nodes}
    nodes = []
    for node in workflow.nodes:
        agent = agents[node.id]
        if node.agent is not None and agent is not None:
            update = {"model": agent.model, "provider_id": agent.provider_id}
            node = node.model_copy(update={"agent": node.agent.model_copy(update=update)})
        nodes.append(node)
    update = {"output_repair_model": other.settings.output_repair_model}
    settings = workflow.settings.model_copy(update=update)
    return workflow.model_copy(update={"nodes": tuple(nodes), "settings": settings})
