"""Where settings, runs and managed folders live."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from orchestration.errors import UserError

DATA_DIR_VARIABLE = "OPENFLOW_DATA_DIR"
MAX_SEGMENT = 120
_DIGEST_DIGITS = 16


def data_folder(chosen: Path | None, env: Mapping[str, str]) -> Path:
    """The data folder: the chosen one, else what the environment names, else the platform's.

    Raises:
        UserError: the name leads nowhere, such as to the home of a user whom there is not.
    """
    if chosen is not None:
        return _absolute(chosen)
    if named := env.get(DATA_DIR_VARIABLE, "").strip():
        return _absolute(Path(named))
    # Imported here: it is not needed where the folder is chosen.
    from platformdirs import user_data_path

    return user_data_path("openflow", appauthor=False)


def settings_file(data_dir: Path) -> Path:
    """Where the settings are kept."""
    return data_dir / "settings.json"


def secrets_file(data_dir: Path) -> Path:
    """Where keys are kept on a computer without a keyring."""
    return data_dir / "secrets.json"


def quirks_file(data_dir: Path) -> Path:
    """Where it is kept what endpoints were found to refuse."""
    return data_dir / "quirks.json"


def log_file(data_dir: Path) -> Path:
    """Where the log for finding out what went wrong is written, if it is wanted."""
    return data_dir / "logs" / "openflow.log.jsonl"


def agents_file(data_dir: Path) -> Path:
    """Where the saved agents are kept."""
    return data_dir / "agents.json"


def runs_folder(data_dir: Path) -> Path:
    """Where each run has a folder of its own; it may not exist yet."""
    return data_dir / "runs"


def managed_folder(data_dir: Path, workflow_id: str) -> Path:
    """The execution folder of a workflow that was given none; it may not exist yet."""
    return data_dir / "workspaces" / "workflows" / path_segment(workflow_id)


def path_segment(text: str) -> str:
    """A text as one path component that any file system takes.

    Bytes outside `A-Za-z0-9-_.` are percent-encoded; nothing becomes `%`, and what is too long ends
    in its digest.
    """
    encoded = re.sub(
        rb"[^A-Za-z0-9\-_.]",
        lambda match: b"%%%02X" % match.group()[0],
        text.encode("utf-8", "surrogatepass"),
    ).decode("ascii")
    if encoded.strip(".") == "":  # dots alone mean a folder that is there already
        encoded = encoded.replace(".", "%2E") or "%"
    if len(encoded) <= MAX_SEGMENT:
        return encoded
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_DIGITS]
    return f"{encoded[: MAX_SEGMENT - _DIGEST_DIGITS - 1]}-{digest}"


def _absolute(path: Path) -> Path:
    try:
        return path.expanduser().absolute()
    except (OSError, RuntimeError) as error:  # no such user, or the current folder is gone
        raise UserError(
            f"the data folder {path} cannot be found ({error}); "
            f"name it by its whole path with --data-dir or {DATA_DIR_VARIABLE}"
        ) from error
