"""Write a report to a file, unless it would hold a key."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from orchestration.errors import UserError
from orchestration.report.as_html import as_html
from orchestration.report.as_markdown import as_markdown
from orchestration.report.blocks import Report
from orchestration.storage.errors import HoldsSecret, StorageUnavailable
from orchestration.storage.secret_scan import SecretScanner
from orchestration.workspace.atomic_files import write_atomically

FORMATS: Mapping[str, Callable[[Report], str]] = {"html": as_html, "md": as_markdown}
_ENDINGS = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md"}


def format_of(path: Path) -> str:
    """Which format the ending of a file's name asks for.

    Raises:
        UserError: it asks for none that there is.
    """
    found = _ENDINGS.get(path.suffix.lower())
    if found is None:
        raise UserError(f"{path.name} ends in neither .html nor .md: name a file that does")
    return found


def rendered(report: Report, wanted: str, secrets: Iterable[str]) -> str:
    """The report in a format of `FORMATS`.

    Raises:
        HoldsSecret: it would hold the value of a known key.
    """
    text = FORMATS[wanted](report)
    scanner = SecretScanner(secrets)
    # Marking up changes some signs, so what goes into it is looked through as well.
    sources = "\n".join(report.texts())
    if any(scanner.is_in(each.encode("utf-8", "surrogatepass")) for each in (sources, text)):
        raise HoldsSecret(("the report",))
    return text


def write_report(path: Path, text: str) -> None:
    """Put a text into a file at once. Blocking.

    Raises:
        StorageUnavailable: it cannot be written.
    """
    try:
        write_atomically(path, text.encode("utf-8", "replace"))
    except OSError as error:
        reason = error.strerror or os.fspath(path)
        raise StorageUnavailable(f"the report cannot be written to {path} ({reason})") from error
