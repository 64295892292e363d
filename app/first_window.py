"""The window as it is at first: the outline of a workflow, and nothing behind it yet."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QStandardPaths

import resources
from app.canvas.document import WorkflowDocument
from app.canvas.graph_sketch import SketchError, read_sketch
from app.kit.window_state import WindowState
from app.main_window import MainWindow
from orchestration.settings.data_folder import DATA_DIR_VARIABLE, data_folder

EXAMPLE = "feature-planning.workflow.json"


def first_window(path: Path | None, data_dir: Path | None) -> MainWindow:
    """The window with the last workflow, or with the one at `path`, read lightly.

    Needs an application object. The full model is read later, by the workbench.
    """
    state = WindowState(state_folder(data_dir))
    return window_with(path, state.of_window(state.windows()[0]))


def window_with(
    path: Path | None, state: WindowState, beside: MainWindow | None = None
) -> MainWindow:
    """The same with a given memory, perhaps `beside` a window that is there already."""
    document = WorkflowDocument()
    tabs, front = state.tabs()
    file = path or (tabs[front][0] if tabs else None)
    if file is None and beside is None:
        file = _last_or_example(state)
    if file is not None:
        file = file.absolute()
        try:
            document.show_sketch(file, read_sketch(file.read_bytes()))
        except (OSError, SketchError):
            # Reading it in full will say what is wrong, in a sentence.
            document.path = file
    window = MainWindow(document, state, beside.theme if beside is not None else None)
    window.desks.front.remembered = dict(tabs).get(file, "") if file is not None else ""
    window.desks.front.look_as_before()
    return window


def state_folder(data_dir: Path | None) -> Path:
    """Where the window keeps its state: the data folder.

    Where nobody has named it, Qt says where it is; asking the library that the settings ask takes
    longer and gives the same.
    """
    if data_dir is not None or os.environ.get(DATA_DIR_VARIABLE, "").strip():
        return data_folder(data_dir, os.environ)
    generic = QStandardPaths.StandardLocation.GenericDataLocation
    return Path(QStandardPaths.writableLocation(generic)) / "openflow"


def _last_or_example(state: WindowState) -> Path | None:
    last = state.text("open")
    if last and Path(last).is_file():
        return Path(last)
    example = Path(resources.__file__ or "").parent / "examples" / EXAMPLE
    return example if example.is_file() else None
