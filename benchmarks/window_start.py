"""The example on screen costs at most 1.6 times the CPU time of an empty window.

Each start is a process of its own; the two kinds alternate, so that a busy machine slows both.
Printed are medians in milliseconds of CPU time, and their ratio.

Run as `python -m benchmarks.window_start [--runs 9] [--platform offscreen] [FILE]`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 1.6
EXAMPLE = Path(__file__).parent.parent / "resources/examples/feature-planning.workflow.json"

EMPTY = """
import os, time
from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QApplication, QMainWindow

class Window(QMainWindow):
    painted = False

    def paintEvent(self, event):
        super().paintEvent(event)
        self.painted = True

application = QApplication(["empty"])
window = Window()
window.resize(1280, 840)
window.show()
while not window.painted:
    application.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)
application.processEvents()
print(time.process_time(), flush=True)
os._exit(0)
"""

EXAMPLE_ON_SCREEN = """
import gc, os, sys, time
from pathlib import Path
gc.disable()
from app import event_loop
from app.first_window import first_window

application = event_loop.build_application()
window = first_window(Path(sys.argv[1]), None)
event_loop.show_first_frame(application, window)
assert window.is_painted and window.scene.items_by_node
print(time.process_time(), flush=True)
os._exit(0)
"""


def cpu_ms(program: str, platform: str, byte_code: Path, *arguments: str) -> float:
    """CPU time of a fresh process up to its first frame, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"QT_QPA_PLATFORM": platform, "XDG_DATA_HOME": folder}
        environment.pop("OPENFLOW_DATA_DIR", None)
        # As in an installed program, the byte code is there: the first start of each kind made it.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = str(byte_code)
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
            cwd=Path(__file__).parent.parent,
        )
    return float(done.stdout) * 1000


def measure(file: Path, platform: str, runs: int) -> tuple[float, float]:
    """Medians of the empty window and of the example, in milliseconds of CPU time."""
    empty, example = [], []
    with tempfile.TemporaryDirectory() as folder:
        byte_code = Path(folder)
        for program in (EMPTY, EXAMPLE_ON_SCREEN):
            cpu_ms(program, platform, byte_code, str(file))
        for _ in range(runs):
            empty.append(cpu_ms(EMPTY, platform, byte_code))
            example.append(cpu_ms(EXAMPLE_ON_SCREEN, platform, byte_code, str(file)))
    return statistics.median(empty), statistics.median(example)


def main() -> int:
    """Measure, print, and fail above the limit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", type=Path, default=EXAMPLE)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--platform", default="offscreen")
    options = parser.parse_args()
    empty, example = measure(options.file, options.platform, options.runs)
    ratio = example / empty
    print(f"empty window       {empty:7.1f} ms")
    print(f"example on screen  {example:7.1f} ms")
    print(f"ratio              {ratio:7.2f}    (limit {LIMIT})")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    raise SystemExit(main())
