"""The child process: started once, told apart when it fails, never left behind."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.vocabulary.errors import ModelCallError, PermanentFailure
from providers.embedded.bounded_schema import ROOMY, TINY, bound
from providers.embedded.server import (
    EmbeddedModelError,
    EmbeddedServer,
    EmbeddedSettings,
    Endpoint,
)
from tests.support.leak_check import command_line

Runtime = Callable[[str], Path]
WORKS = "pass"


def server_for(model: Path, *, start_timeout_s: float = 60.0) -> EmbeddedServer:
    return EmbeddedServer(EmbeddedSettings(model_file=str(model)), start_timeout_s=start_timeout_s)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def why_it_fails(server: EmbeddedServer) -> str:
    try:
        with pytest.raises(EmbeddedModelError) as failed:
            await server.endpoint()
    finally:
        await server.aclose()
    assert isinstance(failed.value, ModelCallError)
    assert isinstance(failed.value.failure, PermanentFailure)
    return failed.value.failure.message


def test_nothing_runs_before_it_is_asked_for(runtime: Runtime) -> None:
    server = server_for(runtime(WORKS))

    assert server.availability().ready
    assert server.pid is None
    asyncio.run(server.aclose())


def test_callers_at_the_same_time_share_one_start(runtime: Runtime) -> None:
    async def scenario() -> None:
        server = server_for(runtime(WORKS))
        endpoints = await asyncio.gather(*(server.endpoint() for _ in range(6)))
        assert len(set(endpoints)) == 1
        assert endpoints[0].base_url == "http://127.0.0.1:9/v1"
        await server.aclose()

    asyncio.run(scenario())


def test_one_server_serves_event_loops_one_after_another(runtime: Runtime) -> None:
    server = server_for(runtime(WORKS))

    first = asyncio.run(server.endpoint())
    pid = server.pid
    second = asyncio.run(server.endpoint())

    assert first == second
    assert pid is not None
    assert server.pid == pid
    asyncio.run(server.aclose())
    assert not is_alive(pid)


def test_the_key_is_random_and_shown_nowhere(runtime: Runtime) -> None:
    model = runtime(WORKS)

    async def start_and_stop() -> Endpoint:
        server = server_for(model)
        endpoint = await server.endpoint()
        assert server.pid is not None
        assert endpoint.api_key not in command_line(server.pid)
        await server.aclose()
        return endpoint

    one, other = asyncio.run(start_and_stop()), asyncio.run(start_and_stop())

    assert one.api_key != other.api_key
    assert len(one.api_key) >= 32
    assert one.api_key not in repr(one)


def test_it_is_started_anew_if_it_died(runtime: Runtime) -> None:
    async def scenario() -> None:
        server = server_for(runtime(WORKS))
        first = await server.endpoint()
        pid = server.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await asyncio.to_thread(os.waitid, os.P_PID, pid, os.WEXITED | os.WNOWAIT)

        second = await server.endpoint()

        assert second.api_key != first.api_key
        assert server.pid not in (None, pid)
        await server.aclose()

    asyncio.run(scenario())


def test_closing_ends_the_process_and_is_final(runtime: Runtime) -> None:
    async def scenario() -> None:
        server = server_for(runtime(WORKS))
        await server.endpoint()
        pid = server.pid
        assert pid is not None

        await server.aclose()
        await server.aclose()

        assert not is_alive(pid)
        with pytest.raises(EmbeddedModelError, match="shut down"):
            await server.endpoint()

    asyncio.run(scenario())


def test_a_process_that_does_not_want_to_end_is_killed(runtime: Runtime) -> None:
    async def scenario() -> None:
        server = server_for(runtime("signal.signal(signal.SIGTERM, signal.SIG_IGN)"))
        await server.endpoint()
        pid = server.pid
        assert pid is not None

        await server.aclose()

        assert not is_alive(pid)

    asyncio.run(scenario())


def test_closing_in_mid_start_ends_the_start(runtime: Runtime, tmp_path: Path) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)

    async def scenario() -> None:
        model = runtime(f"open({str(started)!r}, 'w').write(str(os.getpid())); time.sleep(600)")
        server = server_for(model)
        starting = asyncio.create_task(server.endpoint())
        pid = int(await asyncio.to_thread(started.read_text))

        await server.aclose()

        with pytest.raises(EmbeddedModelError):
            await starting
        assert not is_alive(pid)

    asyncio.run(scenario())


def test_a_start_that_takes_too_long_is_given_up(runtime: Runtime) -> None:
    server = server_for(runtime("time.sleep(600)"), start_timeout_s=0.2)

    assert "did not start within 0.2 seconds" in asyncio.run(why_it_fails(server))


def test_a_damaged_model_is_one_clear_sentence(runtime: Runtime) -> None:
    model = runtime(
        "sys.stderr.write('0.00 W srv init: a warning\\n"
        "0.01 E llama_model_load: error loading model: tensor 7 is not within the file bounds\\n"
        "0.02 E srv load_model: failed to load model\\n'); "
        "raise RuntimeError('Failed to init server, please check the input params.')"
    )

    sentence = asyncio.run(why_it_fails(server_for(model)))

    assert sentence == (
        f"the model file {model} cannot be loaded (tensor 7 is not within the file bounds): "
        "it may be damaged or of an unknown kind; choose another GGUF file in the settings"
    )


def test_a_process_that_dies_without_a_word_is_told(runtime: Runtime) -> None:
    sentence = asyncio.run(why_it_fails(server_for(runtime("os.abort()"))))

    assert "it ended without a word" in sentence


def test_a_missing_system_library_is_named_with_its_package(runtime: Runtime) -> None:
    model = runtime("raise ImportError('libgomp.so.1: cannot open shared object file')")

    assert "apt install libgomp1" in asyncio.run(why_it_fails(server_for(model)))


def test_a_missing_file_is_told_without_a_process(tmp_path: Path, runtime: Runtime) -> None:
    runtime(WORKS)
    server = server_for(tmp_path / "gone.gguf")

    assert "gone.gguf cannot be read" in asyncio.run(why_it_fails(server))
    assert server.pid is None


def test_it_ends_when_the_program_is_killed(runtime: Runtime) -> None:
    program = """
import asyncio, sys
from providers.embedded.server import EmbeddedServer, EmbeddedSettings

async def main():
    server = EmbeddedServer(EmbeddedSettings(model_file=sys.argv[1]))
    await server.endpoint()
    print(server.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
    root = Path(__file__).parents[3]
    environment = {**os.environ}
    model = runtime(WORKS)
    environment["PYTHONPATH"] = os.pathsep.join([str(root), os.environ["PYTHONPATH"]])
    with subprocess.Popen(
        [sys.executable, "-c", program, str(model)], stdout=subprocess.PIPE, env=environment
    ) as parent:
        assert parent.stdout is not None
        child = os.pidfd_open(int(parent.stdout.readline()))
        try:
            parent.send_signal(signal.SIGKILL)
            ended, _, _ = select.select([child], [], [], 20)
        finally:
            os.close(child)
    assert ended


def test_a_larger_model_is_held_less(runtime: Runtime) -> None:
    async def scenario() -> None:
        model = runtime(WORKS)
        large_model = model.with_name("large.gguf")
        large_model.write_bytes(b"GGUF")
        os.truncate(large_model, 400_000_000)
        tiny, larger = server_for(model), server_for(large_model)
        text = {"type": "string"}
        await tiny.endpoint()
        await larger.endpoint()

        assert tiny.bound(text) == bound(text, TINY)
        assert larger.bound(text) == bound(text, ROOMY)
        await tiny.aclose()
        await larger.aclose()

    asyncio.run(scenario())


@pytest.mark.parametrize(("processors", "threads"), [(1, 1), (2, 1), (4, 2), (8, 4), (64, 4)])
def test_it_leaves_processors_to_others(
    processors: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: processors)

    assert EmbeddedSettings().n_threads == threads
    assert EmbeddedSettings(threads=7).n_threads == 7
