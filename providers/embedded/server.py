"""The embedded model as a local server: one child process, started when it is first needed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from engine.vocabulary.errors import ModelCallError, PermanentFailure
from engine.vocabulary.tools import JsonObject
from providers.embedded.bounded_schema import ROOMY, TINY, bound
from providers.embedded.model_file import (
    Availability,
    ModelFileError,
    availability,
    is_tiny,
    model_path,
)

MODEL_ALIAS = "embedded"
START_TIMEOUT_S = 60.0

_CHILD = Path(__file__).with_name("child.py")
_STOP_TIMEOUT_S = 2.0
_STDERR_LINES = 40
_LOG_LINES = 200
_LINE_CHARACTERS = 500
_IDLE_S = 300
_REPLY_TOKENS = 1024
_SLOTS = 1
_WITH_EXAMPLES = "{%- set show_examples = true -%}\n"
# Chosen by reading what comes out: colder it repeats itself, warmer it loses its way, and where
# repetition costs more it glues words together to get round it.
_TINY_SAMPLING = {"temp": 0.8, "min_p": 0.15, "penalty_repeat": 1.05}
_ROOMY_SAMPLING = {"temp": 0.4}


class EmbeddedSettings(Struct, frozen=True):
    """How the embedded model runs.

    Attributes:
        model_file: a GGUF file of the user's; the installed model where it is `None`.
        n_ctx: tokens that one request may use, prompt and reply together.
        threads: processor threads; half of the processors, at most four, where it is `None`.
    """

    model_file: str | None = None
    n_ctx: int = 4096
    threads: int | None = None

    @property
    def n_threads(self) -> int:
        """The number of threads; more than half of the processors collapses under other load."""
        return self.threads or max(1, min(4, (os.cpu_count() or 2) // 2))


class Endpoint(Struct, frozen=True):
    """Where the server listens; the key changes with every start."""

    base_url: str
    api_key: str

    def __repr__(self) -> str:
        return f"Endpoint(base_url={self.base_url!r})"


class EmbeddedModelError(ModelCallError):
    """The embedded model cannot be started; `sentence` says why and what to do."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        super().__init__(PermanentFailure(sentence))


class EmbeddedServer:
    """Starts the model on first use, keeps it, starts it anew if it died, and stops it.

    All starting happens on one thread of its own, so calls share one start, the event loop is
    never held up, and one server serves event loops that are used one after another.
    """

    def __init__(
        self, settings: EmbeddedSettings | None = None, *, start_timeout_s: float = START_TIMEOUT_S
    ) -> None:
        self._settings = settings or EmbeddedSettings()
        self._start_timeout_s = start_timeout_s
        self._starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedded-model")
        self._guard = threading.Lock()
        self._child: _Child | None = None
        self._closed = False
        self._log: deque[str] = deque(maxlen=_LOG_LINES)

    @property
    def settings(self) -> EmbeddedSettings:
        """How it runs when it is started the next time."""
        return self._settings

    def configure(self, settings: EmbeddedSettings) -> None:
        """Run like this from the next start on; a server that runs goes on as it is."""
        self._settings = settings

    @property
    def is_outdated(self) -> bool:
        """Whether it runs otherwise than it would after a new start."""
        child = self._child
        return child is not None and child.is_alive and child.settings != self._settings

    @property
    def state(self) -> Literal["stopped", "starting", "running"]:
        """What it does now."""
        child = self._child
        if child is None or not child.is_alive:
            return "stopped"
        return "running" if child.endpoint_if_alive() else "starting"

    @property
    def log(self) -> tuple[str, ...]:
        """What has happened to it, the latest last; a bounded number of lines."""
        return tuple(self._log)

    async def stop(self) -> None:
        """End the child process; the next request starts it anew."""
        with self._guard:
            child, self._child = self._child, None
        if child is not None:
            await asyncio.to_thread(child.stop)

    def availability(self) -> Availability:
        """Whether it could start; imports nothing and starts nothing."""
        return availability(self._settings.model_file)

    def bound(self, schema: JsonObject) -> JsonObject:
        """The schema as the model has to be held to it; by the model that runs, if one does."""
        child = self._child
        return bound(schema, ROOMY if child is not None and not child.is_tiny else TINY)

    @property
    def pid(self) -> int | None:
        """The id of the running child process, `None` where there is none."""
        child = self._child
        return child.pid if child is not None and child.endpoint_if_alive() else None

    async def endpoint(self) -> Endpoint:
        """The address of the running server, started now if it is not running.

        Raises:
            EmbeddedModelError: if it cannot be started, did not start in time or is closed.
        """
        child = self._child
        running = child.endpoint_if_alive() if child is not None else None
        if running is not None:
            return running
        if self._closed:
            raise EmbeddedModelError("the embedded model has been shut down")
        return await asyncio.get_running_loop().run_in_executor(self._starter, self._ensure_running)

    async def aclose(self) -> None:
        """End the child process, also one that is just starting; safe to call again."""
        with self._guard:
            self._closed = True
            child = self._child
        self._starter.shutdown(wait=False)
        if child is not None:
            await asyncio.to_thread(child.stop)

    def _ensure_running(self) -> Endpoint:
        if self._child is not None:
            running = self._child.endpoint_if_alive()
            if running is not None:
                return running
            self._child.stop()
        try:
            model = model_path(self._settings.model_file)
        except ModelFileError as error:
            raise EmbeddedModelError(str(error)) from error
        with self._guard:
            if self._closed:
                raise EmbeddedModelError("the embedded model has been shut down")
            self._child = child = _Child(model, self._settings, self._log)
        return child.wait_until_ready(self._start_timeout_s)


class _Child:
    """One child process from start to end."""

    def __init__(self, model: Path, settings: EmbeddedSettings, log: deque[str]) -> None:
        self._model = model
        self.settings = settings
        self._log = log
        self._was_stopped = False
        self.is_tiny = is_tiny(model)
        self._key = secrets.token_urlsafe(24)
        self._endpoint: Endpoint | None = None
        self._errors: deque[str] = deque(maxlen=_STDERR_LINES)
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            # Threads that wait for work must not spin: other processes need the processor.
            env={**os.environ, "OMP_WAIT_POLICY": "passive"},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._drain = threading.Thread(
            target=self._keep_errors, name="embedded-model-errors", daemon=True
        )
        self._drain.start()
        self._tell(f"starting {model} with {settings.n_ctx} tokens, {settings.n_threads} threads")

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def endpoint_if_alive(self) -> Endpoint | None:
        return self._endpoint if self._endpoint and self._process.poll() is None else None

    def wait_until_ready(self, timeout_s: float) -> Endpoint:
        """Wait for the ready line, on a thread that may block."""
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(timeout_s, give_up)
        timer.daemon = True
        timer.start()
        try:
            reply = self._exchange()
        finally:
            timer.cancel()
        if "url" in reply:
            self._endpoint = Endpoint(base_url=f"{reply['url']}/v1", api_key=self._key)
            self._tell(f"process {self.pid} listens at {reply['url']}")
            return self._endpoint
        if self._was_stopped:
            raise EmbeddedModelError("the embedded model was stopped while it was starting")
        self.stop()
        if late.is_set():
            raise EmbeddedModelError(
                f"the embedded model did not start within {timeout_s:g} seconds: "
                "try again when the computer is less busy, or choose a smaller model file"
            )
        raise EmbeddedModelError(self._why_it_failed(reply.get("error", "")))

    def stop(self) -> None:
        """Ask the process to end, then make it end; blocks for two seconds at most."""
        process = self._process
        if not self._was_stopped:
            self._was_stopped = True
            self._tell("stopped")
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(_STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._drain.join()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _exchange(self) -> dict[str, str]:
        settings: dict[str, Any] = {
            "model": str(self._model),
            "template": (_WITH_EXAMPLES if self.is_tiny else "") + chat_template(),
            "api_key": self._key,
            "alias": MODEL_ALIAS,
            "n_ctx": self.settings.n_ctx,
            "n_parallel": _SLOTS,
            "n_predict": _REPLY_TOKENS,
            "n_threads": self.settings.n_threads,
            "idle_s": _IDLE_S,
            "sampling": _TINY_SAMPLING if self.is_tiny else _ROOMY_SAMPLING,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(settings) + "\n")
            self._process.stdin.flush()
            reply: dict[str, str] = json.loads(self._process.stdout.readline() or "{}")
        except (OSError, ValueError):
            # It died over it, or was stopped: a pipe is broken, or closed already.
            return {}
        return reply

    def _keep_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._errors.append(line.rstrip())
            self._tell(line.rstrip())

    def _tell(self, line: str) -> None:
        self._log.append(f"{datetime.now().astimezone():%H:%M:%S}  {line[:_LINE_CHARACTERS]}")

    def _why_it_failed(self, error: str) -> str:
        if "libgomp" in error:
            return (
                "the embedded model needs the system library libgomp: install it "
                "(on Debian and Ubuntu: `apt install libgomp1`)"
            )
        reason = next(
            (line for line in self._errors if " E " in line),
            error or (self._errors[-1] if self._errors else "it ended without a word"),
        )
        reason = reason.rpartition("error loading model: ")[2].rpartition(" E ")[2]
        return (
            f"the model file {self._model} cannot be loaded ({reason}): "
            "it may be damaged or of an unknown kind; choose another GGUF file in the settings"
        )


@cache
def chat_template() -> str:
    """The template that turns a conversation into the model's prompt."""
    return (files("resources") / "embedded" / "chat.jinja").read_text(encoding="utf-8")
