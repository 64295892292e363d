"""The window: the first frame from a light reading of the file, everything else right after it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

import resources
from app import event_loop
from app.canvas.document import WorkflowDocument
from app.canvas.graph_sketch import SketchError, read_sketch
from app.kit.window_state import WindowState
from app.main_window import MainWindow
from orchestration.settings.data_folder import data_folder

if TYPE_CHECKING:
    from app.workbench import Workbench
    from orchestration.backend import Backend

EXAMPLE = "feature-planning.workflow.json"


def run_window(path: Path | None, data_dir: Path | None) -> int:
    """Open the window and give the exit status of the program.

    Args:
        path: The workflow to open; without one the last one, at the first start the example.
        data_dir: Where settings and runs live; without one the platform's place.
    """
    folder = data_folder(data_dir, os.environ)

    def open_window(application: QApplication) -> MainWindow:
        return first_window(application, path, WindowState(folder))

    async def start_work(window: MainWindow) -> Workbench:
        return await work_behind(window, folder)

    return event_loop.run(open_window, start_work)


def first_window(application: QApplication, path: Path | None, state: WindowState) -> MainWindow:
    """The window with the outline of a workflow in it; the full model is read later."""
    document = WorkflowDocument()
    file = path or _last_or_example(state)
    if file is not None:
        file = file.absolute()
        try:
            document.show_sketch(file, read_sketch(file.read_bytes()))
        except (OSError, SketchError):
            # Reading it in full will say what is wrong, in a sentence.
            document.path = file
    window = MainWindow(application, document, state)
    document.setParent(window)
    return window


async def work_behind(window: MainWindow, folder: Path) -> Workbench:
    """Load what runs workflows, off the UI thread, and join it to the window."""
    import asyncio

    workbench_class, open_backend = await asyncio.to_thread(_load)
    workbench = workbench_class(window, open_backend(folder))
    workbench.begin(window.document.path)
    return workbench


def _load() -> tuple[type[Workbench], Callable[[Path], Backend]]:
    """Imported here, after the first frame: together they take longer than the frame itself."""
    from app.workbench import Workbench
    from orchestration.composition import open_backend

    return Workbench, open_backend


def _last_or_example(state: WindowState) -> Path | None:
    last = state.text("open")
    if last and Path(last).is_file():
        return Path(last)
    example = Path(resources.__file__ or "").parent / "examples" / EXAMPLE
    return example if example.is_file() else None
