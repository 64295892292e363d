from __future__ import annotations

import logging
from pathlib import Path

import pytest

from orchestration.settings.quirk_store import QuirkStore
from providers.endpoint_report import Finding, Profile, State
from providers.quirks import Quirk


def test_what_is_learned_is_known_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "data" / "quirks.json"
    store = QuirkStore(path)
    store.of("https://a/v1").learn("m", Quirk.NO_FAST_MODE)
    store.of("https://b/v1").learn("n", Quirk.NO_CACHE_KEY)
    store.close()
    again = QuirkStore(path)
    assert again.of("https://a/v1").of("m") == {Quirk.NO_FAST_MODE}
    assert again.of("https://b/v1").of("n") == {Quirk.NO_CACHE_KEY}
    assert again.of("https://a/v1").of("n") == frozenset()


def test_an_endpoint_has_one_record(tmp_path: Path) -> None:
    store = QuirkStore(tmp_path / "quirks.json")
    assert store.of("x") is store.of("x")
    store.close()
    assert not (tmp_path / "quirks.json").exists()


@pytest.mark.parametrize("content", ["{", "[]", '{"x": 1}', '{"x": {"m": 1}}'])
def test_a_damaged_record_is_logged_and_learned_anew(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "quirks.json"
    path.write_text(content)
    store = QuirkStore(path)
    with caplog.at_level(logging.WARNING):
        assert store.of("x").as_data() == {}
    assert "is not used" in caplog.text
    store.of("x").learn("m", Quirk.NO_FAST_MODE)
    store.close()
    assert QuirkStore(path).of("x").of("m") == {Quirk.NO_FAST_MODE}


def test_a_record_that_cannot_be_written_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    store = QuirkStore(tmp_path / "file" / "quirks.json")
    with caplog.at_level(logging.WARNING):
        store.of("x").learn("m", Quirk.NO_FAST_MODE)
        store.close()
    assert "was not written" in caplog.text


def test_what_a_check_found_is_known_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "quirks.json"
    store = QuirkStore(path)
    profile = Profile(
        "2026-01-02T03:04:05+00:00", 8192, (Finding("usage", State.IGNORED, "a detail"),)
    )
    store.of("https://a/v1").checked("m", profile, refused={Quirk.NO_FAST_MODE})
    store.of("https://a/v1").learn("m", Quirk.NO_CACHE_KEY)
    store.close()
    again = QuirkStore(path).of("https://a/v1")
    assert again.of("m") == {Quirk.NO_FAST_MODE, Quirk.NO_CACHE_KEY}
    assert again.profile_of("m") == profile
    assert again.profile_of("n") is None
