"""What a person can choose from in the forms, and what counts where nothing is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from engine.vocabulary.tools import ApprovalMode

if TYPE_CHECKING:
    from engine.graph.agents import CallableAgent
    from engine.graph.node_config import AgentNodeConfig
    from engine.graph.workflow import WorkflowSettings
    from orchestration.settings.readiness import ProviderStatus


class Skill(NamedTuple):
    """Something that a prompt can call with `/id`."""

    id: str
    about: str = ""


def fitting_skills(skills: Sequence[Skill], typed: str, most: int) -> list[Skill]:
    """Those that fit best, those first whose id begins with what was typed."""
    word = typed.casefold()
    begin = [each for each in skills if each.id.casefold().startswith(word)]
    inside = [each for each in skills if word in each.id.casefold() and each not in begin]
    return [*begin, *inside][:most]


def _nobody(_: str) -> str | None:
    return None


class Offers(NamedTuple):
    """What there is on this computer.

    `approval_mode` is that of nodes which leave theirs open. `default_provider` gives the
    provider's id for a model (empty: none is named), where neither the node nor the workflow names
    a provider.
    """

    providers: tuple[ProviderStatus, ...] = ()
    agents: tuple[CallableAgent, ...] = ()
    skills: tuple[Skill, ...] = ()
    default_provider: Callable[[str], str | None] = _nobody
    approval_mode: ApprovalMode = ApprovalMode.WRITE

    def provider(self, provider_id: str | None) -> ProviderStatus | None:
        """The provider with this id."""
        return next((each for each in self.providers if each.id == provider_id), None)

    def provider_label(self, provider_id: str) -> str:
        """What a person calls a provider; its id where nobody knows it."""
        known = self.provider(provider_id)
        return known.label if known is not None else provider_id


class Inherited(NamedTuple):
    """A value that counts where a node names none, and where it is from; both may be empty."""

    value: str = ""
    source: str = ""

    @property
    def words(self) -> str:
        """`medium, from the workflow`; without a value, what happens then."""
        return ", ".join(part for part in (self.value, self.source) if part)


_FROM_WORKFLOW = "from the workflow"


def provider_for(
    offers: Offers, settings: WorkflowSettings, agent: AgentNodeConfig | None
) -> ProviderStatus | None:
    """Who would answer a node, or without one a node that names nothing."""
    named = (agent.provider_id if agent is not None else None) or settings.provider_id
    model = agent.model if agent is not None else ""
    return offers.provider(named or offers.default_provider(model.strip()))


def inherited_provider(offers: Offers, settings: WorkflowSettings, model: str) -> Inherited:
    """Who answers a node that names no provider."""
    if settings.provider_id:
        return Inherited(offers.provider_label(settings.provider_id), _FROM_WORKFLOW)
    return default_provider(offers, model)


def default_provider(offers: Offers, model: str = "") -> Inherited:
    """Who answers where neither node nor workflow names a provider."""
    found = offers.default_provider(model.strip())
    if found is None:
        return Inherited("", "none that is ready offers this model" if model.strip() else "none")
    return Inherited(offers.provider_label(found), "by default")


def inherited_model(provider: ProviderStatus | None) -> Inherited:
    """Which model answers a node that names none."""
    if provider is None or not provider.default_model:
        return Inherited("", "the provider decides")
    return Inherited(provider.default_model, f"the default of {provider.label}")


def inherited_effort(settings: WorkflowSettings, provider: ProviderStatus | None) -> Inherited:
    """The reasoning effort of a node that names none."""
    if settings.reasoning_effort:
        return Inherited(settings.reasoning_effort, _FROM_WORKFLOW)
    return default_effort(provider)


def default_effort(provider: ProviderStatus | None) -> Inherited:
    """The reasoning effort where neither node nor workflow names one."""
    if provider is not None and provider.default_effort:
        return Inherited(provider.default_effort, f"set for {provider.label}")
    return Inherited("", "the model decides")


def inherited_budget(settings: WorkflowSettings) -> Inherited:
    """The token budget of a node that names none."""
    if settings.reasoning_budget_tokens:
        return Inherited(f"{settings.reasoning_budget_tokens:,}", _FROM_WORKFLOW)
    return Inherited("", "no limit")


def shared(words: Iterable[str]) -> str:
    """What is said of several nodes: their words where they are the same for all."""
    different = set(words)
    return different.pop() if len(different) == 1 else "differs from node to node"
