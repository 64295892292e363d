"""The form of a node, and of what several nodes have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from PySide6.QtWidgets import QLabel, QWidget

from app.inspector import offers as known
from app.inspector.agent_form import AgentParts
from app.inspector.field_widgets import (
    ChoiceField,
    FlagField,
    NumberField,
    SuggestionField,
    TextField,
)
from app.inspector.form import Form
from app.inspector.list_fields import PickField, ShownField
from app.inspector.offers import Inherited
from app.inspector.slots import Slot, slot
from app.inspector.target import Target
from app.theme.theme import Theme

_AGENT = "agent"


class NodeForm(Form):
    """Every setting of a node. With several nodes, those that make sense for all of them."""

    aliases: ClassVar[Mapping[str, str]] = {"plan_mode": "request_user_input"}

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.label = TextField(theme, "Name", self, needed="A node needs a name")
        self.provider = ChoiceField(theme, "Provider", self)
        self.model = SuggestionField(theme, "Model", self)
        self.effort = ChoiceField(theme, "Reasoning effort", self)
        self.budget = NumberField(
            theme, "Reasoning budget", self, least=1, unit="tokens", may_be_blank=True
        )
        self.asks = FlagField(theme, "May ask questions", self)
        self.converses = FlagField(theme, "Conversation", self)
        self.converses.set_note("Talks with you for as long as you like before it hands over.")
        self.all_agents = FlagField(theme, "May call every saved agent", self)
        self.agents = PickField(theme, "Saved agents it may call", self)
        self.resources = _McpField(theme, "MCP resources", self)
        self.prompts = _McpField(theme, "MCP prompts", self)
        self.snapshots = _McpField(theme, "MCP content of the last run", self)
        self.auto_start = FlagField(theme, "Starts by itself", self)
        self.auto_start.set_note("Means nothing here: a node starts when those before it are done.")
        self._parts = AgentParts(self, _AGENT)
        self._sections: dict[str, QLabel] = {}
        self._put_in_order()

    def prepare(self, target: Target) -> None:
        """Say what is inherited, and show what can be set for what is selected."""
        nodes, workflow = target.nodes, target.workflow
        agents = [node.agent for node in nodes if node.agent is not None]
        is_one = len(nodes) == 1
        for key, field in self.fields.items():
            field.setVisible(bool(agents) or key == "label")
        self.label.setVisible(is_one)
        for section in self._sections.values():
            section.setVisible(bool(agents))
        if workflow is None or not agents:
            return
        self._prepare_model(agents, workflow.settings)
        self._parts.prepare(agents)
        self._prepare_questions(agents)
        self._prepare_lists(agents, is_one)
        for name in ("Instructions", "Handoff"):
            self._sections[name].setVisible(is_one)
        self._sections["Kept for other versions"].setVisible(is_one)
        self.auto_start.setVisible(is_one)

    def _put_in_order(self) -> None:
        put, parts = self.put_in, self._parts
        put(slot("label"), self.label, "name")
        self._begin("Model")
        put(slot("provider_id", _AGENT), self.provider, "provider")
        put(slot("model", _AGENT), self.model, "model")
        put(slot("reasoning_effort", _AGENT), self.effort, "reasoning effort")
        put(slot("reasoning_budget_tokens", _AGENT), self.budget, "reasoning budget")
        self._begin("Instructions")
        parts.put_instructions()
        self._begin("Handoff")
        parts.put_handoff()
        self._begin("Tools")
        parts.put_approval()
        self._begin("Questions")
        put(slot("request_user_input", _AGENT), self.asks, "questions")
        parts.put_kinds_of_questions()
        put(slot("conversation_mode", _AGENT), self.converses, "conversation mode")
        self._begin("Subagents")
        put(slot("allow_all_callable_agents", _AGENT), self.all_agents, "callable agents")
        put(slot("callable_agents", _AGENT), self.agents, "callable agents")
        for name, field in (
            ("mcp_resources", self.resources),
            ("mcp_prompts", self.prompts),
            ("mcp_context_snapshots", self.snapshots),
        ):
            put(_shown(name), field, name)
        self._begin("Kept for other versions")
        put(slot("auto_start", _AGENT), self.auto_start, "start")
        self.box.addStretch(1)
        self.order_keys()

    def _begin(self, name: str) -> None:
        self._sections[name] = self.section(name)

    def _prepare_model(self, agents: list[Any], settings: Any) -> None:
        offers = self.offers
        services = [known.provider_for(offers, settings, agent) for agent in agents]
        service = services[0] if all(each is services[0] for each in services) else None
        from_above = _inherited(
            known.inherited_provider(offers, settings, agent.model) for agent in agents
        )
        self.provider.set_choices(
            [
                (None, f"Inherited: {from_above}"),
                *((each.id, _provider_words(each)) for each in offers.providers),
            ]
        )
        self.provider.set_note(_why_not(service))
        self.model.set_suggestions(service.models if service is not None else ())
        default = _inherited(known.inherited_model(each) for each in services)
        self.model.set_placeholder(default)
        self.model.set_note(_unlisted(service, agents))
        efforts = service.efforts if service is not None else _every_effort(offers)
        words = _inherited(known.inherited_effort(settings, each) for each in services)
        self.effort.set_choices(
            [(None, f"Inherited: {words}"), *((each, each) for each in efforts)]
        )
        budget = known.inherited_budget(settings)
        self.budget.set_placeholder(budget.value or "No limit")
        self.budget.set_note(
            f"Empty: {budget.words}" if budget.value else "Empty: no limit of its own"
        )

    def _prepare_questions(self, agents: list[Any]) -> None:
        asks = any(agent.request_user_input for agent in agents)
        silent = any(
            agent.request_user_input
            and not agent.tools.allow_structured_user_input
            and not agent.tools.allow_free_text_user_input
            for agent in agents
        )
        note = "" if asks else "Counts once it may ask questions."
        if silent:
            note = "With neither kind of question there is no way to ask."
        self._parts.free_text.set_note(note)

    def _prepare_lists(self, agents: list[Any], is_one: bool) -> None:
        saved = self.offers.agents
        self.agents.set_choices([(agent.id, agent.name, agent.purpose) for agent in saved])
        calls_all = any(agent.allow_all_callable_agents for agent in agents)
        has_any = bool(saved) or any(agent.callable_agents for agent in agents)
        self.agents.setVisible(is_one and has_any)
        self.agents.setEnabled(not calls_all)
        self.all_agents.set_note("" if saved else "No agent is saved on this computer yet.")
        for name, field in (
            ("mcp_resources", self.resources),
            ("mcp_prompts", self.prompts),
            ("mcp_context_snapshots", self.snapshots),
        ):
            field.setVisible(is_one and bool(getattr(agents[0], name)))


class _McpField(ShownField):
    """What was selected of MCP servers; a line for each."""

    def words_of(self, value: Any) -> str:
        return "\n".join(map(_mcp_words, value or ()))


def _mcp_words(item: Any) -> str:
    name = next(getattr(item, key) for key in ("uri", "name", "source") if getattr(item, key, None))
    size = getattr(item, "max_bytes", None)
    limit = f", at most {size:,} bytes" if size is not None else ""
    return f"{name} from {item.server_id}{limit}"


def _shown(name: str) -> Slot:
    """A slot that is only read."""
    return Slot(name, _AGENT, lambda agent: getattr(agent, name), lambda agent, _: agent)


def _inherited(values: Iterable[Inherited]) -> str:
    return known.shared(value.words for value in values)


def _provider_words(provider: Any) -> str:
    return str(provider.label) if provider.ready else f"{provider.label} (not ready)"


def _why_not(provider: Any) -> str:
    """Why the provider cannot be used as it is, as a sentence."""
    if provider is None or provider.ready:
        return ""
    return f"{provider.label} can't be used yet: {provider.reason}."


def _unlisted(provider: Any, agents: list[Any]) -> str:
    """That a model is not among those that are known, which is no fault."""
    models = {agent.model.strip() for agent in agents}
    model = models.pop() if len(models) == 1 else ""
    if provider is None or not model or model in provider.models:
        return ""
    return f"Not among the known models of {provider.label}; it is asked for as it is."


def _every_effort(offers: known.Offers) -> tuple[str, ...]:
    found = [effort for provider in offers.providers for effort in provider.efforts]
    return tuple(dict.fromkeys(found))
