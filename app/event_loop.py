"""The one event loop of the window: built here, watched here, ended here in order.

Nothing else imports qasync. The first frame is on screen before it is loaded.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QEventLoop, QObject
from PySide6.QtWidgets import QApplication

from app.kit.garbage import UiThreadGarbage

if TYPE_CHECKING:
    import asyncio

    from app.main_window import MainWindow

logger = logging.getLogger(__name__)

_FIRST_FRAME_S = 3.0


class Work(Protocol):
    """What goes on behind the windows."""

    @property
    def windows(self) -> list[MainWindow]:
        """All of them."""

    def on_end(self, wish: Callable[[], None]) -> None:
        """Call `wish` when the person wants to end the program."""

    async def agrees_to_close(self) -> bool:
        """Ask the person, where closing would end something."""

    async def close(self) -> None:
        """Stop runs, end tasks, close the backend; within bounds."""

    def report(self, error: BaseException) -> None:
        """Tell the person of a failure that nobody has foreseen."""


def run(
    open_window: Callable[[], MainWindow],
    start_work: Callable[[MainWindow], Awaitable[Work]],
) -> int:
    """Open a window, let it live, and give the exit status."""
    application = build_application()
    failures = Failures()
    failures.install()
    window = open_window()
    show_first_frame(application, window)
    # Only now: loading asyncio and qasync takes a fifth of the time to the first frame.
    import qasync

    garbage = UiThreadGarbage(application)

    with qasync.QEventLoop(application) as loop:
        loop.set_exception_handler(failures.from_loop)
        life = _Life(window, failures)
        living = loop.create_task(life.live(start_work))
        application.aboutToQuit.connect(partial(_end_with_the_display, living))
        try:
            return int(loop.run_until_complete(living))
        finally:
            life.end()
            garbage.stop()
            failures.remove()


def _end_with_the_display(living: asyncio.Task[int]) -> None:
    """Qt ends its loop by itself when the display is gone.

    No loop can run without one, so nothing can be waited for, and whatever is cancelled now would
    only report that. Child processes end with their pipes.
    """
    if not living.done():
        logger.error("the display has gone")
        logging.shutdown()
        os._exit(1)


def build_application() -> QApplication:
    """The application object; closing the last window does not end it, the shutdown does."""
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        # One look on all systems; asked for by argument, since setStyle returns a style object,
        # whose class has hundreds of names that Python would have to make first.
        application = QApplication(["openflow", "-style", "fusion"])
    application.setApplicationName("openflow")
    application.setApplicationDisplayName("OpenFlow")
    application.setQuitOnLastWindowClosed(False)
    return application


def show_first_frame(application: QApplication, window: MainWindow) -> None:
    """Show the window and come back when it has been painted."""
    window.show()
    give_up_at = time.monotonic() + _FIRST_FRAME_S
    while not window.is_painted and time.monotonic() < give_up_at:
        application.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)
    window.activateWindow()
    application.processEvents()


class Failures:
    """The one place that exceptions reach which nobody caught: slots, tasks, threads, finalisers.

    They are logged with their traceback and, once there is a window, told in one sentence.
    """

    def __init__(self) -> None:
        self.tell: Callable[[BaseException], None] | None = None
        self._before = (sys.excepthook, sys.unraisablehook, threading.excepthook)

    def install(self) -> None:
        """Take over from Python's own hooks."""
        sys.excepthook = self._from_main
        sys.unraisablehook = self._from_finaliser
        threading.excepthook = self._from_thread

    def remove(self) -> None:
        """Give the hooks back."""
        sys.excepthook, sys.unraisablehook, threading.excepthook = self._before

    def from_loop(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """The handler of the event loop."""
        error = context.get("exception")
        if isinstance(error, Exception):
            self.report(error)
        else:
            logger.error("the event loop reports: %s", context.get("message"))

    def report(self, error: BaseException) -> None:
        """Log, and tell whoever can be told."""
        if self.tell is not None:
            self.tell(error)
        else:
            logger.error("something unexpected happened", exc_info=error)

    def _from_main(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        self.report(error)

    def _from_finaliser(self, unraisable: Any) -> None:
        if unraisable.exc_value is not None:
            self.report(unraisable.exc_value)

    def _from_thread(self, args: Any) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
            self.report(args.exc_value)


class _Life:
    """From the first frame to the end."""

    def __init__(self, window: MainWindow, failures: Failures) -> None:
        from app.kit.interrupts import Interrupts

        self._window = window
        self._failures = failures
        self._work: Work | None = None
        self._interrupts = Interrupts(QApplication.instance() or window)
        self._windows = [window]

    async def live(self, start_work: Callable[[MainWindow], Awaitable[Work]]) -> int:
        """Start the work, wait for the wish to close, and close in order."""
        import asyncio

        wished = asyncio.Event()
        early = [
            signal.connect(wished.set)
            for signal in (self._window.close_requested, self._window.quit_requested)
        ]
        self._interrupts.came.connect(wished.set)
        starting = asyncio.ensure_future(start_work(self._window))
        closing = asyncio.ensure_future(wished.wait())
        await asyncio.wait({starting, closing}, return_when=asyncio.FIRST_COMPLETED)
        try:
            self._work = work = await starting
        finally:
            if self._work is None:
                closing.cancel()
        for connection in early:
            QObject.disconnect(connection)
        work.on_end(wished.set)
        self._failures.tell = work.report
        # What start-up has made stays: the collector need not look at it again.
        gc.freeze()
        await closing
        while not self._interrupts.number and not await work.agrees_to_close():
            wished.clear()
            await wished.wait()
        await self.close()
        return 128 + self._interrupts.number if self._interrupts.number else 0

    async def close(self) -> None:
        """Remember the windows and end what is behind them."""
        if self._work is not None:
            self._windows = list(self._work.windows)
        for window in self._windows:
            window.remember()
            window.hide()
        if self._work is not None:
            await self._work.close()
            self._work = None
        self._failures.tell = None

    def end(self) -> None:
        """Give back what belongs to the process."""
        self._interrupts.close()
        for window in self._windows:
            window.deleteLater()
        QApplication.processEvents()
