"""One shell of the terminal tab: what it prints is taken over once a frame, and within bounds."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.terminal.emulator import Emulator
from orchestration.terminal.pseudo_terminal import Launch, PseudoTerminal
from orchestration.terminal.shell_choice import first_folder, shell_of, terminal_environment

FRAME_MS = 16
_SETTLE_MS = 60
_SPEND_S = 0.008
"""So much of a frame may go into what was printed; a shell that prints more has to wait."""
_PART = 1 << 10
CLOSE_S = 12.0


class ShellSession(QObject):
    """A shell and its screen.

    Signals:
        advanced: The screen is another; at most once a frame.
        ended: The shell has ended; see `ending`.
    """

    advanced = Signal()
    ended = Signal()
    _ready = Signal()

    def __init__(self, folder: Path | None, parent: QObject) -> None:
        super().__init__(parent)
        self.folder = first_folder(folder)
        self.emulator = Emulator()
        self.ending = ""
        self.is_on = False
        self._size = (80, 24)
        self._shell: PseudoTerminal | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._take)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._fit)
        # From the thread of the shell to this one.
        self._ready.connect(self._take_soon, Qt.ConnectionType.QueuedConnection)

    @property
    def name(self) -> str:
        """What the tab is called: the last part of the folder."""
        return os.path.basename(self.folder.rstrip(os.sep)) or self.folder

    async def start(self) -> None:
        """Start a shell, or another one after the last has ended.

        Raises:
            TerminalNotStarted: with the reason.
        """
        if self.is_on:
            return
        self.is_on, self.ending = True, ""
        columns, lines = self._size
        argv = shell_of(os.environ)
        shell = PseudoTerminal(self._ready.emit)
        self._shell = shell
        try:
            await asyncio.to_thread(
                shell.start,
                Launch(
                    argv=argv or ("/bin/sh",),
                    cwd=first_folder(self.folder),
                    env=terminal_environment(os.environ),
                    columns=columns,
                    lines=lines,
                ),
            )
        except BaseException:
            self.is_on, self._shell = False, None
            raise
        shell.resize(*self._size)  # it may have changed meanwhile

    def write(self, data: bytes) -> None:
        """Type something."""
        if self._shell is not None and data:
            self._shell.write(data)

    def resize(self, columns: int, lines: int) -> None:
        """Give the screen another size; while it changes on and on, soon after it has settled."""
        if (columns, lines) == self._size:
            return
        self._size = columns, lines
        if self._shell is None:
            self._fit()
        else:
            self._settle.start()

    def _fit(self) -> None:
        self.emulator.screen.resize(*self._size)
        if self._shell is not None:
            self._shell.resize(*self._size)
        self.advanced.emit()

    def end(self) -> PseudoTerminal | None:
        """Hang up; gives what can be waited for."""
        self._timer.stop()
        self._settle.stop()
        shell, self._shell = self._shell, None
        self.is_on = False
        if shell is not None:
            shell.end()
        return shell

    async def close(self) -> None:
        """Hang up, and wait until nothing that the shell started is left."""
        shell = self.end()
        if shell is not None:
            await asyncio.to_thread(shell.wait, CLOSE_S)

    def _take_soon(self) -> None:
        if self._shell is not None and not self._timer.isActive():
            self._timer.start(FRAME_MS)

    def _take(self) -> None:
        shell, emulator = self._shell, self.emulator
        if shell is None:
            return
        until = time.perf_counter() + _SPEND_S
        while (part := shell.take(_PART)) and time.perf_counter() < until:
            emulator.feed(part)
        if part:
            emulator.feed(part)
        for answer in emulator.answers:
            shell.write(answer.encode())
        emulator.answers.clear()
        if shell.waiting:
            self._timer.start(FRAME_MS)
        elif shell.is_over:
            self._finish(shell)
        self.advanced.emit()

    def _finish(self, shell: PseudoTerminal) -> None:
        self._shell, self.is_on = None, False
        code = shell.exit_code
        if code is None or code < 0:
            self.ending = "The shell was ended."
        elif code:
            self.ending = f"The shell has ended with code {code}."
        else:
            self.ending = "The shell has ended."
        self.emulator.screen.show_alternate(False)
        self.ended.emit()
