"""One open workflow in a window: its document, what is drawn of it, and how it is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.canvas.document import WorkflowDocument
from app.canvas.scene import WorkflowScene
from app.canvas.view import CanvasView
from app.kit.visible import visible
from app.theme.theme import Theme

if TYPE_CHECKING:
    from app.actions import Actions
    from app.canvas.minimap import Minimap

Panel = TypeVar("Panel", bound=QWidget)


class Desk(QObject):
    """What one tab has of its own.

    Attributes:
        panels: What lies over its canvas, by class; made by whoever needs it.
        remembered: What was in view the last time, for a canvas that has drawn nothing yet.
    """

    minimap: Minimap

    def __init__(self, document: WorkflowDocument, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        document.setParent(self)
        self.document = document
        self.scene = WorkflowScene(document, theme, self)
        self.canvas = CanvasView(self.scene, document, theme, parent)
        self.canvas.setMinimumHeight(120)
        self.panels: dict[type[QWidget], QWidget] = {}
        self.remembered = ""
        self._theme = theme
        self._bar: QWidget | None = None

    @property
    def name(self) -> str:
        """What the workflow is called, else its file; empty where nothing is open."""
        document = self.document
        return visible(document.graph.name or (document.path.stem if document.path else ""))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is open here."""
        return self.document.path is None and not self.document.graph.cards

    @property
    def is_furnished(self) -> bool:
        """Whether the canvas has its map and its buttons."""
        return self._bar is not None

    def furnish(self, actions: Actions, *, with_map: bool) -> None:
        """Put the map and the zoom buttons of a window over the canvas."""
        # Imported here: the first frame does without them.
        from app.canvas.minimap import Minimap
        from app.canvas.zoom_bar import ZoomBar

        actions.join_canvas(self.canvas)
        self._bar = ZoomBar(self._theme, actions, self.canvas)
        self._bar.show()
        self.minimap = Minimap(self.canvas, self.scene, self.document, self._theme)
        self.minimap.set_wanted(with_map)

    def strip(self, actions: Actions) -> None:
        """Take away what belongs to one window, before the canvas goes to another one."""
        actions.leave_canvas(self.canvas)
        for panel in (self._bar, self.minimap, *self.panels.values()):
            if panel is not None:
                panel.hide()
                panel.setParent(None)
                panel.deleteLater()
        self.panels.clear()
        self._bar = None

    def look_as_before(self) -> None:
        """Look at what was in view the last time, once there is something to look at."""
        self.canvas.look_at(self.remembered)
        self.remembered = ""

    def looking_at(self) -> str:
        """What is in view, as text for the next start."""
        return self.remembered or self.canvas.looking_at()
