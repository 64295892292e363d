"""What the Edit and Arrange menus do, and what a canvas asks for: the commands get their values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import QObject, QPoint, QPointF
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from app.canvas import commands
from app.canvas.geometry import CARD_HEIGHT, CARD_WIDTH
from app.canvas.hits import Hit
from app.canvas.inline_editor import InlineEditor
from app.canvas.note_item import COLORS
from app.kit.choice_popup import Choice, ChoicePopup
from app.main_window import MainWindow
from orchestration.chats.chat_files import is_chat_file

if TYPE_CHECKING:
    from app.canvas.document import WorkflowDocument
    from app.canvas.scene import WorkflowScene
    from app.canvas.view import CanvasView
    from app.desk import Desk
    from engine.graph.agents import CallableAgent
    from engine.graph.templates import NodeTemplate
    from engine.graph.workflow import Node

_NOTE_SIZE = (256.0, 144.0)
_FRAME_MARGIN = 32.0
_FRAME_SIZE = (640.0, 400.0)
_FOR_ONE = ("rename", "connect", "save_agent")
_COLOR_NAMES = dict(zip(COLORS, ("Plain", "Blue", "Green", "Amber", "Red"), strict=True))


class Editing(QObject):
    """Editing in one window; every change goes through `app.canvas.commands`.

    Attributes:
        agents: The saved agents that a new node can be a copy of.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._inlines: dict[Desk, InlineEditor] = {}
        self.picker = ChoicePopup(window.theme, window, "New node")
        self.agents: tuple[CallableAgent, ...] = ()
        self._menu: QMenu | None = None
        self._wanted_at = QPointF()
        self._anchor = ("", "")
        self._handlers = self._actions()
        self._connect()
        self._show_what_can_be_done()

    @property
    def inline(self) -> InlineEditor:
        """What writes on the canvas in front."""
        return self._inlines[self._window.desks.front]

    @property
    def menu(self) -> QMenu | None:
        """The context menu that was opened last."""
        return self._menu

    def act(self, action_id: str) -> bool:
        """Do what an action asks for; tells whether it is one of editing."""
        handler = self._handlers.get(action_id)
        if handler is not None:
            handler()
        return handler is not None

    def add(self, key: str) -> None:
        """Add a node in the middle of what is seen; `key` is that of an entry of the picker."""
        if is_chat_file(self._document.path):
            return  # a chat has one agent
        if self._document.workflow is not None:
            self._wanted_at, self._anchor = self._middle(), ("", "")
            self._add_picked(key)

    @property
    def _document(self) -> WorkflowDocument:
        return self._window.document

    @property
    def _scene(self) -> WorkflowScene:
        return self._window.scene

    @property
    def _view(self) -> CanvasView:
        return self._window.canvas

    def _connect(self) -> None:
        desks = self._window.desks
        for desk in desks.all:
            self._join(desk)
        desks.arrived.connect(self._join)
        desks.leaving.connect(self._leave)
        self.picker.chosen.connect(self._add_picked)
        for change in (desks.undo_changed, desks.replaced, desks.edited, desks.choice_changed):
            change.connect(self._show_what_can_be_done)

    def _join(self, desk: Desk) -> None:
        """Do what is asked for on this canvas; only the one in front can ask."""
        inline = InlineEditor(desk.canvas, desk.scene, desk.document)
        self._inlines[desk] = inline
        pointer, keyboard = desk.canvas.pointer, desk.canvas.keyboard
        pointer.node_wanted.connect(self._offer_nodes)
        pointer.note_opened.connect(inline.write_note)
        pointer.menu_wanted.connect(self._open_menu)
        keyboard.rename_wanted.connect(inline.rename)
        for refused in (pointer.refused, keyboard.refused):
            refused.connect(self._window.toasts.show_error)

    def _leave(self, desk: Desk) -> None:
        inline = self._inlines.pop(desk)
        inline.keep()
        pointer, keyboard = desk.canvas.pointer, desk.canvas.keyboard
        pointer.node_wanted.disconnect(self._offer_nodes)
        pointer.menu_wanted.disconnect(self._open_menu)
        for refused in (pointer.refused, keyboard.refused):
            refused.disconnect(self._window.toasts.show_error)
        inline.deleteLater()

    def _undo(self) -> None:
        self._document.undo_stack.undo()

    def _redo(self) -> None:
        self._document.undo_stack.redo()

    def _delete(self) -> None:
        self._view.keyboard.delete_chosen()

    def _actions(self) -> dict[str, Callable[[], object]]:
        handlers: dict[str, Callable[[], object]] = {
            "undo": self._undo,
            "redo": self._redo,
            "cut": self._cut,
            "copy": self._copy,
            "paste": self._paste,
            "duplicate": self._duplicate,
            "delete": self._delete,
            "select_all": self._select_all,
            "rename": self._rename,
            "add_node": self._add_in_the_middle,
            "connect": self._begin_connecting,
            "add_note": partial(self._add_annotation, "note"),
            "add_frame": partial(self._add_annotation, "frame"),
            "arrange": self._arrange,
        }
        for side in get_args(commands.Side):
            handlers[f"align_{side}"] = partial(self._align, side)
        for axis in get_args(commands.Axis):
            handlers[f"distribute_{axis}"] = partial(self._distribute, axis)
        return handlers

    def _chosen(self) -> list[str]:
        return [item.card.id for item in self._scene.chosen_items()]

    def _copy(self) -> None:
        from engine.graph.fragments import copied, fragment_text

        workflow, chosen = self._document.workflow, self._chosen()
        if workflow is not None and chosen:
            QGuiApplication.clipboard().setText(fragment_text(copied(workflow, chosen)))

    def _cut(self) -> None:
        self._copy()
        if self._chosen():
            commands.delete(self._document, nodes=self._chosen())

    def _paste(self, at: QPointF | None = None) -> None:
        from engine.graph.fragments import read_fragment

        fragment = read_fragment(QGuiApplication.clipboard().text())
        if fragment is None or not fragment.nodes:
            self._window.toasts.show_error("There are no nodes on the clipboard")
            return
        place = None if at is None else (commands.snapped(at.x()), commands.snapped(at.y()))
        self._scene.choose(nodes=commands.paste(self._document, fragment, at=place))

    def _duplicate(self) -> None:
        self._scene.choose(nodes=commands.duplicate(self._document, self._chosen()))

    def _select_all(self) -> None:
        scene = self._scene
        scene.choose(
            nodes=scene.items_by_node,
            notes=scene.notes,
            edges=[shape.wire.id for shape in scene.edges.shapes()],
        )

    def _rename(self) -> None:
        self._view.reveal(self._scene.chosen_node())
        self.inline.rename(self._scene.chosen_node())

    def _begin_connecting(self) -> None:
        self._view.setFocus()
        self._view.keyboard.begin_connecting(self._scene.chosen_node())

    def _arrange(self) -> None:
        commands.arrange(self._document)
        self._view.glide_to_fit()

    def _align(self, side: commands.Side) -> None:
        commands.align(self._document, self._chosen(), side)

    def _distribute(self, axis: commands.Axis) -> None:
        commands.distribute(self._document, self._chosen(), axis)

    def _add_in_the_middle(self) -> None:
        self._offer_nodes(self._middle(), "", "")

    def _middle(self) -> QPointF:
        """Where a card is in the middle of what is seen."""
        middle = self._view.mapToScene(self._view.viewport().rect().center())
        return middle - QPointF(CARD_WIDTH / 2, CARD_HEIGHT / 2)

    def _offer_nodes(self, at: QPointF, fixed: str, loose: str) -> None:
        """Ask what kind of node; `fixed` and `loose` say what it is connected with."""
        if self._document.workflow is None:
            return
        self._wanted_at, self._anchor = at, (fixed, loose)
        corner = self._view.viewport().mapTo(self._window, self._view.mapFromScene(at))
        entries = [
            Choice(f"template:{template.id}", template.display_name, template.description)
            for template in _templates()
        ]
        entries += [
            Choice(f"agent:{agent.id}", agent.name, agent.purpose, agent.model or "Saved agent")
            for agent in self.agents
        ]
        self.picker.ask(entries, "What kind of node?", corner + QPoint(8, 8))

    def _add_picked(self, key: str) -> None:
        fixed, loose = self._anchor
        if self._document.card(fixed) is None:
            # It was deleted while the list was open.
            fixed = ""
        node_id = commands.add_node(
            self._document,
            (self._wanted_at.x(), self._wanted_at.y()),
            template=self._picked(key),
            after=fixed if loose == "target" else "",
            before=fixed if loose == "source" else "",
        )
        self._scene.choose_node(node_id)
        self._view.reveal(node_id)
        self._view.setFocus()
        self.inline.rename(node_id)

    def _picked(self, key: str) -> Node:
        from engine.graph.workflow import Position
        from orchestration.library.agent_shape import node_from

        kind, _, wanted = key.partition(":")
        if kind == "agent":
            return node_from(next(agent for agent in self.agents if agent.id == wanted))
        template = next(each for each in _templates() if each.id == wanted)
        return template.instantiate("new", Position(x=0, y=0))

    def _add_annotation(self, kind: str, at: QPointF | None = None) -> None:
        from engine.graph.workflow import Annotation, Position

        if self._document.workflow is None:
            return
        width, height = _NOTE_SIZE if kind == "note" else _FRAME_SIZE
        around = self._scene.bounds_of(self._chosen())
        if kind == "frame" and not around.isEmpty():
            margin = _FRAME_MARGIN
            around = around.adjusted(-margin, -margin * 1.6, margin, margin)
            corner, width, height = around.topLeft(), around.width(), around.height()
        elif at is not None:
            corner = at
        else:
            middle = self._view.mapToScene(self._view.viewport().rect().center())
            corner = middle - QPointF(width / 2, height / 2)
        place = Position(x=commands.snapped(corner.x()), y=commands.snapped(corner.y()))
        note_id = commands.new_id()
        text = "" if kind == "note" else "Frame"
        commands.add_annotation(
            self._document,
            Annotation.model_validate(
                {
                    "id": note_id,
                    "kind": kind,
                    "text": text,
                    "position": place,
                    "width": width,
                    "height": height,
                }
            ),
        )
        self._scene.choose(notes=[note_id])
        self.inline.write_note(note_id)

    def _color_notes(self, color: str) -> None:
        from engine.graph import edits

        for item in self._scene.chosen_notes():
            change = partial(edits.change_annotation, annotation_id=item.annotation.id, color=color)
            self._document.edit("Color note", change)

    def _open_menu(self, found: Hit, at: QPointF, screen: QPoint) -> None:
        if self._menu is not None:
            self._menu.deleteLater()
        self._menu = menu = QMenu(self._window)
        actions = self._window.actions_
        wanted: tuple[str, ...]
        if found.kind in ("node", "port"):
            wanted = ("rename", "connect", "", "cut", "copy", "duplicate", "delete", "")
            wanted += ("add_frame", "save_agent")
            steered = ("interrupt_node", "retry_node", "node_settings")
            running = [each for each in steered if actions[each].isEnabled()]
            wanted = (*running, "", *wanted) if running else wanted
            if len(self._chosen()) > 1:
                wanted = tuple(each for each in wanted if each not in _FOR_ONE)[1:]
                self._add_arranging(menu)
        elif found.kind in ("note", "note_handle"):
            wanted = ("delete",)
            write = menu.addAction("Write…")
            write.triggered.connect(
                partial(_ignoring_check, partial(self.inline.write_note, found.id))
            )
            colors = menu.addMenu("Color")
            for color, name in _COLOR_NAMES.items():
                entry = colors.addAction(name)
                entry.triggered.connect(partial(_ignoring_check, partial(self._color_notes, color)))
        elif found.kind in ("edge", "edge_end"):
            wanted = ("delete",)
        else:
            for name, handler in (
                ("Add Node Here…", partial(self._offer_nodes, at, "", "")),
                ("Add Note Here", partial(self._add_annotation, "note", at)),
                ("Add Frame Here", partial(self._add_annotation, "frame", at)),
                ("Paste Here", partial(self._paste, at)),
            ):
                entry = menu.addAction(name)
                entry.setEnabled(self._document.workflow is not None)
                entry.triggered.connect(partial(_ignoring_check, handler))
            wanted = ("", "select_all", "arrange", "zoom_fit", "", "undo", "redo")
        for action_id in wanted:
            if action_id:
                menu.addAction(actions[action_id])
            else:
                menu.addSeparator()
        menu.popup(screen)

    def _add_arranging(self, menu: QMenu) -> None:
        """What brings several nodes into order."""
        actions = self._window.actions_
        align, distribute = menu.addMenu("Align"), menu.addMenu("Distribute")
        align.addActions([actions[f"align_{side}"] for side in get_args(commands.Side)])
        distribute.addActions([actions[f"distribute_{axis}"] for axis in get_args(commands.Axis)])
        menu.addSeparator()

    def _show_what_can_be_done(self, *_: object) -> None:
        stack, scene = self._document.undo_stack, self._scene
        is_open = self._document.workflow is not None
        nodes = len(self._chosen())
        anything = bool(scene.selectedItems() or scene.chosen_edges)
        can = dict.fromkeys(self._handlers, is_open)
        can |= {"undo": stack.canUndo(), "redo": stack.canRedo(), "delete": is_open and anything}
        can |= dict.fromkeys(("cut", "copy", "duplicate"), is_open and nodes > 0)
        can |= dict.fromkeys(("rename", "connect", "save_agent"), is_open and nodes == 1)
        for action_id in can:
            if action_id.startswith("align_"):
                can[action_id] = is_open and nodes > 1
            elif action_id.startswith("distribute_"):
                can[action_id] = is_open and nodes > 2
        actions = self._window.actions_
        actions.enable(can)
        actions["undo"].setText(f"Undo {stack.undoText()}".strip())
        actions["redo"].setText(f"Redo {stack.redoText()}".strip())


def _templates() -> tuple[NodeTemplate, ...]:
    from engine.graph.templates import builtin_templates

    return builtin_templates()


def _ignoring_check(handler: Callable[[], object], *_: object) -> None:
    """Qt may add the check mark of the action at the end."""
    handler()
