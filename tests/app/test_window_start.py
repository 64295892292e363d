"""Starting and ending the program in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent.parent
LATER = ("openai", "anthropic", "networkx", "jsonschema", "sqlalchemy", "pydantic", "qasync")
FIRST_FRAME = """
import sys
from pathlib import Path
from app import event_loop
from app.first_window import first_window

application = event_loop.build_application()
window = first_window(Path(sys.argv[1]), Path(sys.argv[2]))
event_loop.show_first_frame(application, window)
labels = [item.card.label for item in window.scene.items_by_node.values()]
print(window.is_painted, len(labels), sorted(set(sys.modules) & set(sys.argv[3:])))
"""
LIFE = """
import sys
from pathlib import Path
from app import event_loop, gui

async def work(window):
    behind = await gui.work_behind(window, Path(sys.argv[2]))
    print("alive", flush=True)
    return behind

from app.first_window import first_window
def open_window():
    return first_window(Path(sys.argv[1]), Path(sys.argv[2]))

raise SystemExit(event_loop.run(open_window, work))
"""


def python(program: str, *arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=CHECKOUT,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    told = [line for line in err.splitlines() if not line.startswith("This plugin")]
    return process.returncode, out.strip(), "\n".join(told)


def test_the_first_frame_needs_no_sdk_and_no_model(workflow_file: Path, data_dir: Path) -> None:
    code, out, err = finished(python(FIRST_FRAME, workflow_file, data_dir, *LATER))

    assert (code, out, err) == (0, "True 4 []", "")


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"]
)
def test_a_signal_ends_the_program_in_order(
    number: signal.Signals, status: int, workflow_file: Path, data_dir: Path
) -> None:
    process = python(LIFE, workflow_file, data_dir)
    assert process.stdout is not None
    assert process.stdout.readline() == "alive\n"

    process.send_signal(number)

    assert finished(process) == (status, "", "")
    assert (data_dir / "window.ini").exists()


def test_no_reference_to_none_is_lost() -> None:
    program = """
import sys
from PySide6.QtCore import QObject
thing = QObject()
before = sys.getrefcount(None)
for _ in range(1000):
    thing.setObjectName("x")
print(abs(sys.getrefcount(None) - before) < 100)
"""
    assert finished(python(program)) == (0, "True", "")


def test_unreadable_settings_are_told_in_the_window(tmp_path: Path, workflow_file: Path) -> None:
    program = """
import asyncio, sys
from pathlib import Path
from app import event_loop, gui
from app.first_window import first_window

def refuse(data_dir):
    from orchestration.errors import UserError
    raise UserError("the settings cannot be read")

gui._load = lambda: (None, refuse)

async def work(window):
    behind = await gui.work_behind(window, None)
    print(window.toasts.texts(), window.actions_["run"].isEnabled(), flush=True)
    asyncio.get_running_loop().call_soon(window.close)
    return behind

raise SystemExit(
    event_loop.run(lambda: first_window(Path(sys.argv[1]), Path(sys.argv[2])), work)
)
"""
    told = "['the settings cannot be read'] False"
    assert finished(python(program, workflow_file, tmp_path)) == (0, told, "")
