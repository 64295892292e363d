"""Pictures of cards: a card is painted once for a scale and then only copied."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap, QTransform

_MOST_BYTES = 64 * 1024 * 1024
_BYTES_PER_PIXEL = 4
_WIDEST_STRETCH = 2.5
"""A picture that would have to be stretched or shrunk further than this is painted anew."""


class _Picture(NamedTuple):
    pixmap: QPixmap
    scale: float
    look: object
    bytes: int


class CardPictures:
    """Keeps the pictures that were shown last.

    Attributes:
        is_zooming: Pictures of other scales will do for now, stretched.
        are_stretched: Some that are shown were stretched and are to be painted anew at rest.
    """

    def __init__(self) -> None:
        self.is_zooming = False
        self.are_stretched = False
        self._pictures: OrderedDict[str, _Picture] = OrderedDict()
        self._bytes = 0

    def show(
        self,
        painter: QPainter,
        key: str,
        look: object,
        bounds: QRectF,
        paint: Callable[[QPainter], None],
    ) -> None:
        """Show the picture called `key`, painted by `paint` where there is none for this `look`.

        At rest its pixels are those of the screen, whatever the scale factor; `bounds` is in the
        coordinates of the painter, whose transform is not kept.
        """
        world = painter.worldTransform()
        ratio = painter.device().devicePixelRatioF()
        scale = world.m11() * ratio
        picture = self._pictures.get(key)
        if picture is None or not self._will_do(picture, scale, look):
            picture = self._painted(key, look, bounds, scale, ratio, paint)
        self._pictures.move_to_end(key)
        if picture.scale == scale:
            corner = world.map(bounds.topLeft()) * ratio
            painter.setWorldTransform(QTransform())
            at = QPointF(round(corner.x()), round(corner.y())) / ratio
            painter.drawPixmap(at, picture.pixmap)
        else:
            self.are_stretched = True
            part = QRectF(QPointF(), bounds.size() * picture.scale)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawPixmap(bounds, picture.pixmap, part)

    def forget(self, key: str) -> None:
        """Have this picture painted anew when it is shown next."""
        picture = self._pictures.pop(key, None)
        if picture is not None:
            self._bytes -= picture.bytes

    def clear(self) -> None:
        """Have every picture painted anew."""
        self._pictures.clear()
        self._bytes = 0

    def _will_do(self, picture: _Picture, scale: float, look: object) -> bool:
        if picture.look != look:
            return False
        if picture.scale == scale:
            return True
        stretch = scale / picture.scale
        return self.is_zooming and 1 / _WIDEST_STRETCH < stretch < _WIDEST_STRETCH

    def _painted(
        self,
        key: str,
        look: object,
        bounds: QRectF,
        scale: float,
        ratio: float,
        paint: Callable[[QPainter], None],
    ) -> _Picture:
        self.forget(key)
        size = (bounds.size() * scale).toSize()
        # A pixel more than was rounded to, so that nothing is cut.
        pixmap = QPixmap(size.width() + 1, size.height() + 1)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        try:
            painter.scale(scale, scale)
            painter.translate(-bounds.topLeft())
            paint(painter)
        finally:
            painter.end()
        pixmap.setDevicePixelRatio(ratio)
        taken = pixmap.width() * pixmap.height() * _BYTES_PER_PIXEL
        picture = self._pictures[key] = _Picture(pixmap, scale, look, taken)
        self._bytes += taken
        while self._bytes > _MOST_BYTES and len(self._pictures) > 1:
            _, oldest = self._pictures.popitem(last=False)
            self._bytes -= oldest.bytes
        return picture
