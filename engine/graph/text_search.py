"""Find and replace over everything in a workflow that a person has written in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

import regex
from msgspec import Struct

from engine.graph import edits
from engine.graph.node_config import MarkdownHandoff
from engine.graph.workflow import Workflow
from engine.vocabulary.errors import EngineError

Field = Literal[
    "name", "system prompt", "task prompt", "handoff template", "shared context", "note"
]

MAX_MATCHES = 2_000
MAX_SECONDS = 0.5
"""How long a pattern may look at one text; some would look for ever."""


class PatternError(EngineError):
    """A regular expression that is none; the message says what is wrong and where."""


class Query(Struct, frozen=True):
    """What is looked for. `is_pattern` means that `text` is a regular expression of Python."""

    text: str
    match_case: bool = False
    is_pattern: bool = False

    def compiled(self) -> regex.Pattern[str]:
        """The query as a pattern.

        Raises:
            PatternError: it is no regular expression.
        """
        flags = regex.MULTILINE | (0 if self.match_case else regex.IGNORECASE)
        try:
            return regex.compile(self.text if self.is_pattern else regex.escape(self.text), flags)
        except regex.error as error:
            raise PatternError(f"this is no regular expression: {_in_words(error)}") from None
        except (RecursionError, OverflowError):
            raise PatternError("this regular expression is too large") from None


def _in_words(error: regex.error) -> str:
    """What is wrong and where; places are counted from 1."""
    words, place = getattr(error, "msg", str(error)), getattr(error, "pos", None)
    return words if place is None else f"{words} at character {place + 1}"


class TextField(Struct, frozen=True):
    """One text. `owner_id` is the id of a node or a note, empty for the workflow's own."""

    owner_id: str
    field: Field
    text: str


class Match(Struct, frozen=True):
    """Where something was found: characters `start` to `end` of a text."""

    owner_id: str
    field: Field
    start: int
    end: int
    text: str

    @property
    def line(self) -> int:
        """The line of the text, from 1."""
        return self.text.count("\n", 0, self.start) + 1

    def excerpt(self, around: int = 24) -> tuple[str, str, str]:
        """What stands before it in its line, the match, and what stands after it."""
        first = self.text.rfind("\n", 0, self.start) + 1
        end = self.text.find("\n", self.end)
        last = len(self.text) if end < 0 else end
        before = self.text[max(first, self.start - around) : self.start]
        after = self.text[self.end : min(last, self.end + 3 * around)]
        if self.start - first > around:
            before = f"…{before}"
        return before, self.text[self.start : self.end].replace("\n", "⏎"), after


def texts(workflow: Workflow) -> Iterator[TextField]:
    """Every text of a workflow: the shared context, then node by node, then the notes."""
    if workflow.settings.shared_context:
        yield TextField("", "shared context", workflow.settings.shared_context)
    for node in workflow.nodes:
        yield TextField(node.id, "name", node.label)
        if node.agent is not None:
            yield TextField(node.id, "system prompt", node.agent.system_prompt)
            yield TextField(node.id, "task prompt", node.agent.task_prompt)
            if isinstance(node.agent.handoff, MarkdownHandoff):
                yield TextField(node.id, "handoff template", node.agent.handoff.template)
    for note in workflow.annotations:
        yield TextField(note.id, "note", note.text)


def search(fields: Collection[TextField], query: Query) -> tuple[Match, ...]:
    """Everything that is found, in order, at most `MAX_MATCHES`; matches of nothing do not count.

    Raises:
        PatternError: the query is no regular expression.
    """
    if not query.text:
        return ()
    pattern = query.compiled()
    found: list[Match] = []
    for each in fields:
        try:
            for match in pattern.finditer(each.text, timeout=MAX_SECONDS):
                if match.end() > match.start():
                    found.append(
                        Match(each.owner_id, each.field, match.start(), match.end(), each.text)
                    )
                    if len(found) == MAX_MATCHES:
                        return tuple(found)
        except TimeoutError:
            raise PatternError(
                f"this regular expression takes too long on the {each.field}: make it simpler"
            ) from None
    return tuple(found)


def replaced(
    workflow: Workflow, matches: Collection[Match], query: Query, replacement: str
) -> Workflow:
    r"""The workflow with something else where the matches are.

    In the replacement of a regular expression `\1` and `\g<name>` stand for its groups. A match
    whose text has changed since it was found is left alone.

    Raises:
        PatternError: the query is no regular expression, or the replacement names no group of it.
    """
    pattern = query.compiled()
    current = {(each.owner_id, each.field): each.text for each in texts(workflow)}
    changed: dict[tuple[str, Field], str] = {}
    for match in sorted(matches, key=lambda match: match.start, reverse=True):
        key = (match.owner_id, match.field)
        if current.get(key) != match.text:
            continue
        text = changed.get(key, match.text)
        new = _expanded(pattern, match, replacement) if query.is_pattern else replacement
        changed[key] = text[: match.start] + new + text[match.end :]
    for (owner_id, field), text in changed.items():
        workflow = _with_text(workflow, owner_id, field, text)
    return workflow


def _expanded(pattern: regex.Pattern[str], match: Match, replacement: str) -> str:
    try:
        found = pattern.match(match.text, match.start, timeout=MAX_SECONDS)
    except TimeoutError:
        raise PatternError("this regular expression takes too long: make it simpler") from None
    if found is None:  # only where a look-around sees another text than it did
        return match.text[match.start : match.end]
    try:
        return found.expand(replacement)
    except (regex.error, IndexError) as error:
        raise PatternError(f"the replacement does not fit the pattern: {error}") from None


def _with_text(workflow: Workflow, owner_id: str, field: Field, text: str) -> Workflow:
    match field:
        case "shared context":
            return edits.change_settings(workflow, shared_context=text)
        case "note":
            return edits.change_annotation(workflow, owner_id, text=text)
        case "name":
            return edits.rename_node(workflow, owner_id, text)
        case "system prompt":
            return edits.change_config(workflow, owner_id, system_prompt=text)
        case "task prompt":
            return edits.change_config(workflow, owner_id, task_prompt=text)
        case "handoff template":
            return edits.change_config(workflow, owner_id, handoff=MarkdownHandoff(template=text))
