"""All providers with what each one lacks, and a place to add endpoints of one's own."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout

from app.kit.elided_label import ElidedLabel
from app.problem_words import sentence
from app.settings.access import Access
from app.settings.page import ListedPage
from app.settings.rows import Row
from app.theme.status_mark import StatusMark
from orchestration.settings.facts import KeyState
from orchestration.settings.readiness import ProviderStatus


class ProviderLine(QPushButton):
    """One provider of the list; pressing it opens its page."""

    def __init__(self, access: Access, provider_id: str) -> None:
        super().__init__()
        self.provider_id = provider_id
        self.setProperty("kind", "line-button")
        theme = access.theme
        self._mark = StatusMark(theme, "ring", "idle", 14, self)
        self._name = ElidedLabel("", self)
        self._about = ElidedLabel("", self)
        self._about.setProperty("kind", "small")
        self._tag = QLabel("Default", self)
        self._tag.setProperty("kind", "tag")
        go_on = QLabel(self)
        go_on.setPixmap(theme.icons.pixmap("chevron-right", "text_second", 16))
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self._name)
        top.addWidget(self._tag)
        top.addStretch(1)
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addLayout(top)
        words.addWidget(self._about)
        line = QHBoxLayout(self)
        line.setContentsMargins(16, 8, 12, 8)
        line.setSpacing(12)
        line.addWidget(self._mark)
        line.addLayout(words, 1)
        line.addWidget(go_on)
        for label in self.findChildren(QLabel):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def sizeHint(self) -> QSize:
        """As tall as what is in it."""
        layout = self.layout()
        assert layout is not None
        return layout.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """As tall as that, and as narrow as it has to be."""
        return QSize(120, self.sizeHint().height())

    def show_status(self, status: ProviderStatus, about: str) -> None:
        """Show how it stands with the provider."""
        mark, color = state_mark(status)
        self._mark.show_mark(mark, color)
        self._name.setText(status.label)
        self._about.setText(about)
        self._tag.setVisible(status.is_active)
        default = ", default" if status.is_active else ""
        self.setAccessibleName(f"{status.label}{default}: {about}")


class ProvidersPage(ListedPage):
    """The list of providers.

    Signals:
        chosen: The id of a provider whose page is to be opened.
    """

    id = "providers"
    chosen = Signal(str)

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._groups = {
            "ready": self.group("Ready"),
            "open": self.group("Not set up"),
            "never": self.group("Not possible yet"),
        }
        self._lines: list[ProviderLine] = []
        self._shown: tuple[tuple[str, str], ...] = ()
        added = self.group("Your own endpoint", "Any server that speaks the OpenAI protocol.")
        self.add_row = AddRow(access)
        self.add_row.added.connect(self.chosen)
        self.put(added, "add", self.add_row)
        self.box.addStretch(1)
        self.access.changed.connect(self._refresh_if_seen)

    def opened(self) -> None:
        """Ask anew who is ready."""
        self.refresh()

    def refresh(self) -> None:
        """Show how it stands with everybody."""
        statuses = self.access.backend.providers()
        kinds = tuple((status.id, _kind(status)) for status in statuses)
        if kinds != self._shown:
            self._fill(statuses)
            self._shown = kinds
        known = {line.provider_id: line for line in self._lines}
        for status in statuses:
            known[status.id].show_status(status, about(self.access, status))

    def reveal(self, name: str) -> None:
        """Go to the first provider, or to a row."""
        if name == "list" and self._lines:
            self._lines[0].setFocus(Qt.FocusReason.OtherFocusReason)
        super().reveal(name)

    def lines(self) -> list[ProviderLine]:
        """The providers as they are listed."""
        return self._lines

    def _refresh_if_seen(self) -> None:
        if self.isVisible():
            self.refresh()

    def _fill(self, statuses: tuple[ProviderStatus, ...]) -> None:
        focused = next((line.provider_id for line in self._lines if line.hasFocus()), "")
        for group in self._groups.values():
            group.clear()
        self._lines = []
        for kind, group in self._groups.items():
            found = [status for status in statuses if _kind(status) == kind]
            for status in found:
                line = self._made(status.id)
                group.add(line)
                self._lines.append(line)
                if status.id == focused:
                    line.setFocus()
            group.show_with_title(bool(found))

    def _made(self, provider_id: str) -> ProviderLine:
        line = ProviderLine(self.access, provider_id)
        line.clicked.connect(lambda: self.chosen.emit(provider_id))
        line.installEventFilter(self)
        return line


class AddRow(Row):
    """Name and address of a new endpoint.

    Signals:
        added: Its id.
    """

    added = Signal(str)

    def __init__(self, access: Access) -> None:
        super().__init__(access.theme, "", wide=True)
        self._access = access
        self._is_adding = False
        self.name = QLineEdit(self)
        self.name.setPlaceholderText("Name, such as Lab server")
        self.address = QLineEdit(self)
        self.address.setPlaceholderText("Address, such as http://127.0.0.1:8000/v1")
        self.button = QPushButton("Add", self)
        self.adopt(self.name, name="Name of the new endpoint", stretch=2)
        self.adopt(self.address, name="Address of the new endpoint", stretch=3)
        self.control_box.addWidget(self.button)
        self.button.setAccessibleName("Add the endpoint")
        self.button.clicked.connect(self.add)
        self.name.returnPressed.connect(self.address.setFocus)
        self.address.returnPressed.connect(self.add)

    def add(self) -> None:
        """Add what is entered."""
        if not self._is_adding:
            self._is_adding = True
            self._access.work(self._add(), "add an endpoint", self._settle)

    async def _add(self) -> None:
        made = await self._access.backend.add_endpoint(self.name.text(), self.address.text())
        self.name.clear()
        self.address.clear()
        self.added.emit(made)

    def _settle(self, wrong: str) -> None:
        self._is_adding = False
        self.say_wrong(wrong)


def state_mark(status: ProviderStatus) -> tuple[str, str]:
    """The mark and the colour of how it stands with a provider."""
    if status.ready:
        return "check", "done"
    return ("ring", "idle") if _kind(status) == "open" else ("square", "idle")


def about(access: Access, status: ProviderStatus) -> str:
    """One line about a provider: what it lacks, or which key and model count."""
    key = access.backend.key_state(status.id)
    if not status.ready:
        return what_is_missing(status, key)
    parts = [status.default_model]
    if key.is_stored:
        parts.append("key stored")
    elif key.is_in_environment:
        parts.append(f"key from {key.variable}")
    elif not status.is_demo:
        parts.append("no key needed, but it has to be reachable")
    if status.is_own:
        parts.append(status.base_url)
    return "  ·  ".join(parts)


def what_is_missing(status: ProviderStatus, key: KeyState) -> str:
    """What a provider that is not ready lacks, and what to do about it here."""
    lacks_key = key.is_needed and not key.is_stored and not key.is_in_environment
    if lacks_key and key.variable and status.is_possible:
        return "Needs a key"
    return sentence(status.reason)


def _kind(status: ProviderStatus) -> str:
    if status.ready:
        return "ready"
    return "open" if status.is_possible else "never"
