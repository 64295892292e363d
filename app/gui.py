"""The window: the first frame from a light reading of the file, everything else right after it."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from orchestration.errors import UserError

if TYPE_CHECKING:
    from app.event_loop import Work
    from app.main_window import MainWindow
    from app.program import Program
    from orchestration.backend import Backend


def run_window(path: Path | None, data_dir: Path | None) -> int:
    """Open the window and give the exit status of the program.

    Args:
        path: The workflow to open; without one the last one, at the first start the example.
        data_dir: Where settings and runs live; without one the platform's place.
    """
    # Loading makes a hundred thousand objects that all stay: looking for garbage among them takes
    # a tenth of the time to the first frame. The collector comes back with the event loop.
    gc.disable()
    from app import event_loop
    from app.first_window import first_window

    async def start_work(window: MainWindow) -> Work:
        return await work_behind(window, data_dir)

    return event_loop.run(lambda: first_window(path, data_dir), start_work)


async def work_behind(window: MainWindow, data_dir: Path | None) -> Work:
    """Load what runs workflows, off the UI thread, and join it to the window."""
    import asyncio

    window.furnish()
    program_class, open_backend = await asyncio.to_thread(_load)
    try:
        backend = open_backend(data_dir)
    except UserError as error:
        window.toasts.show_error(str(error))
        return WindowAlone(window)
    program = program_class(window, backend)
    program.begin()
    program.workbenches[0].lookups.tour.begin_once()
    return program


class WindowAlone:
    """What is behind a window whose settings cannot be read: nothing, but it can be closed."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.windows = [window]

    def on_end(self, wish: Callable[[], None]) -> None:
        """Call `wish` when the person wants to end the program."""
        self._window.close_requested.connect(wish)
        self._window.quit_requested.connect(wish)

    async def agrees_to_close(self) -> bool:
        """There is nothing to lose."""
        return True

    async def close(self) -> None:
        """There is nothing to end."""

    def report(self, error: BaseException) -> None:
        """Tell of a failure that nobody has foreseen."""
        self._window.toasts.show_error(f"Something unexpected happened: {error}")


def _load() -> tuple[type[Program], Callable[[Path | None], Backend]]:
    """Imported here, after the first frame: together they take longer than the frame itself."""
    from app.program import Program
    from orchestration.composition import open_backend

    return Program, open_backend
