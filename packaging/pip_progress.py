"""Turns what pip says while it installs into a short account of how far it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TextIO

_REQUIREMENT = re.compile(r"^[A-Za-z0-9][\w.-]*==", re.MULTILINE)
_DONE = re.compile(r"^(?:Collecting|Requirement already satisfied:|Ignoring) (?P<name>[^\s:;]+)")
_DOWNLOAD = re.compile(r"^\s+(?:Downloading|Using cached) (?P<file>\S+) \((?P<size>[^)]+)\)")
_LARGE = re.compile(r"^\d{2,}\.\d+ MB$")

_NETWORK_SIGNS = (
    "Temporary failure in name resolution",
    "Failed to establish a new connection",
    "Network is unreachable",
    "Could not fetch URL",
    "Read timed out",
    "Cannot connect to proxy",
    "connection broken by",
)


def count_requirements(lock_file: str) -> int:
    """How many packages a lock file names."""
    return len(_REQUIREMENT.findall(lock_file))


def follow(lines: Iterable[str], *, total: int, log: TextIO, out: TextIO) -> tuple[str, ...]:
    """Show how far pip is while it speaks.

    On a terminal one line is rewritten; elsewhere each tenth package, each large download and
    the last steps are told.

    Args:
        lines: what pip prints.
        total: how many packages are to be dealt with.
        log: takes every line as it is.
        out: where a person looks.

    Returns:
        The lines that tell why pip failed, if it did.
    """
    errors: list[str] = []
    done = 0
    terminal = out.isatty()
    for line in lines:
        log.write(line)
        if line.startswith(("ERROR:", "error:")) or any(sign in line for sign in _NETWORK_SIGNS):
            errors.append(line.strip())
        elif match := _DONE.match(line):
            done += 1
            if terminal or done % 10 == 0:
                _show(f"  [{done}/{total}] {match['name']}", out, terminal=terminal)
        elif match := _DOWNLOAD.match(line):
            if _LARGE.match(match["size"]):
                name = match["file"].split("/")[-1].split("-")[0]
                _show(f"  [{done}/{total}] {name}, {match['size']}", out, terminal=terminal)
        elif line.startswith("Installing collected packages:"):
            count = line.count(",") + 1
            _show(f"  unpacking {count} packages (up to a minute)", out, terminal=terminal)
    if terminal:
        out.write("\r\x1b[K")
    out.flush()
    return tuple(errors)


def reason(errors: tuple[str, ...]) -> str:
    """One sentence on why pip failed, from what `follow` returned."""
    text = "\n".join(errors)
    if any(sign in text for sign in _NETWORK_SIGNS):
        return (
            "The packages could not be downloaded: check the network connection (behind a proxy, "
            "set HTTPS_PROXY), then start again."
        )
    if "No space left on device" in text:
        return "The disk is full: about 1 GB is needed."
    if "HASHES" in text:
        return (
            "A downloaded package is not the one that was locked, so it was not installed: "
            f"{errors[-1]}"
        )
    if "from versions: none" in text:
        return (
            "pip found nothing to download for this Python and system; check the network "
            f"connection, or try another Python. {errors[-1]}."
        )
    return errors[-1] if errors else "pip failed without saying why."


def _show(text: str, out: TextIO, *, terminal: bool) -> None:
    out.write(f"\r\x1b[K{text}" if terminal else f"{text}\n")
    out.flush()
