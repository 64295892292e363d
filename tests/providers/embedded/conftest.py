"""One running model for all tests that need one, and a stand-in for those that need none."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from providers.embedded.server import EmbeddedServer

_RUNTIME = """
class _Anything:
    pass


class CommonParams:
    def __init__(self):
        self.model, self.sampling = _Anything(), _Anything()
        self.cpuparams, self.cpuparams_batch = _Anything(), _Anything()


class Server:
    listening_address = "http://127.0.0.1:9"

    def __init__(self, params):
        import os, signal, sys, time
        {body}
"""


@pytest.fixture(scope="session")
def embedded_server() -> Iterator[EmbeddedServer]:
    """The embedded model, up and running."""
    server = EmbeddedServer()
    asyncio.run(server.endpoint())
    yield server
    asyncio.run(server.aclose())


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a runtime in place whose server does what it is told; gives a file to load with it."""

    def install(body: str) -> Path:
        package = tmp_path / "site" / "xllamacpp"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(_RUNTIME.format(body=body), encoding="utf-8")
        monkeypatch.syspath_prepend(package.parent)
        monkeypatch.setenv("PYTHONPATH", str(package.parent), prepend=os.pathsep)
        model = tmp_path / "model.gguf"
        model.write_bytes(b"GGUF" + bytes(20))
        return model

    return install
