"""A folder to stay in, what lies around it, every kind of link out of it, and paths to try."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import strategies as st

SECRET = "this-lies-outside"
"""In the text of each file outside and in the name of some of them; in no path that is tried."""

NAMES = (
    *("src", "a.txt", "deep", "er", "missing", "odd name .txt", "ünï", "tail.", "tail ", "~"),
    *("out", "abs", "file", "loop", "ping", "pong", "up", "self", "chain", "proc", "back", "hop"),
    *(
        "..",
        ".",
        "",
        " ",
        "...",
        ".. ",
        " ..",
        "..\\..",
        "..\0",
        "*",
        "**",
        "?*",
        "[a-z]*",
        "{a,b}*",
    ),
)


def build_jail(folder: Path) -> Path:
    """Make the folders; gives the one to stay in, by its real path."""
    root, outside, twin = folder / "root", folder / "outside", folder / "root-twin"
    for made in (root / "src", root / "deep" / "er", outside / "inner", twin):
        made.mkdir(parents=True)
    for inside in ("src/a.txt", "deep/er/a.txt", "odd name .txt", "ünï", "tail.", "tail ", "~"):
        (root / inside).write_text("inside\n")
    for beyond in (outside, outside / "inner", twin, folder):
        for name in ("hidden.txt", f"{SECRET}.txt"):
            (beyond / name).write_text(f"{SECRET}\n")
    links = {
        "out": "../outside",
        "abs": str(outside),
        "file": "../outside/hidden.txt",
        "loop": "loop",
        "ping": "pong",
        "pong": "ping/x",
        "up": "..",
        "self": ".",
        "chain": "self/out",
        "proc": "/proc/self/root",
        "back": "src",
        "hop": "deep/er",
        "deep/er/out": "../../../outside",
        "src/loop": "../loop/../out",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    return root.resolve()


def spelled_paths(root: Path) -> st.SearchStrategy[str]:
    """Anything that a string can spell, with a liking for what might lead out."""
    parent = root.parent
    begin = st.sampled_from(
        [
            *("", "", "", "./", "/", "//", "~/", "~root/", "file://", "\\", "C:\\", "../"),
            *("/proc/self/root", "/proc/self/cwd/", "/dev/fd/", f"/proc/self/root{root}/"),
            *(f"{root}/", f"{root}-twin/", f"{parent}/outside/", f"{parent}/", f"{root}/../"),
        ]
    )
    name = st.one_of(st.sampled_from(NAMES), st.sampled_from(NAMES), st.text(max_size=6))
    between = st.sampled_from(["/", "/", "/", "//", "/./", "/../", "\\"])
    steps = st.lists(st.tuples(name, between), max_size=7).map(
        lambda pairs: "".join(part + mark for part, mark in pairs)
    )
    last = st.one_of(st.sampled_from(NAMES), st.just("hidden.txt"))
    end = st.sampled_from(["", "", "", "/", ":raw", ":1-2", ":1-2:raw", "/..", "\n", " "])
    return st.tuples(begin, steps, last, end).map("".join)


def lies_in(path: str | Path, root: Path) -> bool:
    """Whether a path leads into the folder, as the system itself follows it."""
    real = os.path.realpath(path)
    return real == str(root) or real.startswith(f"{root}{os.sep}")
