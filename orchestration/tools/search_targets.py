"""What the `paths` of a search mean: files, folders and patterns, all inside the jail."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from engine.vocabulary.tools import JsonObject
from orchestration.tools.globs import MAGIC, BadGlob, Glob
from orchestration.tools.tool import FailureKind, ToolFailure
from orchestration.workspace.paths import PathRefused, Workspace
from orchestration.workspace.spelling import as_text

MAX_PATHS = 200

PATHS_SCHEMA: JsonObject = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MAX_PATHS},
    ],
    "description": (
        "Where to look, one or several: a file, a folder, or a pattern relative to the execution "
        "folder (`src/**/*.py`, `*.{md,txt}`; a pattern of one name matches at any depth; `.` and "
        "`**` are everything)."
    ),
}

_EVERYTHING = frozenset({"*", "**", "**/*"})
_PLAIN_NAME = re.compile(r"[\w.*?+-]+", re.ASCII)


class Target(Struct, frozen=True):
    """One place to look: a file, a folder, or what matches a pattern below a folder.

    `name` is the file's, and for a folder what all names in it begin with. Names are relative to
    the execution folder, or absolute outside of it, with `/`.
    """

    name: str
    is_file: bool = False
    glob: Glob | None = None

    def covers(self, name: str, *, hidden: bool) -> bool:
        """Whether a path is meant; `hidden`: also where parts of it begin with a dot."""
        if self.is_file:
            return name == self.name
        if not name.startswith(self.name):
            return False
        below = name[len(self.name) :]
        glob = self.glob
        if (
            not hidden
            and (below.startswith(".") or "/." in below)
            and not (glob is not None and glob.names_hidden)
        ):
            return False
        return glob is None or glob.matches(below)


class SearchTargets(Struct, frozen=True):
    """All places to look, in a program that runs in `folder`; `withheld` are names to pass over."""

    folder: Path
    targets: tuple[Target, ...]
    withheld: frozenset[str] = frozenset()

    def covers(self, name: str, *, hidden: bool) -> bool:
        """Whether one of the targets means the path."""
        return name not in self.withheld and any(
            target.covers(name, hidden=hidden) for target in self.targets
        )

    def roots(self) -> list[str]:
        """Where to look, as arguments that are never taken for options."""
        names = dict.fromkeys(target.name for target in self.targets)
        return [name if name.startswith("/") or name[1:2] == ":" else f"./{name}" for name in names]

    def refuse_links(self) -> None:
        """To be called after the search: a path that became a link meanwhile led it elsewhere.

        Raises:
            ToolFailure: there is one; what was found is not to be told.
        """
        for target in self.targets:
            path = os.path.normpath(self.folder / target.name)
            if os.path.realpath(path) != path:
                raise ToolFailure(
                    FailureKind.PERMISSION_DENIED,
                    f"'{as_text(target.name)}' has become a link, or leads through one",
                    "look again at what is there",
                )

    def name_options(self) -> list[str]:
        """Options by which `rg` leaves out names that no pattern can mean."""
        names: list[str] = []
        for target in self.targets:
            if target.glob is not None:
                names += target.glob.names
            elif not target.is_file:
                return []
        if not names or any("**" in n or not _PLAIN_NAME.fullmatch(n) for n in names):
            return []
        return [*(f"--type-add=wanted:{name}" for name in dict.fromkeys(names)), "--type=wanted"]


def search_targets(paths: str | Sequence[str], workspace: Workspace) -> SearchTargets:
    """Find out what the paths mean; touches the disk.

    Raises:
        ToolFailure: one leads out of the jail, is not there, or is no pattern.
    """
    texts = [paths] if isinstance(paths, str) else list(paths)
    targets = [target for text in texts if (target := _target(text, workspace)) is not None]
    withheld = frozenset(_name(path, workspace) for path in workspace.withheld)
    return SearchTargets(workspace.root, tuple(targets), withheld)


def printed_name(path: bytes) -> str:
    """The name of a path that `rg` printed."""
    name = os.fsdecode(path)
    return name[2:] if name.startswith("./") else name


def shown_name(name: str, workspace: Workspace) -> str:
    """A name as it is shown: relative; bytes that are no text become replacement characters."""
    if os.path.isabs(name):
        name = workspace.label(Path(name))
    return as_text(name)


def _target(text: str, workspace: Workspace) -> Target | None:
    if text.strip() in _EVERYTHING:
        return Target("")
    for literal in (text, text.strip()):
        if (found := _existing(literal, workspace)) is not None:
            return found
    pattern = text.strip()
    if MAGIC.isdisjoint(pattern):
        raise ToolFailure(
            FailureKind.NOT_FOUND,
            f"there is no '{pattern}'",
            "list its folder to see what there is",
        )
    return _pattern(pattern, workspace)


def _existing(text: str, workspace: Workspace) -> Target | None:
    real = _resolved(text, workspace)
    try:
        mode = real.stat().st_mode
    except OSError:  # nothing there, or nothing that can be reached
        return None
    label = workspace.label(real)
    if ".git" in label.split("/"):
        raise ToolFailure(
            FailureKind.INVALID_ARGS, f"'{label}' is git's own", "ask git with a command"
        )
    if stat.S_ISDIR(mode):
        name = _name(real, workspace)
        return Target(name if not name or name.endswith("/") else f"{name}/")
    if stat.S_ISREG(mode):
        return Target(_name(real, workspace), is_file=True)
    raise ToolFailure(FailureKind.FAILED, f"'{label}' is neither a file nor a folder")


def _pattern(text: str, workspace: Workspace) -> Target | None:
    names = text.split("/")
    first = next(at for at, name in enumerate(names) if not MAGIC.isdisjoint(name))
    fixed = "/".join(names[:first])
    rest = "/".join(names[first:])
    # Below a folder that is named, a pattern of one name means what is right in it.
    try:
        glob = Glob(rest, is_anchored=first > 0)
    except BadGlob as error:
        raise ToolFailure(
            FailureKind.INVALID_ARGS, f"'{text}' is no pattern: {error}", "write it anew"
        ) from None
    base = _existing(fixed or ("/" if first else "."), workspace)
    if base is None or base.is_file:
        return None
    return Target(base.name, glob=glob)


def _resolved(text: str, workspace: Workspace) -> Path:
    try:
        return workspace.resolve(text)
    except PathRefused as refusal:
        raise ToolFailure(
            FailureKind.PERMISSION_DENIED, str(refusal), "name a path in the execution folder"
        ) from None


def _name(real: Path, workspace: Workspace) -> str:
    if not real.is_relative_to(workspace.root):
        return real.as_posix()
    return "" if real == workspace.root else real.relative_to(workspace.root).as_posix()
