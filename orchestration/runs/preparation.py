"""Make a run ready, or say everything at once that stands in its way."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from engine.graph.agents import CallableAgent
from engine.graph.node_config import AgentNodeConfig, McpContextSnapshot
from engine.graph.problems import Problem
from engine.graph.validation import validate
from engine.graph.workflow import Node, Workflow
from engine.vocabulary.ports import ToolCatalog
from engine.vocabulary.tools import SEAL_PLAN_TOOL, ApprovalMode
from orchestration.errors import RunRefused, UserError
from orchestration.example_files import put_example_files
from orchestration.runs.callable_agents import agent_problems, frozen_agents, missing_agents
from orchestration.runs.invoked_skills import (
    agents_with_skills,
    skill_problems,
    skills_at_hand,
    workflow_with_skills,
)
from orchestration.runs.requests import RunOverrides, RunRequest
from orchestration.settings.agent_store import AgentStore
from orchestration.settings.data_folder import agents_file, managed_folder, runs_folder
from orchestration.settings.model import Settings
from orchestration.settings.provider_choice import Choice, Choices, choose
from orchestration.settings.quirk_store import QuirkStore
from orchestration.settings.readiness import EmbeddedModel, Providers
from orchestration.settings.secrets import SecretStore
from providers.config import DEFAULT_TIMEOUT_S, ProviderConfig, configured
from providers.specs import EMBEDDED, Wire


class PreparedRun(Struct, frozen=True):
    """Everything that a run is started with.

    Attributes:
        workflow: each agent node names its provider, its model and its reasoning effort.
        connections: how each provider is reached that a node needs, by its id.
        nodes_without_tools: nodes whose model cannot call executable tools.
        cwd: the execution folder; it exists.
        notices: sentences that the person must see.
        agents: the saved agents that nodes may call, by id, as they were when it was prepared.
    """

    workflow: Workflow
    connections: Mapping[str, ProviderConfig]
    nodes_without_tools: frozenset[str]
    cwd: Path
    notices: tuple[str, ...]
    agents: Mapping[str, CallableAgent]


def problems(
    workflow: Workflow,
    overrides: RunOverrides,
    *,
    settings: Settings,
    env: Mapping[str, str],
    registry: ToolCatalog,
    embedded: EmbeddedModel,
    cwd: Path | None = None,
    agents: Iterable[CallableAgent] = (),
) -> tuple[Problem, ...]:
    """List everything that would keep the workflow from being run, each with its place.

    `agents` are the saved ones.
    """
    choices = choose(workflow, overrides, Providers(settings, env, embedded))
    frozen = frozen_agents(workflow, agents, overrides)
    return tuple(_problems(workflow, choices, registry, frozen, cwd))


def prepare(
    request: RunRequest,
    *,
    settings: Settings,
    secrets: SecretStore,
    env: Mapping[str, str],
    registry: ToolCatalog,
    data_dir: Path,
    embedded: EmbeddedModel,
    quirks: QuirkStore | None = None,
) -> PreparedRun:
    """Resolve who answers each node, with which key, and where tools work.

    It may wait for the keyring and touches the disk: call it in a thread.

    Raises:
        RunRefused: with every problem at once; nothing was made or stored.
    """
    providers = Providers(settings, env, embedded)
    workflow = request.workflow
    choices = choose(workflow, request.overrides, providers)
    saved = AgentStore(agents_file(data_dir)).load()
    agents = frozen_agents(workflow, saved.agents, request.overrides)
    skills = skills_at_hand(workflow, agents, env, data_dir, request.cwd)
    found = list(_problems(workflow, choices, registry, agents, request.cwd))
    found += skill_problems(workflow, agents, skills)
    connections: dict[str, ProviderConfig] = {}
    for provider_id in choices.provider_ids:
        connection = _connection(provider_id, request.overrides, providers, secrets, quirks)
        if isinstance(connection, ProviderConfig):
            connections[provider_id] = connection
        else:
            users = [c.node_id for c in choices.choices if c.provider_id == provider_id]
            found.extend(
                Problem(
                    "missing_key", f"node '{node_id}' cannot be answered: {connection}", node_id
                )
                for node_id in users
            )
    if found:
        raise RunRefused(found)
    _ensure_runs_can_be_stored(data_dir)
    resolved = _resolved(
        workflow, request.overrides, choices.choices, providers, settings.approval_mode
    )
    return PreparedRun(
        workflow=workflow_with_skills(resolved, skills),
        connections=connections,
        nodes_without_tools=frozenset(
            choice.node_id
            for choice in choices.choices
            if not connections[choice.provider_id].spec.offers_tools
        ),
        cwd=_execution_folder(request, data_dir),
        notices=(*_notices(workflow, request.overrides, choices, agents), *saved.notices),
        agents=agents_with_skills(agents, skills) if skills else agents,
    )


def connection_to(
    provider_id: str,
    *,
    settings: Settings,
    secrets: SecretStore,
    env: Mapping[str, str],
    embedded: EmbeddedModel,
    quirks: QuirkStore | None = None,
) -> ProviderConfig:
    """How one provider is reached, outside of any run; may wait for the keyring.

    Raises:
        UserError: there is no such provider, or it lacks something.
    """
    providers = Providers(settings, env, embedded)
    spec = providers.spec(provider_id)
    if spec is None:
        known = ", ".join(each.id for each in providers.specs())
        raise UserError(f"there is no provider '{provider_id}'; use one of {known}")
    if trouble := providers.trouble(spec):
        raise UserError(f"{spec.label} cannot be used: {trouble}")
    connection = _connection(provider_id, RunOverrides(), providers, secrets, quirks)
    if isinstance(connection, str):
        raise UserError(connection)
    return connection


def _problems(
    workflow: Workflow,
    choices: Choices,
    registry: ToolCatalog,
    agents: Mapping[str, CallableAgent],
    cwd: Path | None,
) -> Iterator[Problem]:
    yield from validate(workflow)
    yield from agent_problems(workflow, agents)
    yield from choices.problems
    plan_mode = workflow.settings.plan_mode
    if plan_mode is not None and registry.definition(SEAL_PLAN_TOOL) is None:
        yield Problem(
            "plan_mode_not_available",
            f"plan mode (node '{plan_mode.evidence_source_node_id}') needs tools that this version "
            "does not have: switch it off in the workflow's settings",
            plan_mode.evidence_source_node_id,
            field="plan_mode",
        )
    if cwd is not None and _existing_folder(cwd) is None:
        yield _no_folder(cwd)


def _connection(
    provider_id: str,
    overrides: RunOverrides,
    providers: Providers,
    secrets: SecretStore,
    quirks: QuirkStore | None,
) -> ProviderConfig | str:
    """How the provider is reached, or why it cannot be, in a sentence."""
    spec, profile = providers.spec(provider_id), providers.profile(provider_id)
    assert spec is not None
    key = None
    if profile.key_ref is not None:
        try:
            key = secrets.get(profile.key_ref)
        except UserError as error:
            if providers.key_from_environment(spec) is None:
                return str(error)
    key = key or providers.key_from_environment(spec)
    if key is None and spec.auth.required:
        return f"the stored key of {spec.label} is gone: store it anew or set {spec.auth.env_var}"
    wire = overrides.wire or profile.wire
    model_wires = {} if overrides.wire else profile.model_wires
    base_url = overrides.base_url or profile.base_url or spec.base_url
    return configured(
        spec,
        base_url=base_url,
        wire=Wire(wire) if wire else None,
        api_key=key,
        default_model=profile.default_model,
        model_wires={model: Wire(name) for model, name in model_wires.items()},
        timeout_s=profile.timeout_s or DEFAULT_TIMEOUT_S,
        quirks=quirks.of(base_url or spec.id) if quirks is not None else None,
    )


def _resolved(
    workflow: Workflow,
    overrides: RunOverrides,
    choices: Iterable[Choice],
    providers: Providers,
    approval_mode: ApprovalMode,
) -> Workflow:
    by_node = {choice.node_id: choice for choice in choices}
    nodes = tuple(
        _resolved_node(node, by_node[node.id], workflow, providers, approval_mode)
        if node.agent is not None
        else node
        for node in workflow.nodes
    )
    changes: dict[str, object] = {"nodes": nodes}
    if overrides.provider or overrides.base_url or overrides.model:
        # The repair model was chosen for another provider; the nodes' own model repairs instead.
        changes["settings"] = workflow.settings.model_copy(update={"output_repair_model": None})
    return workflow.model_copy(update=changes)


def _resolved_node(
    node: Node,
    choice: Choice,
    workflow: Workflow,
    providers: Providers,
    approval_mode: ApprovalMode,
) -> Node:
    agent = node.agent
    assert agent is not None
    settings, profile = workflow.settings, providers.profile(choice.provider_id)
    changes: dict[str, object] = {
        "model": choice.model,
        "provider_id": choice.provider_id,
        "reasoning_effort": (
            agent.reasoning_effort or settings.reasoning_effort or profile.reasoning_effort
        ),
        "mcp_context_snapshots": tuple(_snapshots(agent)),
    }
    if agent.tools.approval_mode is None and approval_mode is not ApprovalMode.WRITE:
        changes["tools"] = agent.tools.model_copy(update={"approval_mode": approval_mode})
    return node.model_copy(update={"agent": agent.model_copy(update=changes)})


def _snapshots(agent: AgentNodeConfig) -> Iterator[McpContextSnapshot]:
    """What the node's MCP selections come to: no server is connected, and each says so."""
    for resource in agent.mcp_resources:
        yield _missing_snapshot("resource", resource.server_id, resource.uri)
    for prompt in agent.mcp_prompts:
        yield _missing_snapshot("prompt", prompt.server_id, prompt.name)


def _missing_snapshot(kind: str, server_id: str, source: str) -> McpContextSnapshot:
    return McpContextSnapshot.model_validate(
        {
            "kind": kind,
            "server_id": server_id,
            "source": source,
            "original_size_bytes": 0,
            "included_size_bytes": 0,
            "truncated": False,
            "error": f"the MCP server '{server_id}' is not connected",
        }
    )


def _execution_folder(request: RunRequest, data_dir: Path) -> Path:
    if request.cwd is not None:
        chosen = _existing_folder(request.cwd)
        if chosen is None:
            raise RunRefused([_no_folder(request.cwd)])
        return chosen
    folder = managed_folder(data_dir, request.workflow.id)
    is_new = not folder.exists()
    why = _not_writable(folder)
    if why is None and is_new:
        why = _without_example_files(request.workflow.id, folder)
    if why is not None:
        raise RunRefused(
            [
                Problem(
                    "bad_cwd",
                    f"the execution folder {folder} cannot be used ({why}): choose one with --cwd, "
                    "or another data folder with --data-dir",
                )
            ]
        )
    return folder.resolve()


def _without_example_files(workflow_id: str, folder: Path) -> str | None:
    """Copy what an example works on; give a reason if it cannot be copied."""
    try:
        put_example_files(workflow_id, folder)
    except OSError as error:
        return error.strerror or str(error)
    return None


def _existing_folder(path: Path) -> Path | None:
    """The folder by its real path; `None` if there is none that can be entered."""
    try:
        folder = path.expanduser().resolve()
    except (OSError, RuntimeError, ValueError):  # no such user, a circle of links, a NUL
        return None
    return folder if os.path.isdir(folder) else None


def _no_folder(path: Path) -> Problem:
    return Problem(
        "bad_cwd", f"the execution folder {path} is not a folder: create it or choose another"
    )


def _ensure_runs_can_be_stored(data_dir: Path) -> None:
    folder = runs_folder(data_dir)
    if why := _not_writable(folder):
        raise RunRefused(
            [
                Problem(
                    "bad_data_folder",
                    f"nothing can be stored in {folder} ({why}): put that right "
                    "or choose another data folder with --data-dir",
                )
            ]
        )


def _not_writable(folder: Path) -> str | None:
    """Make the folder; give a reason if it cannot be made or written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return error.strerror or str(error)
    return None if os.access(folder, os.W_OK | os.X_OK) else "it cannot be written"


def _notices(
    workflow: Workflow,
    overrides: RunOverrides,
    choices: Choices,
    agents: Mapping[str, CallableAgent],
) -> Iterator[str]:
    demo = [choice.node_id for choice in choices.choices if choice.provider_id == EMBEDDED]
    if demo:
        forced = (overrides.provider or "").strip() == EMBEDDED or len(demo) == len(choices.choices)
        who = "every node" if forced else "the nodes " + ", ".join(f"'{node}'" for node in demo)
        yield (
            f"demo model: the embedded model answers for {who}; "
            "it runs on your computer and makes things up"
        )
    for node in workflow.nodes:
        agent = node.agent
        if agent is None:
            continue
        if agent.mcp_resources or agent.mcp_prompts:
            yield f"node '{node.id}' selects MCP context, and no MCP server is connected"
    yield from missing_agents(workflow, agents)
