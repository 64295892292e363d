"""Paths as other systems write them: read where that is safe, refused where it is not."""

from __future__ import annotations

import os
import re
from pathlib import Path

_DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\|//[?.]/")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)", re.IGNORECASE)


def localised(root: Path, text: str, *, on_windows: bool = os.name == "nt") -> str:
    """Write a relative path with this system's separators.

    On POSIX a backslash separates folders unless there is a file with one in its name.

    Raises:
        ValueError: it names a drive or a share of Windows, or, there, a device or a stream of a
            file; the message says which.
    """
    if on_windows:
        _refuse_devices(text)
        return text
    if _DRIVE.match(text):
        raise ValueError("names a drive or a share of Windows, and this is another system")
    if "\\" not in text or os.path.lexists(root / text):
        return text
    return text.replace("\\", "/")


def _refuse_devices(text: str) -> None:
    parts = re.split(r"[\\/]+", re.sub(r"^[A-Za-z]:", "", text))
    for part in parts:
        if ":" in part:
            raise ValueError(f"names a stream of a file: '{part}'")
        if part.strip(". ") and part != part.rstrip(". "):
            raise ValueError(f"has a name that ends with a dot or a blank: '{part}'")
        if _DEVICE.fullmatch(part.partition(".")[0].strip()):
            raise ValueError(f"names a device: '{part}'")
