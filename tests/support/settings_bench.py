"""The settings over a real backend, in a window that has nothing else in it.

Run as `python -m tests.support.settings_bench FOLDER --theme dark --size 1024x700` it writes a
picture of every page.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from app.kit.tasks import Tasks
from app.kit.toasts import Toasts
from app.kit.window_state import WindowState
from app.main_window import MainWindow
from app.settings.access import Access
from app.settings.index import PAGES
from app.settings.page import Page
from app.settings.view import SettingsView
from app.theme.theme import Theme
from orchestration.backend import Backend
from orchestration.composition import open_backend
from tests.support.qt_loop import QtLoop, turns, until


class BareWindow(QMainWindow):
    """As much of the main window as the settings ask for."""

    def __init__(self, theme: str = "light") -> None:
        super().__init__()
        self.state = WindowState(None)
        self.theme = Theme(theme, self)
        self.theme.dress()
        self.canvas = QWidget(self)
        self.setCentralWidget(self.canvas)
        self.toasts = Toasts(self.theme, self, 48)
        names = ("theme_system", "theme_light", "theme_dark", "reduced_motion")
        self.actions_ = {name: QAction(name, self) for name in names}
        for name, action in self.actions_.items():
            action.setCheckable(True)
            mode = name.removeprefix("theme_")
            if mode != name:
                action.triggered.connect(lambda _, mode=mode: self.theme.set_mode(mode))


class SettingsBench:
    """A view, its window and its backend."""

    def __init__(self, backend: Backend, theme: str = "light", size: str = "1024x700") -> None:
        self.backend = backend
        self.window = BareWindow(theme)
        self.unforeseen: list[BaseException] = []
        self.tasks = Tasks(self.unforeseen.append)
        width, height = map(int, size.split("x"))
        self.window.resize(width, height)
        self.window.show()
        self.access = Access(cast(MainWindow, self.window), backend, self.tasks, self.window)
        self.view = SettingsView(self.access)

    async def open(self, key: str) -> Page:
        """Open a page and wait until it has looked up what it shows."""
        self.view.open(key)
        await self.settle()
        page = self.view.page
        assert page is not None
        return page

    async def settle(self) -> None:
        """Let everything that was asked for be done."""
        await until(lambda: self.tasks.count == 0, "something goes on for ever")
        await turns(5)
        assert not self.unforeseen, self.unforeseen

    async def close(self) -> None:
        """End the view and the backend."""
        self.view.hide()
        await self.tasks.drain(5)
        self.access.close()
        await self.backend.aclose()
        self.window.hide()
        self.window.deleteLater()


def type_into(line: QWidget, text: str) -> None:
    """Write a text into a line in place of what is there, key by key."""
    line.setFocus()
    line.selectAll()  # type: ignore[attr-defined]
    if text:
        QTest.keyClicks(line, text)
    else:
        line.clear()  # type: ignore[attr-defined]
        line.textEdited.emit("")  # type: ignore[attr-defined]


def opened(data_dir: Path, env: Mapping[str, str] | None = None) -> Backend:
    """A backend of a folder, with no environment but this."""
    data_dir.mkdir(parents=True, exist_ok=True)
    return open_backend(data_dir, env=env or {})


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--theme", default="light")
    parser.add_argument("--size", default="1024x700")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pages", nargs="*")
    parser.add_argument("--env", nargs="*", default=[])
    options = parser.parse_args()
    application = QApplication([])
    env = dict(pair.split("=", 1) for pair in options.env)
    loop = QtLoop(application)

    async def take() -> None:
        bench = SettingsBench(opened(options.data, env), options.theme, options.size)
        for key in options.pages or [spec.id for spec in PAGES]:
            await bench.open(key)
            await asyncio.sleep(0.3)
            name = key.replace(":", "-").replace("#", "-")
            options.folder.mkdir(parents=True, exist_ok=True)
            file = options.folder / f"{name}-{options.theme}-{options.size}.png"
            bench.window.grab().save(str(file))
        await bench.close()

    loop.run(take())
    loop.close()


if __name__ == "__main__":
    main()
