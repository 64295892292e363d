"""What is loaded at start-up: nothing that can wait until it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.source_tree import CHECKOUT, SLOW_TO_IMPORT

REPORT = "import {module}, sys; print(*sorted(set(sys.modules) & set({names!r})))"


def loaded_by(module: str, names: tuple[str, ...]) -> list[str]:
    """Which of the names are loaded after a fresh interpreter has imported a module."""
    told = subprocess.run(
        [sys.executable, "-c", REPORT.format(module=module, names=names)],
        capture_output=True,
        text=True,
        check=False,
        cwd=CHECKOUT,
    )
    assert told.returncode == 0, told.stderr
    return told.stdout.split()


@pytest.mark.parametrize(
    "module",
    [
        "engine.run.interactive_engine",
        "engine.graph.serialization",
        "engine.graph.validation",
        "providers.factory",
        "providers.embedded.server",
        "orchestration.composition",
        "app.__main__",
    ],
)
def test_no_door_loads_what_is_slow_to_import(module: str) -> None:
    assert loaded_by(module, SLOW_TO_IMPORT) == []


def test_the_command_line_needs_no_window() -> None:
    assert loaded_by("app.__main__", ("PySide6", "qasync")) == []


def test_what_is_loaded_is_seen() -> None:
    assert loaded_by("networkx", SLOW_TO_IMPORT) == ["networkx"]
