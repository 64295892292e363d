from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestration.errors import UserError
from orchestration.settings.model import ProviderProfile, Settings
from orchestration.settings.store import SettingsStore


@pytest.fixture
def store(tmp_path: Path) -> SettingsStore:
    return SettingsStore(tmp_path / "data" / "settings.json")


def test_without_a_file_there_are_the_defaults_and_no_file(store: SettingsStore) -> None:
    loaded = store.load()
    assert (loaded.settings, loaded.notice) == (Settings(), None)
    assert not store.path.parent.exists()


def test_what_is_saved_is_loaded_again(store: SettingsStore) -> None:
    settings = Settings(
        active_provider="openai",
        providers={"openai": ProviderProfile(wire="chat", key_ref="openai", timeout_s=5)},
    )
    store.save(settings)
    assert store.load().settings == settings


def test_keys_of_a_later_version_survive(store: SettingsStore) -> None:
    store.path.parent.mkdir()
    store.path.write_text('{"new_thing": [1], "providers": {"openai": {"colour": "red"}}}')
    store.save(store.load().settings)
    written = json.loads(store.path.read_text())
    assert written == {"new_thing": [1], "providers": {"openai": {"colour": "red"}}}


@pytest.mark.parametrize(
    "damage",
    [b"", b"\0\0\0", b'{"active_provider": "op', b"[]", b'{"limits": {"tools": 0}}', b"\xff"],
)
def test_a_damaged_file_is_set_aside_and_told(store: SettingsStore, damage: bytes) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(damage)
    loaded = store.load()
    assert loaded.settings == Settings()
    assert loaded.notice is not None
    (kept,) = store.path.parent.iterdir()
    assert kept.name.startswith("settings.damaged-")
    assert kept.read_bytes() == damage
    assert kept.name in loaded.notice
    assert store.load().notice is None


def test_the_notice_offers_the_version_before(store: SettingsStore) -> None:
    store.save(Settings(active_provider="openai"))
    store.save(Settings(active_provider="groq"))
    store.path.write_bytes(b"{")
    assert "settings.json.bak" in (store.load().notice or "")


def test_a_file_that_cannot_be_read_is_an_error_of_its_own(store: SettingsStore) -> None:
    store.path.mkdir(parents=True)
    with pytest.raises(UserError, match="cannot be read"):
        store.load()


def test_a_save_that_fails_says_where(store: SettingsStore) -> None:
    store.path.parent.write_text("a file where the folder should be")
    with pytest.raises(UserError, match="could not be saved to"):
        store.save(Settings())


def test_a_byte_order_mark_is_no_damage(store: SettingsStore) -> None:
    store.path.parent.mkdir()
    store.path.write_text('{"active_provider": "groq"}', encoding="utf-8-sig")
    loaded = store.load()
    assert (loaded.settings.active_provider, loaded.notice) == ("groq", None)


def test_a_data_folder_that_is_a_file_is_named(store: SettingsStore) -> None:
    store.path.parent.write_text("a file where the folder should be")
    with pytest.raises(UserError, match="data is not a folder; choose another with --data-dir"):
        store.load()
