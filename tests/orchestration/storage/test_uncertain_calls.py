"""Calls whose end nobody knows: what is repeated, what a person judges, and by which signs."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.recovery import ABSENT, UNREADABLE, FileEvidence, Sign
from engine.vocabulary.tools import ToolCall
from orchestration.storage.facts import OpenCall
from orchestration.storage.file_evidence import version_of, versions_now
from orchestration.storage.uncertain import (
    Repeat,
    Uncertain,
    classified,
    noted_versions,
)


def open_call(*targets: str, reads: bool = False) -> OpenCall:
    return OpenCall("a", AdmittedCall(ToolCall("c", "write", {}), "d"), 1.0, reads, targets)


def test_a_reading_call_is_made_again() -> None:
    call = open_call("/x@1", reads=True)

    assert classified([call], {}) == ((Repeat(call),), ())


@pytest.mark.parametrize(
    ("targets", "now", "sign"),
    [
        (("/x@1",), {"/x": "1"}, Sign.UNTOUCHED),
        (("/x@absent",), {"/x": ABSENT}, Sign.UNTOUCHED),
        (("/x@absent",), {"/x": "2"}, Sign.CHANGED),
        (("/x@1", "/y@1"), {"/x": "1", "/y": ABSENT}, Sign.CHANGED),
        (("/x@1",), {"/x": UNREADABLE}, Sign.UNKNOWN),
        (("/x@1",), {}, Sign.UNKNOWN),
        (("cwd:/home",), {}, Sign.UNKNOWN),
        ((), {}, Sign.UNKNOWN),
    ],
)
def test_a_writing_call_is_judged_by_what_it_was_about_to_touch(
    targets: tuple[str, ...], now: dict[str, str], sign: Sign
) -> None:
    repeats, (uncertain,) = classified([open_call(*targets)], now)

    assert repeats == ()
    assert uncertain.sign is sign


def test_the_evidence_names_files_and_folders() -> None:
    call = open_call("/a@b/x@1", "cwd:/home/me@there")

    _, found = classified([call], {"/a@b/x": "2"})

    assert found == (
        Uncertain(call, Sign.CHANGED, (FileEvidence("/a@b/x", "1", "2"),), ("/home/me@there",)),
    )
    assert not found[0].files[0].is_same


def test_files_are_looked_at_as_they_are_now(tmp_path: Path) -> None:
    there, gone = tmp_path / "there", tmp_path / "gone"
    there.write_bytes(b"text")
    calls = [open_call(f"{there}@1", f"{gone}@2"), open_call(f"{tmp_path}@3", "cwd:/")]

    found = versions_now(calls)

    assert found == {
        str(there): sha256(b"text").hexdigest(),
        str(gone): ABSENT,
        str(tmp_path): UNREADABLE,
    }
    assert version_of(there / "below a file") == ABSENT
    assert noted_versions(["no version", "cwd:/x@1", "/x@1"]) == {"/x": "1"}
