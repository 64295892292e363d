"""A call of unknown end with all that can still be found out about it, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator

from app.kit.visible import visible_lines, visible_name
from engine.vocabulary.recovery import ABSENT, UNREADABLE, FileEvidence, Sign, UncertainCall

_SIGNS = {
    Sign.UNTOUCHED: "all that it was about to touch is as it was: it has probably not run",
    Sign.CHANGED: "something is no longer as it was: it has probably run, in part or whole",
    Sign.UNKNOWN: "nothing was noted that could be compared",
}
_DIGEST_LENGTH = 12


def uncertain_lines(call: UncertainCall) -> Iterator[str]:
    """Who had called what, all of its arguments, and what the evidence says."""
    who = " / ".join((call.node_label, *call.path[1:]))
    yield f"the program ended while {who} had {call.tool_call.name} running; did it finish?"
    for key, value in call.tool_call.arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *rest = visible_lines(text)
        yield f"  {key}:" if rest else f"  {key}: {first}"
        yield from (f"    {line}" for line in ((first, *rest) if rest else ()))
    yield f"  {_SIGNS[call.evidence.sign]}"
    for file in call.evidence.files:
        yield f"    {visible_name(file.path)}: {versions(file)}"
    for folder in call.evidence.folders:
        yield f"    it ran in {visible_name(folder)}"


def versions(file: FileEvidence) -> str:
    """The file then and now."""
    if file.is_same:
        return f"as before ({version(file.now)})"
    return f"before {version(file.before)}, now {version(file.now)}"


def version(digest: str) -> str:
    """A version of a file in short."""
    if digest == ABSENT:
        return "not there"
    return "unreadable" if digest == UNREADABLE else digest[:_DIGEST_LENGTH]
