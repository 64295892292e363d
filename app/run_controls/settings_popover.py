"""Model, effort and approval of one node for the rest of the run."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QWidget

from app.inspector.agent_form import APPROVAL_WORDS
from app.inspector.controls import ChoiceBox, LineField
from app.run_controls.popover import Popover
from app.theme.theme import Theme
from engine.vocabulary.inputs import RuntimePatch
from engine.vocabulary.tools import ApprovalMode
from orchestration.runs.steered import NodeSettings

_MODES = (
    ApprovalMode.WRITE,
    ApprovalMode.ALWAYS_ASK,
    ApprovalMode.READ_ONLY,
    ApprovalMode.YOLO,
)
_BY_ITSELF = "As the model decides"


class SettingsPopover(Popover):
    """Shows what counts now; only what was changed goes into the patch.

    Signals:
        applied: Node id and the `RuntimePatch`.
    """

    applied = Signal(str, object)

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__("Settings for this run", window)
        self.node_id = ""
        self._settings: NodeSettings | None = None
        self._efforts: list[str] = []
        self.title = QLabel(self)
        self.title.setProperty("kind", "title")
        self.model = ChoiceBox(theme, self)
        self.model_line = LineField(self.model)
        self.model_line.setAccessibleName("Model for this run")
        self.model.write_in(self.model_line)
        self.approval = ChoiceBox(theme, self)
        self.approval.setAccessibleName("Approval for this run")
        self.approval.show_entries([APPROVAL_WORDS[mode][0] for mode in _MODES], 0)
        self.approval.currentIndexChanged.connect(self._explain)
        self.effort = ChoiceBox(theme, self)
        self.effort.setAccessibleName("Reasoning effort for this run")
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        for line, (words, field) in enumerate(
            (("Model", self.model), ("Approval", self.approval), ("Effort", self.effort))
        ):
            caption = QLabel(words, self)
            caption.setProperty("kind", "caption")
            caption.setBuddy(field)
            grid.addWidget(caption, line, 0)
            grid.addWidget(field, line, 1)
        self.note = QLabel(self)
        self.note.setProperty("kind", "small")
        self.note.setWordWrap(True)
        self.apply = QPushButton("Apply to this run", self)
        self.apply.setProperty("kind", "primary")
        self.apply.clicked.connect(self._apply)
        self.model_line.returnPressed.connect(self._apply)
        close = QPushButton("Cancel", self)
        close.clicked.connect(self.close_popover)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch(1)
        buttons.addWidget(close)
        buttons.addWidget(self.apply)
        self.box.addWidget(self.title)
        self.box.addLayout(grid)
        self.box.addWidget(self.note)
        self.box.addLayout(buttons)
        self.setMinimumWidth(400)

    def show_settings(
        self,
        node_id: str,
        label: str,
        settings: NodeSettings,
        models: Sequence[str],
        efforts: Sequence[str],
    ) -> None:
        """Show what counts for a node now, and what it could be changed to."""
        self.node_id, self._settings = node_id, settings
        self.title.setText(f"{label}, for this run")
        offered = [*dict.fromkeys((settings.model, *models))]
        self.model.show_entries(offered, 0)
        self.model_line.setText(settings.model)
        self.approval.setCurrentIndex(_MODES.index(settings.approval_mode))
        known = [settings.reasoning_effort] if settings.reasoning_effort else []
        self._efforts = [*dict.fromkeys((*efforts, *known))]
        at = self._efforts.index(known[0]) + 1 if known else 0
        self.effort.show_entries([_BY_ITSELF, *self._efforts], at)
        self._explain()

    def patch(self) -> RuntimePatch:
        """What is other than what counts now."""
        settings = self._settings
        assert settings is not None
        model = self.model_line.text().strip()
        mode = _MODES[self.approval.currentIndex()]
        at = self.effort.currentIndex()
        effort = self._efforts[at - 1] if at > 0 else None
        is_other = effort != settings.reasoning_effort
        return RuntimePatch(
            model=model if model and model != settings.model else None,
            approval_mode=mode if mode is not settings.approval_mode else None,
            reasoning_effort=effort if is_other else None,
            clear_reasoning=is_other and effort is None,
        )

    def _explain(self) -> None:
        settings = self._settings
        means = APPROVAL_WORDS[_MODES[max(0, self.approval.currentIndex())]][1]
        lines = [means, "Counts from the next model call on; the workflow stays as it is."]
        if settings is not None and settings.changed:
            words = {
                "model": "model",
                "approval_mode": "approval",
                "reasoning_effort": "effort",
                "reasoning_budget_tokens": "budget",
            }
            named = ", ".join(words[key] for key in words if key in settings.changed)
            lines.append(f"Changed in this run already: {named}.")
        self.note.setText("\n".join(lines))
        if self.isVisible():
            self.place()

    def _apply(self) -> None:
        patch = self.patch()
        self.close_popover()
        if patch != RuntimePatch():
            self.applied.emit(self.node_id, patch)
