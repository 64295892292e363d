"""A scripted server, and each wire in turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from providers.specs import Wire
from tests.support.loopback import LoopbackServer
from tests.support.wire_scripts import SCRIPTS, WireScript


@pytest.fixture(params=list(Wire), ids=[wire.value for wire in Wire])
def script(request: pytest.FixtureRequest) -> WireScript:
    """The replies of one wire; a test that asks for it runs once for each."""
    return SCRIPTS[request.param]


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """A scripted server without a script."""
    with LoopbackServer() as running:
        yield running
