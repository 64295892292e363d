"""The example that finds and corrects a bug: its files, and what a model would do with them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from engine.vocabulary.tools import SUBMIT_TOOL
from orchestration.example_files import example_files
from orchestration.workflow_catalog import examples
from providers.specs import Wire
from tests.support.loopback import Answer
from tests.support.wire_scripts import SCRIPTS, submit_arguments

_CHAT = SCRIPTS[Wire.CHAT]
WORKFLOW = next(example.path for example in examples() if example.name == "bug-fix")
WRONG, RIGHT = "item.price for item", "item.price * item.count for item"
EDIT: dict[str, Any] = {
    "path": "shop/basket.py",
    "edits": [{"old_text": WRONG, "new_text": RIGHT}],
}
TESTS = {"command": "python3 -m unittest"}
FOUND: dict[str, Any] = {
    "file": "shop/basket.py",
    "line": 37,
    "cause": "the count of an item is left out",
}
FIXED = {"change": "each price is multiplied by the count", "tests_pass": True}
REPORT = {"report": "goods() left out the count; it is multiplied now, and all tests pass."}


def calls(*named: tuple[str, Any]) -> Answer:
    """A reply that makes these calls, each with its arguments."""
    return _CHAT.answer(
        calls=tuple((f"c{at}", name, json.dumps(args)) for at, (name, args) in enumerate(named))
    )


def submit(output: dict[str, Any]) -> Answer:
    """A reply that submits an output."""
    return _CHAT.answer(calls=(("c1", SUBMIT_TOOL, submit_arguments(output, "Done.")),))


def repository(folder: Path) -> Path:
    """A copy of the example's files, bug included."""
    source = example_files("bug-fix")
    assert source is not None
    target = folder / "repository"
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def basket(repo: Path) -> str:
    """The file with the bug."""
    return (repo / "shop" / "basket.py").read_text(encoding="utf-8")


def all_pass(repo: Path) -> bool:
    """Whether the repository's own tests pass."""
    done = subprocess.run(
        [sys.executable, "-B", "-m", "unittest"], cwd=repo, capture_output=True, check=False
    )
    return done.returncode == 0
