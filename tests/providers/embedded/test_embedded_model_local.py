"""The real model behind the real server."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from providers.embedded.model_file import bundled_model
from providers.embedded.server import EmbeddedModelError, EmbeddedServer, EmbeddedSettings

pytestmark = pytest.mark.local


def status(url: str, key: str | None = None) -> int:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_it_answers_its_key_and_no_other(embedded_server: EmbeddedServer) -> None:
    endpoint = asyncio.run(embedded_server.endpoint())

    assert endpoint.base_url.startswith("http://127.0.0.1:")
    assert status(f"{endpoint.base_url}/models", endpoint.api_key) == 200
    assert status(f"{endpoint.base_url}/models") == 401
    assert status(f"{endpoint.base_url}/models", "another-key") == 401


def test_a_cut_off_model_file_is_one_clear_sentence(tmp_path: Path) -> None:
    bundled = bundled_model()
    assert bundled is not None
    cut = tmp_path / "cut.gguf"
    with bundled.open("rb") as whole:
        cut.write_bytes(whole.read(20_000_000))
    server = EmbeddedServer(EmbeddedSettings(model_file=str(cut)))

    with pytest.raises(EmbeddedModelError) as failed:
        asyncio.run(server.endpoint())
    asyncio.run(server.aclose())

    sentence = failed.value.sentence
    assert str(cut) in sentence
    assert "corrupted or incomplete" in sentence
    assert "\n" not in sentence
