"""The check of a provider: what is being tried, what was found, and when."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.inspector.field import small_label
from app.settings.access import Access, told
from app.settings.rows import Row
from app.theme.status_mark import StatusMark
from engine.vocabulary.errors import EngineError
from orchestration.errors import UserError
from orchestration.settings.facts import Finding, ModelQuirks

STEPS = {
    "models": "List of models",
    "context_window": "Context window",
    "streaming": "Streamed replies",
    "usage": "Token counts",
    "reasoning_fields": "Reasoning in replies",
    "choice_required": "tool_choice: required",
    "choice_auto": "tool_choice: auto",
    "choice_none": "tool_choice: none",
    "choice_named": "tool_choice: one tool",
    "parallel_calls": "Several calls in one reply",
    "strict_schemas": "Strict schemas",
    "schema_references": "References in schemas",
    "reasoning_options": "Reasoning effort",
}
STATES = {
    "yes": ("Yes", "check", "done"),
    "no": ("No", "cross", "failed"),
    "ignored": ("Ignored", "exclamation", "waiting"),
    "unknown": ("Unknown", "ring", "idle"),
}
QUIRKS = {
    "no_required_tool_choice": "a tool call is asked for, not demanded",
    "no_tool_choice": "the choice of tools is left to the model",
    "no_strict_tools": "schemas are not sent as strict",
    "no_encrypted_reasoning": "reasoning is not kept between turns",
    "no_reasoning_summary": "reasoning is not summarised",
    "no_reasoning_options": "effort and budget of reasoning are left out",
    "plain_schemas": "schemas are sent in plain form",
    "no_stream": "replies come in one piece",
    "no_stream_usage": "token counts are not asked for",
    "no_cache_key": "prompt-cache settings are left out",
    "no_fast_mode": "fast mode is left out",
    "max_completion_tokens": "the output limit is sent as max_completion_tokens",
}


class CheckPanel(Row):
    """Starts and stops a check, and shows what is known of the provider's models."""

    def __init__(self, access: Access, provider_id: str) -> None:
        super().__init__(access.theme, "", wide=True)
        self._access = access
        self._provider_id = provider_id
        self._task: asyncio.Task[None] | None = None
        self._known: tuple[ModelQuirks, ...] = ()
        self._live: list[Finding] = []
        self.button = QPushButton("Check Now", self)
        self.button.setProperty("kind", "primary")
        self.button.clicked.connect(self.check)
        self.stop = QPushButton("Cancel", self)
        self.stop.clicked.connect(self.cancel)
        self.forget_button = QPushButton("Forget", self)
        self.forget_button.setToolTip("Forget what was found; the next requests find out anew")
        self.forget_button.clicked.connect(self.forget)
        self.model = QComboBox(self)
        self.model.hide()
        self.told = QLabel(self)
        self.told.setWordWrap(True)
        self.told.setTextFormat(Qt.TextFormat.PlainText)
        self.progress = QProgressBar(self)
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(4)
        self.progress.setRange(0, len(STEPS))
        self.progress.setAccessibleName("Progress of the check")
        self.table = QWidget(self)
        self._grid = QGridLayout(self.table)
        self._grid.setContentsMargins(0, 6, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(7)
        self._grid.setColumnStretch(3, 1)
        self.heeded = small_label(self)
        self.heeded.setContentsMargins(0, 8, 0, 0)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.told, 1)
        buttons.addWidget(self.forget_button)
        buttons.addWidget(self.stop)
        buttons.addWidget(self.button)
        column = QVBoxLayout()
        column.setSpacing(6)
        column.addLayout(buttons)
        column.addWidget(self.progress)
        column.addWidget(self.table)
        column.addWidget(self.heeded)
        self.control_box.addLayout(column)
        self._stops = [self.button]
        self.button.setAccessibleName("Check the provider now")
        self.stop.setAccessibleName("Cancel the check")
        self.forget_button.setAccessibleName("Forget what was found")
        self._refresh()

    @property
    def is_checking(self) -> bool:
        """Whether a check is under way."""
        return self._task is not None

    def set_possible(self, is_possible: bool, why_not: str) -> None:
        """Say whether there is anything to check."""
        self.button.setEnabled(is_possible)
        self.button.setToolTip(why_not)

    def check(self) -> None:
        """Begin a check, unless one is under way."""
        if self._task is None:
            self._live = []
            self.say_wrong("")
            self._task = self._access.start(self._check(), "check a provider")
            self._refresh()

    def cancel(self) -> None:
        """Stop the check that is under way."""
        if self._task is not None:
            self._task.cancel()

    def forget(self) -> None:
        """Forget what was found."""
        self._access.work(self._forget(), "forget what a check found", self.say_wrong)

    def show_known(self) -> None:
        """Show what was found before, here or in runs."""
        self._access.work(self._look(), "look up what a check found", self.say_wrong)

    def findings(self) -> list[Finding]:
        """What is shown now."""
        if self._live or self.is_checking:
            return self._live
        checked = self._last_checked()
        return list(checked.findings) if checked is not None else []

    async def _check(self) -> None:
        try:
            report = await self._access.backend.check_provider(
                self._provider_id, on_found=self._found
            )
        except (UserError, EngineError) as error:
            self.say_wrong(told(error))
        except asyncio.CancelledError:
            self._task = None
            self._live = []
            self._refresh("Cancelled: what was found by then is not kept.")
            raise
        else:
            self.say_wrong("" if report.ok else report.sentence)
        self._task = None
        await self._look()

    async def _look(self) -> None:
        self._known = await self._access.backend.known_quirks(self._provider_id)
        if not self.is_checking:
            if not self.wrong:
                self._live = []
            self._refresh()

    async def _forget(self) -> None:
        await self._access.backend.forget_quirks(self._provider_id)
        self._live = []
        await self._look()

    def _found(self, finding: Finding) -> None:
        self._live.append(finding)
        self._refresh()

    def _last_checked(self) -> ModelQuirks | None:
        checked = [each for each in self._known if each.checked_at]
        return max(checked, key=lambda each: each.checked_at, default=None)

    def _refresh(self, words: str = "") -> None:
        checking = self.is_checking
        self.button.setVisible(not checking)
        self.stop.setVisible(checking)
        self.forget_button.setVisible(bool(self._known) and not checking)
        self.progress.setVisible(checking)
        self.progress.setValue(len(self._live))
        last = self._last_checked()
        if words:
            self.told.setText(words)
        elif checking:
            following = list(STEPS.values())[min(len(self._live), len(STEPS) - 1)]
            self.told.setText(f"Trying: {following[:1].lower()}{following[1:]}")
        elif self.wrong:
            self.told.setText("The last check did not get through.")
        elif last is not None:
            window = f", {last.context_window:,} tokens" if last.context_window else ""
            self.told.setText(f"{last.model}{window}, checked {ago(last.checked_at)}")
        else:
            self.told.setText("Not checked yet")
        self._show_findings(self.findings())
        self._show_heeded()

    def _show_heeded(self) -> None:
        lines = []
        for each in self._known:
            if each.refuses:
                heeded = "; ".join(QUIRKS.get(name, name) for name in each.refuses)
                lines.append(f"Requests for {each.model}: {heeded}.")
        self.heeded.setText("\n".join(lines))
        self.heeded.setVisible(bool(lines))

    def _show_findings(self, findings: list[Finding]) -> None:
        while self._grid.count():
            item = self._grid.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for row, finding in enumerate(findings):
            word, mark, color = STATES[finding.state.value]
            name = QLabel(STEPS.get(finding.name, finding.name), self.table)
            state = QLabel(word, self.table)
            state.setProperty("kind", "second")
            detail = small_label(self.table, finding.detail)
            sides = Qt.AlignmentFlag.AlignTop
            self._grid.addWidget(StatusMark(self.theme, mark, color, 12, self.table), row, 0, sides)
            self._grid.addWidget(name, row, 1, sides)
            self._grid.addWidget(state, row, 2, sides)
            self._grid.addWidget(detail, row, 3, sides)
            name.setAccessibleName(f"{name.text()}: {word} {finding.detail}")
        self.table.setVisible(bool(findings))


def ago(iso: str) -> str:
    """How long ago something was, in words."""
    try:
        seconds = (datetime.now(UTC) - datetime.fromisoformat(iso)).total_seconds()
    except (ValueError, TypeError):
        return "some time ago"
    for limit, size, unit in ((3600, 60, "minute"), (86_400, 3600, "hour"), (1e12, 86_400, "day")):
        if seconds < limit:
            count = int(seconds // size)
            if count < 1:
                return "just now"
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "some time ago"
