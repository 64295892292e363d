"""Which shell a person's terminal runs, and with what environment."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping

_OF_ANOTHER_TERMINAL = frozenset({"COLUMNS", "LINES", "TERMCAP", "TERM_PROGRAM_VERSION"})


def shell_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The person's own shell, else any there is, with its arguments; empty where there is none."""
    for name in (environment.get("SHELL", ""), "bash", "sh"):
        found = shutil.which(name, path=environment.get("PATH")) if name else None
        if found is not None:
            # Terminals of macOS run login shells, and profiles there rely on it.
            return (found, "-l") if sys.platform == "darwin" else (found,)
    return ()


def terminal_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What the shell gets: what this program has, under the name of a terminal that is ours."""
    own = {name: value for name, value in environment.items() if name not in _OF_ANOTHER_TERMINAL}
    own |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "OpenFlow"}
    if not any(own.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG")):
        own["LC_CTYPE"] = "C.UTF-8" if sys.platform != "darwin" else "UTF-8"
    return own


def first_folder(wanted: str | os.PathLike[str] | None) -> str:
    """The folder to begin in: the wanted one if it is there, else the person's home, else `/`."""
    for folder in (wanted, os.path.expanduser("~")):
        if folder and os.path.isdir(folder):
            return os.fspath(folder)
    return os.sep
