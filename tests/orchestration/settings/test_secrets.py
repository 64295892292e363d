from __future__ import annotations

import importlib
import stat
import subprocess
import sys
from pathlib import Path

import keyring
import pytest

from orchestration.errors import UserError
from orchestration.settings.secrets import FileSecrets, KeyringSecrets, NoKeyring, Secrets


class FakeKeyring:
    def __init__(self, *, works: bool = True) -> None:
        self.values: dict[str, str] = {}
        self.works = works

    def _check(self) -> None:
        if not self.works:
            raise NoKeyring("no backend")

    def get(self, name: str) -> str | None:
        self._check()
        return self.values.get(name)

    def set(self, name: str, value: str) -> None:
        self._check()
        self.values[name] = value

    def delete(self, name: str) -> None:
        self._check()
        self.values.pop(name, None)

    def place(self) -> str:
        self._check()
        return "the keyring (fake)"


@pytest.fixture
def file(tmp_path: Path) -> FileSecrets:
    return FileSecrets(tmp_path / "data" / "secrets.json")


def test_a_working_keyring_keeps_values_and_no_file_is_made(file: FileSecrets) -> None:
    keyring = FakeKeyring()
    store = Secrets(keyring, file)
    store.set("openai", "sk-1")
    assert keyring.values == {"openai": "sk-1"}
    assert store.get("openai") == "sk-1"
    assert store.place() == "the keyring (fake)"
    assert not file.path.exists()


def test_without_a_keyring_a_file_for_its_owner_alone_keeps_them(file: FileSecrets) -> None:
    store = Secrets(FakeKeyring(works=False), file)
    store.set("openai", "sk-1")
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert store.get("openai") == "sk-1"
    assert str(file.path) in store.place()
    store.delete("openai")
    assert store.get("openai") is None


def test_a_file_with_loose_permissions_is_tightened_when_it_is_written(file: FileSecrets) -> None:
    file.set("a", "1")
    file.path.chmod(0o644)
    file.set("b", "2")
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert (file.get("a"), file.get("b")) == ("1", "2")


def test_values_from_the_file_are_found_when_a_keyring_appears(file: FileSecrets) -> None:
    keyring = FakeKeyring(works=False)
    store = Secrets(keyring, file)
    store.set("openai", "sk-1")
    keyring.works = True
    assert store.get("openai") == "sk-1"
    store.set("openai", "sk-2")
    assert store.get("openai") == "sk-2"
    assert file.get("openai") is None


@pytest.mark.parametrize("content", ["{", "[]", '{"a": 1}'])
def test_a_damaged_file_is_an_error_that_shows_nothing_of_it(
    file: FileSecrets, content: str
) -> None:
    file.path.parent.mkdir()
    file.path.write_text(content)
    with pytest.raises(UserError, match="damaged"):
        file.get("a")


def test_the_keyring_is_not_imported_before_it_is_asked() -> None:
    code = (
        "import sys, pathlib\n"
        "from orchestration.settings.secrets import open_secrets\n"
        "open_secrets(pathlib.Path('x'))\n"
        "sys.exit('keyring' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("backend", ["fail", "null"])
def test_a_system_without_a_backend_that_keeps_things_falls_back(
    file: FileSecrets, backend: str
) -> None:
    before = keyring.get_keyring()
    module = importlib.import_module(f"keyring.backends.{backend}")
    keyring.set_keyring(module.Keyring())
    try:
        store = Secrets(KeyringSecrets(), file)
        store.set("a", "1")
        assert store.get("a") == "1"
        assert file.get("a") == "1"
    finally:
        keyring.set_keyring(before)
