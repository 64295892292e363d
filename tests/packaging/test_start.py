"""`./start`: installs what is missing, once, and otherwise only starts."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from app.__main__ import COMMANDS
from tests.support.mini_checkout import MiniCheckout
from tests.support.source_tree import CHECKOUT


@pytest.fixture
def checkout(tmp_path: Path) -> MiniCheckout:
    """A checkout that nothing is installed in yet, in a folder with a blank in its name."""
    return MiniCheckout(tmp_path / "my check out")


def test_the_first_start_installs_and_the_next_ones_only_start(
    checkout: MiniCheckout, tmp_path: Path
) -> None:
    both = [checkout.begin("run", "a"), checkout.begin("run", "b")]
    told = [process.communicate() for process in both]

    assert [process.returncode for process in both] == [0, 0], told
    assert [out for out, _ in told] == ["7.8 1.0 run a\n", "7.8 1.0 run b\n"]
    installed = [err for _, err in told if "making .venv" in err]
    assert len(installed) == 1, "the second waits for the first"
    assert "everything is installed" in installed[0]

    # A folder of the user's that is named like one of ours is not taken for it.
    elsewhere = tmp_path / "project"
    (elsewhere / "app").mkdir(parents=True)
    (elsewhere / "app" / "__main__.py").write_text("raise SystemExit('the wrong app')")
    assert checkout.start("run", "x y", cwd=elsewhere) == (0, "7.8 1.0 run x y\n", "")

    # Whatever the lock file asks for next is installed by the next start, and told.
    checkout.lock("1.1")
    status, out, err = checkout.start("run")
    assert (status, out) == (0, "7.8 1.1 run\n")
    assert "installing the packages" in err
    assert "making .venv" not in err

    # A package that is not the one that was locked is refused, and nothing is started.
    checkout.lock("1.2")
    lock = checkout.folder / "requirements.txt"
    right = lock.read_text()
    lock.write_text(re.sub("sha256:.{8}", "sha256:00000000", right))
    status, out, err = checkout.start("run")
    assert (status, out) == (2, "")
    assert "not the one that was locked" in err
    assert (checkout.folder / ".venv" / "openflow-unfinished").exists()

    # What was broken off is made afresh.
    lock.write_text(right)
    status, out, err = checkout.start("run")
    assert (status, out) == (0, "7.8 1.2 run\n")
    assert "broken off" in err
    assert checkout.start() == (0, "7.8 1.2\n", "")


@pytest.mark.parametrize(
    ("verdict", "needed", "cure"),
    [
        ("is 2.7", "needs Python 3.11 to 3.14", "sudo apt-get install python3 python3-venv"),
        ("is 3.12 but lacks venv", "Python's venv module", "sudo apt-get install python3-venv"),
    ],
)
def test_without_a_fitting_python_one_line_says_what_to_install(
    checkout: MiniCheckout,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verdict: str,
    needed: str,
    cure: str,
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho '{verdict}'\n")
    python.chmod(0o755)
    monkeypatch.setenv("PYTHON", str(python))

    status, out, err = checkout.start("run")

    assert (status, out) == (2, "")
    assert needed in err
    assert f"{python} {verdict}" in err
    assert cure in err
    assert err.count("\n") == 1


def test_a_window_without_a_screen_is_refused_before_anything_is_installed(
    checkout: MiniCheckout, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = checkout.folder.parent / "system"
    system.mkdir()
    (system / "uname").write_text("#!/bin/sh\necho Linux\n")
    (system / "uname").chmod(0o755)
    monkeypatch.setenv("PATH", f"{system}:{os.environ['PATH']}")
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(variable, raising=False)

    status, out, err = checkout.start("some.workflow.json")

    assert (status, out) == (2, "")
    assert "there is no screen here" in err
    assert "./start run FILE needs none" in err
    assert not (checkout.folder / ".venv").exists()


def test_every_command_is_known_to_need_no_window() -> None:
    script = (CHECKOUT / "start").read_text(encoding="utf-8")
    known = re.search(r"-\* \| (.+)\) window=no", script)

    assert known is not None
    assert set(known[1].split(" | ")) == COMMANDS


def test_the_scripts_can_be_run() -> None:
    for name in ("start", "test", ".ci/run", "packaging/lock"):
        assert os.access(CHECKOUT / name, os.X_OK), name
