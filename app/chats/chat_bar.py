"""Above the field of a chat: where it works, what it may do, who answers, and how full it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QWidget

from app.inspector.agent_form import APPROVAL_WORDS
from app.kit.elided_button import ElidedButton
from app.kit.elided_label import ElidedLabel
from app.theme.theme import Theme
from engine.vocabulary.tools import ApprovalMode

_MODES = (
    ApprovalMode.READ_ONLY,
    ApprovalMode.WRITE,
    ApprovalMode.ALWAYS_ASK,
    ApprovalMode.YOLO,
)


class ChatSettings(NamedTuple):
    """What the bar shows. `provider` belongs to `model`; texts are empty for what is by default.

    `usage` says how many tokens are in use and of how many, `usage_tip` whose model that is.
    """

    folder: Path | None
    is_folder_fixed: bool
    mode: ApprovalMode
    provider: str = ""
    model: str = ""
    effort: str = ""
    usage: str = ""
    usage_tip: str = ""


class ModelChoice(NamedTuple):
    """A model to choose; `efforts` are those of its provider."""

    provider: str
    provider_label: str
    model: str
    efforts: tuple[str, ...] = ()


class ChatBar(QFrame):
    """A row of buttons, each with a menu.

    Signals:
        folder_asked: The person wants to choose a folder, or with `False` none.
        mode_chosen: An `ApprovalMode`.
        model_chosen: A `ModelChoice`, or `None` for the default.
        effort_chosen: A reasoning effort; empty for the model's own.
    """

    folder_asked = Signal(bool)
    mode_chosen = Signal(object)
    model_chosen = Signal(object)
    effort_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._state: ChatSettings | None = None
        self._models: tuple[ModelChoice, ...] = ()
        self.setAccessibleName("Settings of this chat")
        self.menu = QMenu(self)
        self.folder, self.mode, self.model, self.effort = (ElidedButton(self) for _ in range(4))
        self.usage = ElidedLabel(parent=self)
        self.usage.setProperty("kind", "small")
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 0, 4, 0)
        row.setSpacing(6)
        for button, offer in (
            (self.folder, self._offer_folder),
            (self.mode, self._offer_modes),
            (self.model, self._offer_models),
            (self.effort, self._offer_efforts),
        ):
            button.setProperty("kind", "chip")
            button.clicked.connect(offer)
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.usage)
        theme.changed.connect(self._dress)
        self._dress()

    def show_models(self, models: Sequence[ModelChoice]) -> None:
        """Offer these models."""
        self._models = tuple(models)

    def show_settings(self, state: ChatSettings) -> None:
        """Show what counts in the chat in front."""
        if state == self._state:
            return
        self._state = state
        folder = state.folder.name if state.folder is not None else "No project"
        tip = "Where it reads and writes; fixed once something was said"
        _show(self.folder, "Project folder", folder, str(state.folder or tip))
        self.folder.setEnabled(not state.is_folder_fixed)
        words, meaning = APPROVAL_WORDS[state.mode]
        _show(self.mode, "Approval", words, meaning)
        _show(self.model, "Model", state.model or "Default model", "Who answers, from now on")
        effort = f"Effort: {state.effort}" if state.effort else "Default effort"
        _show(self.effort, "Effort", effort, "How long it thinks, from now on")
        self.usage.setText(state.usage)
        self.usage.setToolTip(state.usage_tip)
        self.usage.setVisible(bool(state.usage))

    def _offer_folder(self) -> None:
        self.menu.clear()
        self._add("Choose a Folder…", lambda: self.folder_asked.emit(True))
        if self._state is not None and self._state.folder is not None:
            self._add("No Project", lambda: self.folder_asked.emit(False))
        self._open(self.folder)

    def _offer_modes(self) -> None:
        self.menu.clear()
        for mode in _MODES:
            is_now = self._state is not None and self._state.mode is mode
            self._add(
                APPROVAL_WORDS[mode][0], lambda mode=mode: self.mode_chosen.emit(mode), is_now
            )
        self._open(self.mode)

    def _offer_models(self) -> None:
        self.menu.clear()
        state = self._state
        self._add(
            "Default Model",
            lambda: self.model_chosen.emit(None),
            state is not None and not state.model,
        )
        group: str | None = None
        for each in self._models:
            if each.provider != group:
                group = each.provider
                self.menu.addSection(each.provider_label)
            is_now = state is not None and (state.model, state.provider or each.provider) == (
                each.model,
                each.provider,
            )
            self._add(each.model, lambda each=each: self.model_chosen.emit(each), is_now)
        self._open(self.model)

    def _offer_efforts(self) -> None:
        self.menu.clear()
        state = self._state
        now = state.effort if state is not None else ""
        provider = state.provider if state is not None else ""
        efforts = next(
            (each.efforts for each in self._models if not provider or each.provider == provider), ()
        )
        self._add("Default", lambda: self.effort_chosen.emit(""), not now)
        for effort in efforts:
            self._add(
                effort.capitalize(),
                lambda effort=effort: self.effort_chosen.emit(effort),
                effort == now,
            )
        self._open(self.effort)

    def _add(self, words: str, chosen: object, is_now: bool | None = None) -> None:
        action = QAction(words.replace("&", "&&"), self.menu)
        if is_now is not None:
            action.setCheckable(True)
            action.setChecked(is_now)
        action.triggered.connect(lambda _=False: chosen())  # type: ignore[operator]
        self.menu.addAction(action)

    def _open(self, button: QWidget) -> None:
        height = self.menu.sizeHint().height()
        self.menu.popup(button.mapToGlobal(QPoint(0, -height - 4)))

    def _dress(self) -> None:
        self.folder.setIcon(self._theme.icons.icon("folder"))


def _show(button: ElidedButton, name: str, words: str, tip: str) -> None:
    button.show_text(words, tip)
    button.setAccessibleName(f"{name}: {words}")
