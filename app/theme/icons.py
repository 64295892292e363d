"""The program's own icons, drawn in one colour and tinted with the theme's."""

from __future__ import annotations

import os

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPixmap

import resources
from app.theme.tokens import Tokens

_FOLDER = os.path.join(os.path.dirname(resources.__file__), "icons")


class IconSet:
    """Icons in the colours of one scheme; each is drawn once per size of screen dot."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._drawings: dict[str, str] = {}
        self._icons: dict[tuple[str, str, int], QIcon] = {}

    def icon(self, name: str, color: str = "text_second", size: int = 16) -> QIcon:
        """The icon `name` in the token `color` at `size` device-independent pixels."""
        key = (name, color, size)
        icon = self._icons.get(key)
        if icon is None:
            icon = QIcon(self.pixmap(name, color, size))
            faint = self._tokens.tint("text_second", 0.6).name(QColor.NameFormat.HexArgb)
            icon.addPixmap(self._draw(name, faint, size), QIcon.Mode.Disabled)
            self._icons[key] = icon
        return icon

    def pixmap(self, name: str, color: str = "text_second", size: int = 16) -> QPixmap:
        """The same as a picture for labels and own painting."""
        return self._draw(name, getattr(self._tokens, color), size)

    def _draw(self, name: str, color: str, size: int) -> QPixmap:
        drawing = self._drawings.get(name)
        if drawing is None:
            with open(os.path.join(_FOLDER, f"{name}.svg"), encoding="utf-8") as file:
                drawing = self._drawings[name] = file.read()
        ratio = QGuiApplication.instance().devicePixelRatio()  # type: ignore[union-attr]
        dots = round(size * ratio)
        opacity = ""
        if len(color) == 9:
            opacity = f' opacity="{int(color[1:3], 16) / 255:.3f}"'
            color = "#" + color[3:]
        text = (
            drawing.replace("currentColor", color)
            .replace('width="16"', f'width="{dots}"', 1)
            .replace('height="16"', f'height="{dots}"{opacity}', 1)
        )
        pixmap = QPixmap()
        pixmap.loadFromData(QByteArray(text.encode()), "SVG")
        if pixmap.width() != dots:
            pixmap = pixmap.scaled(
                dots,
                dots,
                Qt.AspectRatioMode.KeepAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
        pixmap.setDevicePixelRatio(ratio)
        return pixmap
