"""The embedded model: which file, how it runs, and what it does now."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from app.kit.dialogs import choose_file
from app.problem_words import sentence
from app.settings.access import Access
from app.settings.fields import LineRow, as_count
from app.settings.page import ListedPage
from app.settings.rows import Row
from app.theme.status_mark import StatusMark
from orchestration.settings.facts import EmbeddedState

_LOOK_MS = 1000
_MARKS = {
    "running": ("check", "done", "Running"),
    "starting": ("disc", "running", "Starting"),
    "stopped": ("ring", "idle", "Not running"),
    "missing": ("cross", "failed", "Cannot run"),
}


class EmbeddedPage(ListedPage):
    """Looks at the model once a second while it is open."""

    id = "embedded"

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._is_busy = False
        self._build_state()
        self._build_settings()
        log = self.group("Log", "The last 200 lines, from this start of the program.")
        row = Row(access.theme, "", wide=True)
        self.log = QPlainTextEdit(row)
        self.log.setReadOnly(True)
        self.log.setProperty("kind", "code")
        self.log.setMaximumBlockCount(200)
        self.log.setFixedHeight(150)
        self.log.setPlaceholderText("Nothing has happened yet")
        self.log.setTabChangesFocus(True)
        row.adopt(self.log, name="Log of the embedded model", stretch=1)
        self.put(log, "log", row)
        self.box.addStretch(1)
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self.refresh)
        access.changed.connect(self._refresh_if_seen)

    def opened(self) -> None:
        """Look from now on."""
        self._timer.start()
        self.refresh()

    def closed(self) -> None:
        """Look no more."""
        self._timer.stop()

    def refresh(self) -> None:
        """Show what it does now."""
        state = self.access.backend.embedded_state()
        mark, color, words = _MARKS[state.state]
        self._mark.show_mark(mark, color)
        self.state.label.setText(words)
        self.state.set_note(_note(state))
        is_up = state.state in ("running", "starting")
        self.start.setText("Restart" if state.is_outdated else "Start")
        self.start.setVisible(not is_up or state.is_outdated)
        self.start.setEnabled(not self._is_busy and state.state != "missing")
        self.stop.setVisible(is_up)
        self.model_file.line.setPlaceholderText(state.file if state.is_bundled else "")
        text = "\n".join(state.log)
        if text != self.log.toPlainText():
            self.log.setPlainText(text)
            bar = self.log.verticalScrollBar()
            bar.setValue(bar.maximum())

    def _build_state(self) -> None:
        self.state = Row(self.access.theme, "Not running")
        self._mark = StatusMark(self.access.theme, "ring", "idle", 14, self.state)
        self.start = QPushButton("Start", self.state)
        self.stop = QPushButton("Stop", self.state)
        self.state.control_box.addWidget(self._mark)
        self.state.adopt(self.start, name="Start the embedded model")
        self.state.adopt(self.stop, name="Stop the embedded model")
        self.start.clicked.connect(self._start)
        self.stop.clicked.connect(self._stop)
        self.put(self.group(), "state", self.state)

    def _build_settings(self) -> None:
        access = self.access
        group = self.group("How it runs", "Counts from the next start of the model on.")
        self.model_file = LineRow(
            access,
            ("embedded", "model_file"),
            "Model file",
            "A GGUF file; empty for the small model that is installed.",
            wide=True,
        )
        choose = QPushButton("Choose…", self.model_file)
        choose.clicked.connect(self._choose)
        self.model_file.adopt(choose, name="Choose a model file")
        self.put(group, "model_file", self.model_file)
        self.put(
            group,
            "n_ctx",
            LineRow(
                access,
                ("embedded", "n_ctx"),
                "Context",
                "How much one request may hold, its reply included.",
                parse=as_count,
                unit="tokens",
            ),
        )
        self.put(
            group,
            "threads",
            LineRow(
                access,
                ("embedded", "threads"),
                "Threads",
                "Empty for half of the processors, at most four.",
                parse=as_count,
                placeholder="automatic",
            ),
        )

    def _start(self) -> None:
        if not self._is_busy:
            self._is_busy = True
            self.state.say_wrong("")
            work = self.access.backend.start_embedded()
            self.access.work(work, "start the embedded model", self._settle)
            self.refresh()

    def _stop(self) -> None:
        work = self.access.backend.stop_embedded()
        self.access.work(work, "stop the embedded model", self._stopped)

    def _stopped(self, wrong: str) -> None:
        self.state.say_wrong(wrong)
        self.refresh()

    def _settle(self, wrong: str) -> None:
        self._is_busy = False
        self.state.say_wrong(wrong)
        self.refresh()

    def _choose(self) -> None:
        self.access.work(self._ask(), "choose a model file", self.model_file.say_wrong)

    async def _ask(self) -> None:
        file = await choose_file(
            self.access.window, "Model File", None, ["Models (*.gguf)", "All files (*)"]
        )
        if file is not None:
            self.model_file.line.enter(str(file))

    def _refresh_if_seen(self) -> None:
        if self.isVisible():
            self.refresh()


def _note(state: EmbeddedState) -> str:
    if state.state == "missing":
        return sentence(state.reason)
    name = state.file.replace("\\", "/").rpartition("/")[2]
    parts = [name, f"{state.size / 1_000_000:,.0f} MB"]
    if state.pid is not None:
        parts.append(f"process {state.pid}")
    words = "  ·  ".join(parts)
    if state.is_outdated:
        return f"{words}. It runs with the settings from before: restart it to use the new ones."
    if state.state == "stopped":
        return f"{words}. A run that needs it starts it by itself."
    return words
