"""Where settings, runs and managed folders live."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

DATA_DIR_VARIABLE = "OPENFLOW_DATA_DIR"


def data_folder(chosen: Path | None, env: Mapping[str, str]) -> Path:
    """The data folder: the chosen one, else what the environment names, else the platform's."""
    if chosen is not None:
        return chosen.expanduser().absolute()
    if named := env.get(DATA_DIR_VARIABLE, "").strip():
        return Path(named).expanduser().absolute()
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


def managed_folder(data_dir: Path, workflow_id: str) -> Path:
    """The execution folder of a workflow that was given none; it may not exist yet."""
    return data_dir / "workspaces" / "workflows" / path_segment(workflow_id)


def path_segment(text: str) -> str:
    """A text as one path component: bytes outside `A-Za-z0-9-_.` percent-encoded, `%` for none."""
    encoded = re.sub(
        rb"[^A-Za-z0-9\-_.]",
        lambda match: b"%%%02X" % match.group()[0],
        text.encode("utf-8", "surrogatepass"),
    ).decode("ascii")
    if encoded.strip(".") == "":  # dots alone mean a folder that is there already
        return encoded.replace(".", "%2E") or "%"
    return encoded
