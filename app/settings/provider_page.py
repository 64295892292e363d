"""Everything about one provider: key, address, models, and what a check has found."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton

from app.kit.dialogs import confirm
from app.settings.access import Access
from app.settings.check_panel import CheckPanel
from app.settings.fields import ChoiceRow, LineRow, as_number
from app.settings.model_list import DefaultModelRow, ModelList
from app.settings.page import Page
from app.settings.providers_page import state_mark, what_is_missing
from app.settings.rows import Row
from app.settings.secret_row import SecretRow
from app.theme.status_mark import StatusMark
from orchestration.settings.readiness import ProviderStatus

WIRES = (
    ("chat", "Chat Completions"),
    ("responses", "Responses"),
    ("messages", "Messages (Anthropic)"),
)


class ProviderPage(Page):
    """The page of one provider.

    Signals:
        left: Back to the list.
    """

    left = Signal()

    def __init__(self, access: Access, status: ProviderStatus) -> None:
        super().__init__(access, status.label, "")
        self.provider_id = status.id
        self._place_of_keys = ""
        self._build_head()
        self._build_connection(status)
        self._build_models(status)
        checked = self.group(
            "Check",
            "Makes about ten small requests in a minute at most, and keeps what the endpoint "
            "refuses, so that no run has to find it out.",
        )
        self.check = CheckPanel(access, status.id)
        self.put(checked, "check", self.check)
        if status.is_own:
            self._build_removal()
        self.box.addStretch(1)
        access.changed.connect(self.refresh)
        self.refresh()

    def opened(self) -> None:
        """Ask anew how it stands."""
        self.refresh()
        self.check.show_known()
        self.access.work(self._look_where_keys_go(), "look where keys are kept", self.key.say_wrong)

    def closed(self) -> None:
        """What is under way for this page alone ends."""
        self.check.cancel()
        self.models.cancel()

    def refresh(self) -> None:
        """Show how it stands with the provider now."""
        status = self.access.backend.provider(self.provider_id)
        if status is None:  # removed, here or elsewhere
            self.left.emit()
            return
        self._mark.show_mark(*state_mark(status))
        self.heading.setText(status.label)
        key = self.access.backend.key_state(status.id)
        told = _readiness(status) if status.ready else what_is_missing(status, key)
        self.about.setText(told)
        self._default.setText("Default provider" if status.is_active else "Use as default")
        self._default.setEnabled(not status.is_active and status.is_possible)
        self.key.show_state(key, self._place_of_keys)
        self.models.show_status(status)
        self.check.set_possible(status.ready, "" if status.ready else told)

    def _build_head(self) -> None:
        back = QToolButton(self.column)
        back.setText("Providers")
        back.setIcon(self.access.theme.icons.icon("chevron-left"))
        back.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        back.setAccessibleName("Back to the list of providers")
        back.setToolTip("Back to the list of providers")
        back.clicked.connect(self.left)
        self.back = back
        self.box.insertWidget(0, back, 0, Qt.AlignmentFlag.AlignLeft)
        self.box.removeWidget(self.heading)
        self._mark = StatusMark(self.access.theme, "ring", "idle", 16, self.column)
        self._default = QPushButton("Use as default", self.column)
        self._default.setAccessibleName("Use this provider as the default")
        self._default.setToolTip("Nodes that name no provider are answered by the default one")
        self._default.clicked.connect(self._make_default)
        line = QHBoxLayout()
        line.setSpacing(10)
        line.addWidget(self._mark)
        line.addWidget(self.heading)
        line.addStretch(1)
        line.addWidget(self._default)
        self.box.insertLayout(1, line)

    def _build_connection(self, status: ProviderStatus) -> None:
        access, backend, name = self.access, self.access.backend, status.id
        group = self.group("Connection")
        self.key = SecretRow(
            access,
            lambda key: backend.set_key(name, key),
            lambda: backend.remove_key(name),
        )
        if not status.is_demo:
            self.put(group, "key", self.key)
        else:
            self.key.setParent(self.column)
            self.key.hide()
        profile = ("providers", name)
        self.put(
            group,
            "base_url",
            LineRow(
                access,
                (*profile, "base_url"),
                "Base URL",
                "Where requests go. Empty for the provider's own address.",
                placeholder="" if status.is_own else status.base_url,
            ),
        )
        self.put(
            group,
            "wire",
            ChoiceRow(
                access,
                (*profile, "wire"),
                "Wire",
                "The protocol of the endpoint.",
                choices=((None, "The provider's own"), *WIRES),
            ),
        )
        self.put(
            group,
            "timeout_s",
            LineRow(
                access,
                (*profile, "timeout_s"),
                "Timeout",
                "The longest silence that is borne.",
                parse=as_number,
                unit="seconds",
                placeholder="300",
            ),
        )

    def _build_models(self, status: ProviderStatus) -> None:
        access, profile = self.access, ("providers", status.id)
        group = self.group("Models")
        self.default_model = DefaultModelRow(access, status)
        self.put(group, "default_model", self.default_model)
        if status.efforts:
            efforts = [(effort, effort) for effort in status.efforts]
            self.put(
                group,
                "reasoning_effort",
                ChoiceRow(
                    access,
                    (*profile, "reasoning_effort"),
                    "Reasoning effort",
                    "For nodes and workflows that name none.",
                    choices=((None, "Left to the model"), *efforts),
                ),
            )
        self.models = ModelList(access, status.id, WIRES)
        self.put(group, "models", self.models)

    def _build_removal(self) -> None:
        row = Row(
            self.access.theme,
            "Remove this endpoint",
            "Its key goes too. Nodes that name it cannot run until they name another.",
        )
        button = QPushButton("Remove…", row)
        button.clicked.connect(self._ask_to_remove)
        row.adopt(button, name="Remove this endpoint")
        self._removal = row
        self.put(self.group(), "remove", row)

    def _make_default(self) -> None:
        self.access.put(("active_provider",), self.provider_id, self.key.say_wrong)

    def _ask_to_remove(self) -> None:
        self.access.work(self._remove(), "remove an endpoint", self._removal.say_wrong)

    async def _remove(self) -> None:
        label = self.heading.text()
        text = "Its address and its key are forgotten. Workflows that name it keep the name."
        if await confirm(self.access.window, f"Remove {label}?", text, "Remove"):
            await self.access.backend.remove_endpoint(self.provider_id)

    async def _look_where_keys_go(self) -> None:
        self._place_of_keys = await self.access.backend.key_place()
        self.refresh()


def _readiness(status: ProviderStatus) -> str:
    if status.is_demo:
        return "Ready to answer."
    return "Nothing is missing; a check tells whether it answers."
