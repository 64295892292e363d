"""A form: fields over slots of a target. It shows what the document has and keeps nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.canvas.document import NotEditable
from app.inspector.field import Field
from app.inspector.offers import Offers
from app.inspector.slots import Slot
from app.inspector.target import Target
from app.theme.theme import Theme

if TYPE_CHECKING:
    from pydantic import ValidationError

    from engine.graph.problems import Problem


class _Bound(NamedTuple):
    """A field and what it edits; `what` is its name in the undo list."""

    slot: Slot
    field: Field
    what: str


class Form(QWidget):
    """Base of the forms.

    `aliases` says which field a problem belongs to that names another one.
    """

    aliases: ClassVar[Mapping[str, str]] = {}

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.offers = Offers()
        self.target: Target | None = None
        self._bound: dict[str, _Bound] = {}
        self._by_field: dict[Field, _Bound] = {}
        self._is_typing = False
        self.box = QVBoxLayout(self)
        self.box.setContentsMargins(16, 12, 16, 20)
        self.box.setSpacing(12)

    @property
    def fields(self) -> dict[str, Field]:
        """Every field by its key, from top to bottom."""
        return {key: bound.field for key, bound in self._bound.items()}

    def section(self, words: str) -> QLabel:
        """Begin a section."""
        label = QLabel(words, self)
        label.setProperty("kind", "form-section")
        label.setIndent(0)
        self.box.addWidget(label)
        return label

    def put_in(self, slot: Slot, field: Field, what: str) -> None:
        """Add a field at the end."""
        bound = _Bound(slot, field, what)
        self._bound[slot.key] = bound
        self._by_field[field] = bound
        field.entered.connect(self._put)
        field.left.connect(self._end_typing)
        field.rebuilt.connect(self.order_keys)
        self.box.addWidget(field)

    def order_keys(self) -> None:
        """Let Tab go from top to bottom, whenever the controls were made."""
        stops = [stop for bound in self._bound.values() for stop in bound.field.stops()]
        for one, next_one in pairwise(stops):
            QWidget.setTabOrder(one, next_one)

    def bind(self, target: Target) -> None:
        """Show another target."""
        self._end_typing()
        self.target = target
        for bound in self._bound.values():
            bound.field.forget()
            bound.field.show_problem("")
        self.refresh()

    def set_offers(self, offers: Offers) -> None:
        """Let people choose from these."""
        self.offers = offers
        if self.target is not None:
            self.refresh()

    def refresh(self) -> None:
        """Show what the document has now; what is being typed stays."""
        if self.target is None:
            return
        self.prepare(self.target)
        for bound in self._bound.values():
            # A hidden field is not for what is selected; it is shown again before it is filled.
            values = [] if bound.field.isHidden() else self.target.values(bound.slot)
            if values:
                bound.field.show_values(values)

    def prepare(self, target: Target) -> None:
        """Bring choices, notes and what is visible up to date, before the values are shown."""

    def field_of(self, problem: Problem) -> Field | None:
        """The field that a problem is about, if it can be seen here."""
        key = self.aliases.get(problem.field or "", problem.field or "")
        bound = self._bound.get(key)
        return bound.field if bound is not None and not bound.field.isHidden() else None

    def show_problems(self, problems: Iterable[Problem]) -> None:
        """Mark the fields that something is wrong with, and no others."""
        words: dict[Field, str] = {}
        for problem in problems:
            field = self.field_of(problem)
            if field is not None:
                words.setdefault(field, problem.message)
        for field in self._by_field:
            field.show_problem(words.get(field, ""))

    def _put(self, field: Field, value: Any) -> None:
        from pydantic import ValidationError

        bound, target = self._by_field[field], self.target
        if target is None:
            return
        if not field.typing:
            self._end_typing()
        self._is_typing = bool(field.typing)
        try:
            target.put(bound.slot, value, bound.what, merge=field.typing)
        except ValidationError as error:
            field.refuse(_reason(error), _first(target.values(bound.slot)))
        except NotEditable as error:
            field.refuse(str(error), _first(target.values(bound.slot)))

    def _end_typing(self) -> None:
        if self._is_typing and self.target is not None:
            self._is_typing = False
            self.target.end_typing()


def _first(values: list[Any]) -> Any:
    return values[0] if values else None


def _reason(error: ValidationError) -> str:
    text = str(error.errors(include_url=False)[0]["msg"])
    return text[:1].upper() + text[1:]
