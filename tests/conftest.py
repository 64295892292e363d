"""What holds for every test: a world of its own, no network, nothing left running, no error logged.

A test that provokes errors which are logged asks for pytest's `caplog` and judges them itself.
"""

from __future__ import annotations

import gc
import itertools
import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.leak_check import LeakCheck, TaskWatch
from tests.support.log_guard import LogGuard
from tests.support.network_guard import NetworkGuard

_PERSONAL_PREFIXES = ("OPENFLOW_", "OPENAI_", "ANTHROPIC_", "AZURE_", "GOOGLE_", "GEMINI_")
_PERSONAL_SUFFIXES = ("_API_KEY", "_AUTH_TOKEN", "_BASE_URL", "_TOKEN", "_PROXY")


def _forget_the_person(environment: os._Environ[str]) -> None:
    """Take away what a person's shell may say about accounts, keys and proxies."""
    for name in list(environment):
        upper = name.upper()
        if upper.startswith(_PERSONAL_PREFIXES) or upper.endswith(_PERSONAL_SUFFIXES):
            del environment[name]


_forget_the_person(os.environ)
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# As on a machine without a keyring: no test reads or writes that of whoever runs it.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

# A busy machine makes no test fail: whatever has to be quick is measured, not guessed at.
settings.register_profile("any-machine", deadline=None, print_blob=True, max_examples=50)
settings.register_profile("thorough", settings.get_profile("any-machine"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "any-machine"))

_WINDOW_TESTS = Path(__file__).parent / "app"

_patch = pytest.MonkeyPatch()
_network = NetworkGuard()
_tasks = TaskWatch()
_log = LogGuard()
_numbers = itertools.count(1)


def _hear_signals() -> None:
    """Let programs that tests start hear signals, whoever started the tests in the background."""
    for name, handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_configure() -> None:
    """Put the guards in place before anything of ours is imported."""
    _hear_signals()
    _network.install(_patch)
    _tasks.install(_patch)
    logging.getLogger().addHandler(_log)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name long bytes after their argument: packed data may hold the time of day, a name may not.

    The processes that share the tests must all collect the same names.
    """
    return argname if isinstance(val, bytes) and len(val) > 20 else None


def pytest_unconfigure() -> None:
    """Take the guards away."""
    logging.getLogger().removeHandler(_log)
    _patch.undo()


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Nothing is read from or written to the folders of whoever runs the tests."""
    base = tmp_path_factory.mktemp("person")
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            patch.setenv(variable, str(base / variable.lower()))
        yield base


@pytest.fixture(scope="session", autouse=True)
def _nothing_left_at_the_end() -> Iterator[None]:
    """No child process outlives the fixtures that the tests share."""
    check = LeakCheck()
    yield
    left = check.left_over()
    assert not left, f"the tests left running: {'; '.join(left)}"


@pytest.fixture(autouse=True)
def data_dir(_own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of this test alone; not there yet, as on a fresh machine."""
    folder = _own_folders / "data" / str(next(_numbers))
    monkeypatch.setenv("OPENFLOW_DATA_DIR", str(folder))
    return folder


@pytest.fixture(autouse=True)
def _garbage_on_the_main_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """A Qt object that is collected on a thread not its own takes the process down later on.

    The program keeps Python from doing so, and so do the tests of the window.
    """
    if request.path.is_relative_to(_WINDOW_TESTS):
        gc.disable()
        yield
        gc.collect()
    else:
        if not gc.isenabled():
            gc.collect()
            gc.enable()
        yield


@pytest.fixture(autouse=True)
def _clean_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that logs an error, reaches for the network or leaves something running."""
    _log.take()
    _tasks.left.clear()
    _network.refused.clear()
    # The embedded model's process is shared by the tests that use it; the end of the session
    # is when it must be gone.
    check = LeakCheck(children=request.node.get_closest_marker("local") is None)
    yield
    complaints = [f"left running: {what}" for what in (*_tasks.left, *check.left_over())]
    complaints += [f"tried to reach {target}" for target in _network.refused]
    if "caplog" not in request.fixturenames:
        complaints += [f"logged: {record.name}: {record.getMessage()}" for record in _log.take()]
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)
