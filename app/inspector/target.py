"""What a form is about: some nodes of the open workflow, or the workflow itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from app.canvas.document import WorkflowDocument
from app.inspector.slots import Slot, changed, value_at
from app.kit.formats import plural

if TYPE_CHECKING:
    from engine.graph.workflow import Node, Workflow


class Target:
    """Reads from the document and edits it; keeps nothing but ids."""

    def __init__(self, document: WorkflowDocument, node_ids: Sequence[str] = ()) -> None:
        """With no ids it is the workflow."""
        self._document = document
        self.node_ids = tuple(node_ids)

    @property
    def workflow(self) -> Workflow | None:
        """The whole workflow, as far as it has been read."""
        return self._document.workflow

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes; those that are gone are left out."""
        workflow, wanted = self._document.workflow, set(self.node_ids)
        if workflow is None or not wanted:
            return ()
        return tuple(node for node in workflow.nodes if node.id in wanted)

    @property
    def name(self) -> str:
        """What it is called in the undo list."""
        if not self.node_ids:
            return "the workflow"
        if len(self.node_ids) == 1:
            return f"“{self._document.label(self.node_ids[0])}”"
        return plural(len(self.node_ids), "node")

    def values(self, slot: Slot) -> list[Any]:
        """The value in each node that can have one, or the one of the workflow."""
        roots: Sequence[Any] = self.nodes
        if not self.node_ids:
            roots = () if self.workflow is None else (self.workflow,)
        parts = [value_at(root, slot.within) for root in roots]
        return [slot.read(part) for part in parts if part is not None]

    def put(self, slot: Slot, value: Any, what: str, *, merge: str = "") -> None:
        """Set the value in all of them, as one step; `what` is its name in the undo list.

        Steps in a row with the same text in `merge` are one, until `end_typing`.

        Raises:
            pydantic.ValidationError: The value does not fit; nothing was changed.
            NotEditable: The workflow has not been read yet.
        """
        wanted = set(self.node_ids)

        def change(workflow: Workflow) -> Workflow:
            def set_it(part: Any) -> Any:
                return slot.write(part, value)

            if not wanted:
                return changed(workflow, slot.within, set_it)  # type: ignore[no-any-return]
            nodes = tuple(
                changed(node, slot.within, set_it)
                if node.id in wanted and value_at(node, slot.within) is not None
                else node
                for node in workflow.nodes
            )
            return workflow.model_copy(update={"nodes": nodes})

        of = f" of {self.name}" if wanted else ""
        key = f"inspector {' '.join(self.node_ids)} {slot.key} {merge}" if merge else ""
        self._document.edit(f"Change {what}{of}", change, merge=key)

    def end_typing(self) -> None:
        """What is typed from now on is a step of its own."""
        self._document.end_typing()
