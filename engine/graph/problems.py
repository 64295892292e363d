"""What is wrong with a workflow, and where."""

from __future__ import annotations

from msgspec import Struct


class Problem(Struct, frozen=True):
    """One thing that is wrong.

    `code` is a word for programs; `message` one sentence for people that says what is wrong,
    where, and what to do. `field` is the attribute of the node's settings, of the edge or of the
    workflow, such as `task_prompt`; for a file that is no workflow it is the place in the
    document, such as `nodes[2].agent.task_prompt`.
    """

    code: str
    message: str
    node_id: str | None = None
    edge_id: str | None = None
    field: str | None = None
