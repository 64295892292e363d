"""Decide for each node of a workflow which provider and which model answer it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from engine.graph.problems import Problem
from engine.graph.workflow import Node, Workflow
from orchestration.runs.requests import RunOverrides
from orchestration.settings.readiness import CUSTOM, TRY_EMBEDDED, Providers
from providers.address import problem_with_address
from providers.specs import EMBEDDED, ProviderSpec, Wire


class Choice(Struct, frozen=True):
    """Who answers one node."""

    node_id: str
    provider_id: str
    model: str


class Choices(Struct, frozen=True):
    """Who answers each agent node, and what stands in the way of it."""

    choices: tuple[Choice, ...]
    problems: tuple[Problem, ...]

    @property
    def provider_ids(self) -> tuple[str, ...]:
        """The providers that are needed, each once."""
        return tuple(dict.fromkeys(choice.provider_id for choice in self.choices))


def choose(workflow: Workflow, overrides: RunOverrides, providers: Providers) -> Choices:
    """Choose for every agent node; all problems are listed, each with its node."""
    problems = list(_wrong_overrides(overrides, providers))
    if problems:
        return Choices((), tuple(problems))
    choices: list[Choice] = []
    for node in workflow.nodes:
        if node.agent is None:
            continue
        chosen = _choose(node, workflow, overrides, providers)
        if isinstance(chosen, Problem):
            problems.append(chosen)
        else:
            choices.append(chosen)
    return Choices(tuple(choices), tuple(problems))


def _choose(
    node: Node, workflow: Workflow, overrides: RunOverrides, providers: Providers
) -> Choice | Problem:
    agent = node.agent
    assert agent is not None
    model = _text(overrides.model) or _text(agent.model)
    forced = _text(overrides.provider) or (CUSTOM if overrides.base_url else "")
    if forced == EMBEDDED:
        model = ""
    named = forced or _text(agent.provider_id) or _text(workflow.settings.provider_id)
    provider_id = named or providers.default_for(model)
    if provider_id is None:
        sentence = _nobody_offers(node, model, providers)
        return Problem("no_provider_for_model", sentence, node.id, field="model")
    spec = providers.spec(provider_id)
    if spec is None:
        sentence = _unknown(provider_id, _node(node), providers)
        return Problem("unknown_provider", sentence, node.id, field="provider_id")
    if trouble := _trouble(spec, providers):
        sentence = f"{_node(node)} uses {spec.label}, but {trouble}"
        return Problem("provider_not_ready", sentence, node.id, field="provider_id")
    if spec.id == EMBEDDED and model not in ("", spec.default_model):
        sentence = (
            f"{_node(node)} names the model '{model}', which the embedded model is not; "
            f"leave the model empty or {TRY_EMBEDDED}"
        )
        return Problem("no_provider_for_model", sentence, node.id, field="model")
    return Choice(node.id, spec.id, model or providers.default_model(spec))


def _trouble(spec: ProviderSpec, providers: Providers) -> str:
    trouble = providers.trouble(spec)
    if not trouble:
        return ""
    if spec.id == EMBEDDED:
        return trouble
    return f"{trouble}, or {TRY_EMBEDDED}"


def _wrong_overrides(overrides: RunOverrides, providers: Providers) -> Iterable[Problem]:
    """What is wrong with the options themselves, whatever the nodes say."""
    provider = _text(overrides.provider)
    if provider and providers.spec(provider) is None:
        yield Problem("unknown_provider", _unknown(provider, "--provider", providers))
    if overrides.wire is not None and overrides.wire not in list(Wire):
        known = ", ".join(wire.value for wire in Wire)
        yield Problem("unknown_wire", f"there is no wire '{overrides.wire}': use one of {known}")
    if overrides.base_url is not None and (wrong := problem_with_address(overrides.base_url)):
        yield Problem("bad_base_url", f"--base-url cannot be used: {wrong}")
    if provider == EMBEDDED and (overrides.base_url or overrides.wire or overrides.model):
        yield Problem(
            "override_not_possible",
            f"--provider {EMBEDDED} has one model at an address of its own: "
            "leave out --model, --base-url and --wire",
        )


def _nobody_offers(node: Node, model: str, providers: Providers) -> str:
    keys = [spec.auth.env_var for spec in providers.candidates(model)]
    remedy = f"set {' or '.join(keys)}" if keys else "name its provider and set that one's key"
    return (
        f"{_node(node)} names the model '{model}', which no provider that is ready offers: "
        f"{remedy}, or {TRY_EMBEDDED}"
    )


def _unknown(provider_id: str, where: str, providers: Providers) -> str:
    known = ", ".join(spec.id for spec in providers.specs())
    return f"{where} names the provider '{provider_id}', which does not exist; use one of {known}"


def _node(node: Node) -> str:
    return f"node '{node.id}'"


def _text(value: str | None) -> str:
    return (value or "").strip()


class Readiness(Struct, frozen=True):
    """Whether a workflow could be run now, as one sentence says it."""

    ready: bool
    sentence: str
    provider_id: str | None = None
    is_demo: bool = False


def readiness(
    workflow: Workflow | None, overrides: RunOverrides, providers: Providers
) -> Readiness:
    """Say who would answer the workflow, or what is missing for it.

    Without a workflow it is about a node that names nothing.
    """
    if workflow is None:
        provider_id = _text(overrides.provider) or providers.default_for("") or EMBEDDED
        provider_ids: tuple[str, ...] = (provider_id,)
        spec = providers.spec(provider_id)
        troubles = [_unknown(provider_id, "the settings", providers)] if spec is None else []
        if spec is not None and (trouble := _trouble(spec, providers)):
            troubles = [f"{spec.label} cannot be used: {trouble}"]
    else:
        choices = choose(workflow, overrides, providers)
        provider_ids = choices.provider_ids
        troubles = [problem.message for problem in choices.problems]
    if troubles:
        more = f" (and {len(troubles) - 1} more)" if len(troubles) > 1 else ""
        return Readiness(False, troubles[0] + more)
    found = [providers.spec(name) for name in provider_ids]
    specs = [spec for spec in found if spec is not None]
    main = specs[0] if specs else None
    is_demo = bool(specs) and all(spec.is_demo for spec in specs)
    if is_demo:
        sentence = "demo model: runs on your computer, makes things up"
    else:
        sentence = "answered by " + ", ".join(spec.label for spec in specs)
    return Readiness(True, sentence, main.id if main else None, is_demo)
