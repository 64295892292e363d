"""Opens the settings of a window, and lets the window follow what is changed in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer

from app.kit.choice_popup import Choice
from app.kit.tasks import Tasks
from app.main_window import MainWindow
from app.problem_words import sentence
from app.settings.index import ENTRIES, PAGES, page_spec
from orchestration.errors import UserError

if TYPE_CHECKING:
    from app.settings.access import Access
    from app.settings.view import SettingsView
    from orchestration.backend import Backend

TEXT_KEY = "text_percent"
_LOOK_MS = 200


class SettingsOpener(QObject):
    """The settings of one window; the view is made when it is first asked for.

    Args:
        window: the window.
        backend: whose settings they are.
        tasks: what work runs in.
        take_over: called after each change, so that what can run now is shown as such.
    """

    def __init__(
        self, window: MainWindow, backend: Backend, tasks: Tasks, take_over: Callable[[], None]
    ) -> None:
        super().__init__(window)
        self._window = window
        self._backend = backend
        self._tasks = tasks
        self._access: Access | None = None
        self._view: SettingsView | None = None
        self._take_over = take_over
        percent = window.state.text(TEXT_KEY)
        if percent.isascii() and percent.isdigit():
            window.theme.set_text_percent(int(percent[:4]))
        window.theme.changed.connect(self._mirror)
        self._end_watch = backend.watch_settings(take_over)
        self._files = QFileSystemWatcher(self)
        if backend.data_dir.is_dir():
            self._files.addPath(str(backend.data_dir))
        self._files.directoryChanged.connect(self._look_soon)
        self._files.fileChanged.connect(self._look_soon)
        self._due = QTimer(self)
        self._due.setSingleShot(True)
        self._due.setInterval(_LOOK_MS)
        self._due.timeout.connect(self.look)

    @property
    def view(self) -> SettingsView:
        """The settings themselves."""
        if self._view is None:
            from app.settings.access import Access
            from app.settings.view import SettingsView

            self._access = Access(self._window, self._backend, self._tasks, self)
            self._view = SettingsView(self._access)
        return self._view

    def act(self, action_id: str) -> bool:
        """Do what was asked for; tells whether it is one of these."""
        if action_id != "settings":
            return False
        if self._view is not None and self._view.isVisible():
            self._view.dismiss()
        else:
            self.open()
        return True

    def open(self, key: str = "") -> None:
        """Show the settings, at an entry of their index if one is named."""
        self._watch_file()
        self.look()
        self.view.open(key)

    def choices(self) -> Iterable[Choice]:
        """What the palette can go to; `open` takes the keys."""
        for spec in PAGES:
            yield Choice(spec.id, f"Settings: {spec.title}", "", "Settings")
        for entry in ENTRIES:
            yield Choice(entry.key, entry.title, page_spec(entry.page).title, "Settings")
        for status in self._backend.providers():
            title = f"{status.label}: key and models"
            yield Choice(f"provider:{status.id}#key", title, "Providers", "Settings")

    def look(self) -> None:
        """Take over what somebody else has written into the settings file."""
        self._tasks.spawn(self._look(), "look at the settings file")

    def close(self) -> None:
        """Look no more; what is under way for a page ends."""
        self._due.stop()
        self._end_watch()
        self._window.theme.changed.disconnect(self._mirror)
        paths = [*self._files.directories(), *self._files.files()]
        if paths:
            self._files.removePaths(paths)
        if self._view is not None and self._access is not None:
            self._view.hide()
            self._access.close()

    def _mirror(self) -> None:
        """Check in the menu what was chosen in another window: they look alike."""
        theme, actions = self._window.theme, self._window.actions_
        actions[f"theme_{theme.mode}"].setChecked(True)
        actions["reduced_motion"].setChecked(theme.is_motion_reduced)

    def _look_soon(self) -> None:
        self._due.start()

    def _watch_file(self) -> None:
        folder = str(self._backend.data_dir)
        if not self._files.directories() and self._backend.data_dir.is_dir():
            self._files.addPath(folder)
        file = str(self._backend.data_dir / "settings.json")
        if file not in self._files.files() and (self._backend.data_dir / "settings.json").is_file():
            self._files.addPath(file)

    async def _look(self) -> None:
        try:
            notices = await self._backend.reload_settings()
        except UserError as error:
            self._window.toasts.show_error(sentence(error))
            return
        for notice in notices:
            self._window.toasts.show_error(sentence(notice))
        self._watch_file()
