"""What the window remembers from one start to the next, in an INI file of the data folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

_MOST_RECENT = 12
_OF_ONE_WINDOW = frozenset(
    {"geometry", "columns", "rows", "sidebar", "dock_folded", "inspector", "tabs"}
)


class WindowState:
    """Sizes, theme, open documents and recent ones. Without a folder nothing is kept.

    Sizes and tabs are those of one window; everything else all windows have in common.

    Attributes:
        number: Which window this is of; the first one is 0.
    """

    def __init__(self, data_dir: Path | None) -> None:
        self.number = 0
        self._settings: QSettings | None = None
        self._memory: dict[str, Any] = {}
        if data_dir is not None:
            file = str(data_dir / "window.ini")
            self._settings = QSettings(file, QSettings.Format.IniFormat)

    def of_window(self, number: int) -> WindowState:
        """The state of another window, kept in the same place."""
        other = WindowState(None)
        other.number = number
        other._settings, other._memory = self._settings, self._memory
        return other

    def windows(self) -> list[int]:
        """The numbers of the windows of the last time, the first one first."""
        try:
            return [int(number) for number in json.loads(self.text("windows", "[0]"))] or [0]
        except (ValueError, TypeError):
            return [0]

    def keep_windows(self, numbers: Sequence[int]) -> None:
        """Keep which windows there are."""
        self.put("windows", json.dumps(list(numbers)))

    def tabs(self) -> tuple[list[tuple[Path, str]], int]:
        """The files of the window's tabs, each with what was in view, and which was in front."""
        try:
            kept = json.loads(self.text("tabs", "{}"))
            tabs = [(Path(str(path)), str(view)) for path, view in kept.get("files", ())]
            return tabs, min(max(0, int(kept.get("front", 0))), max(0, len(tabs) - 1))
        except (ValueError, TypeError, AttributeError):
            return [], 0

    def keep_tabs(self, tabs: Sequence[tuple[Path, str]], front: int) -> None:
        """Keep the tabs of the window."""
        files = [[str(path), view] for path, view in tabs]
        self.put("tabs", json.dumps({"files": files, "front": front}))

    def text(self, key: str, default: str = "") -> str:
        """A stored text."""
        value = self._get(key)
        return value if isinstance(value, str) else default

    def flag(self, key: str, default: bool) -> bool:
        """A stored yes or no."""
        value = self._get(key)
        return default if value is None else str(value).lower() == "true"

    def data(self, key: str) -> QByteArray | None:
        """Stored bytes, such as a geometry."""
        value = self._get(key)
        return value if isinstance(value, QByteArray) else None

    def put(self, key: str, value: Any) -> None:
        """Keep a value."""
        if self._settings is None:
            self._memory[self._place(key)] = value
        else:
            self._settings.setValue(self._place(key), value)

    def save(self) -> None:
        """Write what was put."""
        if self._settings is not None:
            self._settings.sync()

    def recent(self) -> list[tuple[Path, str]]:
        """Workflows that were open before, newest first: file and name."""
        try:
            stored = json.loads(self.text("recent", "[]"))
            return [(Path(str(path)), str(name)) for path, name in stored]
        except (ValueError, TypeError):
            return []

    def remember_open(self, path: Path, name: str) -> None:
        """A workflow is open now."""
        others = [each for each in self.recent() if each[0] != path]
        entries = [(path, name), *others][:_MOST_RECENT]
        self.put("recent", json.dumps([[str(file), title] for file, title in entries]))
        self.put("open", str(path))

    def forget(self, path: Path) -> None:
        """A workflow's file is gone."""
        entries = [each for each in self.recent() if each[0] != path]
        self.put("recent", json.dumps([[str(file), title] for file, title in entries]))

    def rename(self, path: Path, name: str) -> None:
        """A workflow that was open before has another name."""
        entries = [(file, name if file == path else title) for file, title in self.recent()]
        self.put("recent", json.dumps([[str(file), title] for file, title in entries]))

    def _get(self, key: str) -> Any:
        if self._settings is None:
            return self._memory.get(self._place(key))
        return self._settings.value(self._place(key))

    def _place(self, key: str) -> str:
        return f"window{self.number}/{key}" if self.number and key in _OF_ONE_WINDOW else key
