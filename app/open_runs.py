"""The runs that the program follows, one for each workflow file. They belong to no window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.run_session import RunSession
from engine.graph.workflow import Workflow
from orchestration.backend import Backend


class OpenRuns(QObject):
    """Every window shows these same sessions, in the tab of the workflow or in its waiting list.

    Signals:
        changed: Something happened in one of them; at most once a frame for each.
        followed: There is another run of the workflow at this path now.
    """

    changed = Signal()
    followed = Signal(object)

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self._backend = backend
        self._sessions: dict[Path, RunSession] = {}

    @property
    def sessions(self) -> list[RunSession]:
        """The last run of each workflow."""
        return list(self._sessions.values())

    def of(self, path: Path | None) -> RunSession | None:
        """The last run of the workflow at this path."""
        return self._sessions.get(path) if path is not None else None

    def is_active(self, path: Path | None) -> bool:
        """Whether the workflow at this path has a run under way."""
        session = self.of(path)
        return session is not None and session.is_active

    def follow(self, run_id: str, path: Path, workflow: Workflow) -> None:
        """Follow a run from its beginning; the one that was there before is let go."""
        old = self._sessions.pop(path, None)
        session = RunSession(self._backend, run_id, path, workflow, self)
        session.advanced.connect(self.changed)
        self._sessions[path] = session
        self.followed.emit(path)
        if old is not None:
            old.close()
            old.deleteLater()

    def close(self) -> None:
        """Follow none any longer."""
        for session in self._sessions.values():
            session.close()
