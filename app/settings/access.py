"""What the pages of the settings work with: the settings, and how they are changed."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.kit.tasks import Tasks
from app.main_window import MainWindow
from app.problem_words import sentence
from app.theme.theme import Theme
from engine.vocabulary.errors import EngineError
from orchestration.errors import UserError
from orchestration.settings.checking import BadSetting

if TYPE_CHECKING:
    from orchestration.backend import Backend
    from orchestration.settings.model import Settings

Place = tuple[str, ...]
Refused = Callable[[str], None]


class Access(QObject):
    """The settings of one window's backend.

    Signals:
        changed: They are others now, whoever has changed them.
        saved: Something that a person has entered is kept.
    """

    changed = Signal()
    saved = Signal()

    def __init__(self, window: MainWindow, backend: Backend, tasks: Tasks, parent: QObject) -> None:
        super().__init__(parent)
        self.window = window
        self.backend = backend
        self._tasks = tasks
        self._end_watch = backend.watch_settings(self.changed.emit)

    @property
    def theme(self) -> Theme:
        """The theme of the window."""
        return self.window.theme

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        return self.backend.settings

    def value(self, place: Place) -> Any:
        """What stands at a place now; `None` where nothing does."""
        found: Any = self.settings
        for step in place:
            found = found.get(step) if isinstance(found, dict) else getattr(found, step, None)
            if found is None:
                return None
        return found

    def put(self, place: Place, value: Any, refused: Refused) -> None:
        """Change a setting; `refused` is told why it cannot be, or with nothing that it is done."""
        self.work(self._put(place, value), "change a setting", refused)

    def work(self, work: Coroutine[Any, Any, None], name: str, refused: Refused) -> None:
        """Do something; `refused` is told what is wrong, or with nothing that nothing is."""
        self._tasks.spawn(self._told(work, refused), name)

    def start(self, work: Coroutine[Any, Any, None], name: str) -> Any:
        """Do something that says by itself what is wrong; gives its task."""
        return self._tasks.spawn(work, name)

    def say(self, notices: tuple[str, ...]) -> None:
        """Show sentences that a person should see."""
        for notice in notices:
            self.window.toasts.show_error(sentence(notice))

    def close(self) -> None:
        """Hear of no more changes."""
        self._end_watch()

    async def _put(self, place: Place, value: Any) -> None:
        self.say(await self.backend.set_setting(place, value))
        self.saved.emit()

    async def _told(self, work: Coroutine[Any, Any, None], refused: Refused) -> None:
        try:
            await work
        except (UserError, EngineError) as error:
            refused(told(error))
        else:
            refused("")


def told(error: Exception) -> str:
    """What went wrong, for the field that it is about."""
    return error.why if isinstance(error, BadSetting) else sentence(error)
