"""What the window remembers from one start to the next, in an INI file of the data folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

_MOST_RECENT = 12


class WindowState:
    """Sizes, theme, open document and recent ones. Without a folder nothing is kept."""

    def __init__(self, data_dir: Path | None) -> None:
        self._settings: QSettings | None = None
        self._memory: dict[str, Any] = {}
        if data_dir is not None:
            file = str(data_dir / "window.ini")
            self._settings = QSettings(file, QSettings.Format.IniFormat)

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
            self._memory[key] = value
        else:
            self._settings.setValue(key, value)

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
            return self._memory.get(key)
        return self._settings.value(key)
