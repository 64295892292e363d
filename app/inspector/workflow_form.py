"""The form of the workflow's own settings, which hold for every node that has none of its own."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QWidget

from app.inspector import offers as known
from app.inspector.field_widgets import (
    ChoiceField,
    FlagField,
    NumberField,
    SuggestionField,
    TextField,
)
from app.inspector.form import Form
from app.inspector.list_fields import ShownField
from app.inspector.slots import Slot, slot
from app.inspector.target import Target
from app.inspector.text_editor import ProseField
from app.theme.theme import Theme

_SETTINGS = "settings"
_RETRY = f"{_SETTINGS}.retry_policy"


class WorkflowForm(Form):
    """Name, what all nodes are told, and defaults for all nodes."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.name = TextField(theme, "Name", self, needed="A workflow needs a name")
        self.shared = ProseField(theme, "Shared context", self)
        self.shared.set_note("Every node and subagent is told this.")
        self.provider = ChoiceField(theme, "Provider", self)
        self.effort = ChoiceField(theme, "Reasoning effort", self)
        self.budget = NumberField(
            theme, "Reasoning budget", self, least=1, unit="tokens", may_be_blank=True
        )
        self.budget.set_placeholder("No limit")
        self.fast = FlagField(theme, "Faster service, at a higher price", self)
        self.repair = SuggestionField(theme, "Model that repairs outputs", self, blank=None)
        self.repair.set_placeholder("The node's own model")
        self.repair.set_note("Asked to put an output right that does not fit its schema.")
        self.retries = NumberField(theme, "Retries after a failure", self, most=255)
        self.retries.set_note("0 gives up at once. Only failures that may pass are retried.")
        self.backoff = NumberField(
            theme, "First wait before a retry", self, most=2**64 - 1, unit="milliseconds"
        )
        self.forwards = FlagField(theme, "Hand on what was read", self)
        self.forwards.set_note("Nodes are told which files the nodes before them have read.")
        self.plan = ChoiceField(theme, "Plan first", self)
        self.schedule = _ScheduleField(theme, "Starts by itself", self)
        self._put_in_order()

    def prepare(self, target: Target) -> None:
        """Say what counts where nothing is set, and what there is to choose from."""
        workflow, offers = target.workflow, self.offers
        if workflow is None:
            return
        settings = workflow.settings
        service = known.provider_for(offers, settings, None)
        by_default = known.default_provider(offers)
        self.provider.set_choices(
            [
                (None, f"Not set: {by_default.words}"),
                *(
                    (each.id, each.label if each.ready else f"{each.label} (not ready)")
                    for each in offers.providers
                ),
            ]
        )
        chosen = offers.provider(settings.provider_id)
        self.provider.set_note(
            f"{chosen.label} can't be used yet: {chosen.reason}."
            if chosen is not None and not chosen.ready
            else "For every node that names none."
        )
        efforts = service.efforts if service is not None else ()
        self.effort.set_choices(
            [
                (None, f"Not set: {known.default_effort(service).words}"),
                *((each, each) for each in efforts),
            ]
        )
        self.repair.set_suggestions(service.models if service is not None else ())
        can_be_fast = service is None or service.has_fast_mode
        self.fast.set_note("" if can_be_fast else f"{service.label} has no such service.")  # type: ignore[union-attr]
        self.backoff.set_note(_waits(settings.retry_policy))
        self._prepare_plan(workflow)

    def _put_in_order(self) -> None:
        put = self.put_in
        put(slot("name"), self.name, "name of the workflow")
        put(slot("shared_context", _SETTINGS), self.shared, "shared context")
        self.section("Model")
        put(slot("provider_id", _SETTINGS), self.provider, "provider of the workflow")
        put(slot("reasoning_effort", _SETTINGS), self.effort, "effort of the workflow")
        put(slot("reasoning_budget_tokens", _SETTINGS), self.budget, "budget of the workflow")
        put(slot("fast_mode", _SETTINGS), self.fast, "speed")
        put(slot("output_repair_model", _SETTINGS), self.repair, "repair model")
        self.section("Failures")
        put(slot("max_attempts", _RETRY), self.retries, "retries")
        put(slot("backoff_ms", _RETRY), self.backoff, "wait before retries")
        self.section("Order of work")
        put(slot("forward_upstream_reads", _SETTINGS), self.forwards, "forwarding of reads")
        put(Slot("plan_mode", _SETTINGS, _plan_source, _with_plan_source), self.plan, "plan mode")
        put(
            Slot("schedule", _SETTINGS, lambda part: part.schedule, lambda part, _: part),
            self.schedule,
            "schedule",
        )
        self.box.addStretch(1)
        self.order_keys()

    def _prepare_plan(self, workflow: Any) -> None:
        asking = [
            (node.id, f"{node.label} plans")
            for node in workflow.nodes
            if node.agent is not None and node.agent.request_user_input
        ]
        self.plan.set_choices([(None, "No, run at once"), *asking])
        if workflow.settings.plan_mode is not None:
            note = "It plans with you; all others run once you have sealed its plan."
        elif asking:
            note = "One node plans with you before the others run."
        else:
            note = "Needs a node that may ask questions."
        self.plan.set_note(note)


class _ScheduleField(ShownField):
    """When the workflow starts by itself."""

    def words_of(self, value: Any) -> str:
        if value is None:
            return "Never; it has no schedule"
        state = "" if value.enabled else " (switched off)"
        return f"{value.cron}, {value.timezone or 'UTC'}{state}"


def _waits(policy: Any) -> str:
    """How long the first retries are waited for, as they come out."""
    if not policy.max_attempts:
        return ""
    waits = [
        min(policy.backoff_ms * 2**step, 30_000) / 1000
        for step in range(min(policy.max_attempts, 4))
    ]
    told = ", ".join(f"{wait:g}" for wait in waits)
    more = ", …" if policy.max_attempts > len(waits) else ""
    return f"Waits {told}{more} s, never longer than 30 s."


def _plan_source(settings: Any) -> str | None:
    return settings.plan_mode.evidence_source_node_id if settings.plan_mode is not None else None


def _with_plan_source(settings: Any, node_id: str | None) -> Any:
    from engine.graph.workflow import PlanMode

    if node_id is None:
        return settings.model_copy(update={"plan_mode": None})
    if settings.plan_mode is None:
        made = PlanMode(evidence_source_node_id=node_id)
    else:
        made = settings.plan_mode.model_copy(update={"evidence_source_node_id": node_id})
    return settings.model_copy(update={"plan_mode": made})
