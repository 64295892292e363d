"""Ask a person at the terminal: a node's question, whether a call may run, or whether it did."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

from app.cli.call_text import call_lines
from app.cli.console import say, show
from app.cli.uncertain_text import uncertain_lines
from engine.vocabulary.messages import Question
from engine.vocabulary.recovery import UncertainCall, UncertainChoice
from engine.vocabulary.report import PendingApproval, PendingInput
from orchestration.headless import FolderWait, Pending
from orchestration.runs.answers import ApprovalAnswer


class TerminalPrompts:
    """Asks on standard error and reads from standard input, one question at a time."""

    def __init__(
        self,
        quiet: Callable[[], AbstractContextManager[None]],
        read_line: Callable[[], str | None] | None = None,
    ) -> None:
        """Take what keeps the screen still while a person types, and what reads a line."""
        self._quiet = quiet
        self._read_line = read_line or LineReader().read
        self._reading: asyncio.Future[str | None] | None = None

    async def ask(self, pending: Pending) -> str | ApprovalAnswer | UncertainChoice | bool | None:
        """Give the person's answer; `None` if there is none (end of input).

        A question that is called off leaves what is typed next to the question after it.
        """
        with self._quiet():
            match pending:
                case PendingApproval():
                    return await self._decision(pending)
                case UncertainCall():
                    return await self._settlement(pending)
                case FolderWait():
                    return await self._wish(pending)
            return await self._answer(pending)

    async def _answer(self, pending: PendingInput) -> str | None:
        questions = pending.structured_input.questions if pending.structured_input else ()
        say(f"{pending.label} asks: {pending.question or pending.context}")
        if not questions:
            return await self._line("answer> ")
        answers: list[str] = []
        for question in questions:
            chosen = await self._choice(question)
            if chosen is None:
                return None
            answers.append(f"{question.header}: {chosen}" if len(questions) > 1 else chosen)
        return "\n".join(answers)

    async def _choice(self, question: Question) -> str | None:
        say(f"{question.header}: {question.question}")
        for number, option in enumerate(question.options, start=1):
            say(f"  {number}. {option.label} ({option.description})")
        typed = await self._line("number or answer> ")
        if typed is None or not typed.isdecimal():
            return typed
        number = int(typed)
        in_range = 1 <= number <= len(question.options)
        return question.options[number - 1].label if in_range else typed

    async def _decision(self, pending: PendingApproval) -> ApprovalAnswer | None:
        for line in call_lines(pending):
            say(line)
        for_run = ", r for this run" if pending.rule is not None else ""
        while True:
            typed = await self._line(f"allow? [y{for_run}, n, or a reason why not] ")
            if typed is None:
                return None
            match typed.lower():
                case "":
                    continue
                case "y" | "yes":
                    return ApprovalAnswer(allow=True)
                case "r" | "run" if pending.rule is not None:
                    return ApprovalAnswer(allow=True, for_run=True)
                case "r":
                    say("this call cannot be allowed for the whole run: allow it once, or not")
                    continue
                case "n" | "no":
                    return ApprovalAnswer(allow=False)
            return ApprovalAnswer(allow=False, reason=typed)

    async def _settlement(self, call: UncertainCall) -> UncertainChoice | None:
        for line in uncertain_lines(call):
            say(line)
        while True:
            typed = await self._line(
                "was it done, is it to be redone, or skipped? [done, redo, skip] "
            )
            if typed is None:
                return None
            for choice in UncertainChoice:
                if typed and choice.value.startswith(typed.lower()):
                    return choice

    async def _wish(self, wait: FolderWait) -> bool | None:
        say(wait.reason)
        while True:
            typed = await self._line("let this run go first? [y, n] ")
            if typed is None:
                return None
            if typed.lower() in ("y", "yes", "n", "no"):
                return typed.lower().startswith("y")

    async def _line(self, prompt: str) -> str | None:
        show(prompt)
        if self._reading is None:
            self._reading = _in_daemon_thread(self._read_line)
        try:
            line = await asyncio.shield(self._reading)
        except asyncio.CancelledError:
            show("\n")
            raise
        self._reading = None
        return line


class LineReader:
    """Reads lines from the descriptor of standard input, past Python's own buffer.

    A thread that waits in that buffer keeps the interpreter from ending; this one does not.
    """

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._pending = b""

    def read(self) -> str | None:
        """Wait for the next line; `None` at the end of the input."""
        while b"\n" not in self._pending:
            data = os.read(self._descriptor, 4096)
            if not data:
                return None
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode("utf-8", "replace").strip()


def _in_daemon_thread(read: Callable[[], str | None]) -> asyncio.Future[str | None]:
    """Begin a read that cannot be cancelled, and that the end of the program does not wait for."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[str | None] = loop.create_future()

    def settle(line: str | None) -> None:
        if not answered.done():
            answered.set_result(line)

    def work() -> None:
        try:
            line = read()
        except OSError:
            line = None  # the terminal is gone, and with it the person
        with suppress(RuntimeError):  # the loop is closed: nobody waits for it any more
            loop.call_soon_threadsafe(settle, line)

    threading.Thread(target=work, name="terminal", daemon=True).start()
    return answered
