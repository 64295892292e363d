"""What is different between two workflows, in the words of a person; places do not count."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff
from typing import Any, Literal

from msgspec import Struct

from engine.graph.document import document_of
from engine.graph.file_model import FileModel, keys_of
from engine.graph.workflow import Edge, Node, Workflow

Kind = Literal["added", "removed", "changed"]
Subject = Literal["workflow", "node", "edge", "note"]

MAX_SHOWN = 80
_CONTEXT_LINES = 2
_NAMES = {
    "agent.tools.approval_mode": "approval mode",
    "agent.tools.allow_structured_user_input": "structured questions",
    "agent.tools.allow_free_text_user_input": "open questions",
    "agent.output_schema": "output schema",
    "agent.handoff.format": "handoff format",
    "agent.handoff.template": "handoff template",
    "retry_policy.max_attempts": "retries",
    "retry_policy.backoff_ms": "backoff (ms)",
}


class Difference(Struct, frozen=True):
    """One difference. `what` names the thing as a person knows it, `field` a part of it.

    `before` and `after` are JSON values, absent where there is nothing on that side.
    """

    kind: Kind
    subject: Subject
    what: str
    field: str = ""
    before: Any = None
    after: Any = None

    @property
    def sentence(self) -> str:
        """The difference in one line."""
        if self.kind != "changed":
            return f"{self.what} {self.kind}"
        if _is_long(self.before) or _is_long(self.after):
            return f"{self.what}: {self.field} changed"
        return f"{self.what}: {self.field} {_short(self.before)} → {_short(self.after)}"

    def lines(self) -> tuple[str, ...]:
        """A long value line by line: ` ` for the same, `-` for before, `+` for after."""
        if self.kind != "changed" or not (_is_long(self.before) or _is_long(self.after)):
            return ()
        before, after = _text(self.before).splitlines(), _text(self.after).splitlines()
        diff = list(unified_diff(before, after, lineterm="", n=_CONTEXT_LINES))
        return tuple("…" if line.startswith("@@") else line for line in diff[3:])


def differences(before: Workflow, after: Workflow) -> tuple[Difference, ...]:
    """Everything that is different: the workflow's own first, then nodes, edges and notes."""
    return tuple(_differences(before, after))


def _differences(before: Workflow, after: Workflow) -> Iterator[Difference]:
    if before.name != after.name:
        yield Difference("changed", "workflow", "workflow", "name", before.name, after.name)
    yield from _changes("workflow", "workflow", "", before.settings, after.settings)
    yield from _unknown("workflow", "workflow", before, after)
    old, new = _by_id(before.nodes), _by_id(after.nodes)
    for node in before.nodes:
        if node.id not in new:
            yield Difference("removed", "node", _node_name(node), before=document_of(node))
    for node in after.nodes:
        if node.id not in old:
            yield Difference("added", "node", _node_name(node), after=document_of(node))
        else:
            yield from _node_changes(old[node.id], node)
    yield from _edge_changes(before, after)
    yield from _note_changes(before, after)


def _node_changes(before: Node, after: Node) -> Iterator[Difference]:
    name = _node_name(before)
    if before.label != after.label:
        yield Difference("changed", "node", name, "name", before.label, after.label)
    if before.kind != after.kind:
        yield Difference("changed", "node", name, "kind", before.kind, after.kind)
    if before.agent is not None and after.agent is not None:
        yield from _changes("node", name, "agent", before.agent, after.agent)
    yield from _unknown("node", name, before, after)


def _changes(
    subject: Subject, what: str, path: str, before: FileModel, after: FileModel
) -> Iterator[Difference]:
    """The fields that are different, models within taken apart."""
    for key in keys_of(type(before)):
        old, new = getattr(before, key.field), getattr(after, key.field, None)
        if old == new:
            continue
        inner = f"{path}.{key.field}" if path else key.field
        if isinstance(old, FileModel) and isinstance(new, type(old)):
            yield from _changes(subject, what, inner, old, new)
            continue
        name = _NAMES.get(inner) or inner.rpartition(".")[2].replace("_", " ")
        yield Difference("changed", subject, what, name, _plain(old), _plain(new))
    if path:
        yield from _unknown(subject, what, before, after)


def _unknown(
    subject: Subject, what: str, before: FileModel, after: FileModel
) -> Iterator[Difference]:
    """Keys that this program does not know are told by their names."""
    old, new = before.unknown_keys, after.unknown_keys
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield Difference("changed", subject, what, f"'{name}'", old.get(name), new.get(name))


def _edge_changes(before: Workflow, after: Workflow) -> Iterator[Difference]:
    """Edges by what they connect: an id alone is nothing that a person sees."""
    labels = {node.id: node.label or node.id for node in (*before.nodes, *after.nodes)}
    old, new = _pairs(before.edges), _pairs(after.edges)
    for pair in sorted(old.keys() - new.keys()):
        yield Difference("removed", "edge", _edge_name(pair, labels), before=list(pair))
    for pair in sorted(new.keys() - old.keys()):
        yield Difference("added", "edge", _edge_name(pair, labels), after=list(pair))


def _note_changes(before: Workflow, after: Workflow) -> Iterator[Difference]:
    old = {note.id: note for note in before.annotations}
    new = {note.id: note for note in after.annotations}
    for note in before.annotations:
        if note.id not in new:
            name = f"{note.kind} {_short(note.text)}"
            yield Difference("removed", "note", name, before=note.text)
    for note in after.annotations:
        known = old.get(note.id)
        name = f"{note.kind} {_short((known or note).text)}"
        if known is None:
            yield Difference("added", "note", name, after=note.text)
        elif known.text != note.text:
            yield Difference("changed", "note", name, "text", known.text, note.text)


def _by_id(nodes: Iterable[Node]) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for node in nodes:
        found.setdefault(node.id, node)
    return found


def _pairs(edges: Iterable[Edge]) -> dict[tuple[str, str], Edge]:
    return {(edge.source, edge.target): edge for edge in edges}


def _node_name(node: Node) -> str:
    return f"node “{node.label or node.id}”"


def _edge_name(pair: tuple[str, str], labels: Mapping[str, str]) -> str:
    source, target = (labels.get(end, end) for end in pair)
    return f"connection “{source}” → “{target}”"


def _plain(value: Any) -> Any:
    if isinstance(value, FileModel):
        return document_of(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return getattr(value, "value", value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, indent=2, ensure_ascii=False)


def _is_long(value: Any) -> bool:
    return isinstance(value, dict | list) or (
        isinstance(value, str) and (len(value) > MAX_SHOWN or "\n" in value)
    )


def _short(value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    if isinstance(value, bool):
        return "on" if value else "off"
    text = str(value)
    text = text.split("\n", 1)[0]
    return f"“{text[: MAX_SHOWN - 1]}…”" if len(text) > MAX_SHOWN else f"“{text}”"
