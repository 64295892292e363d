"""What becomes of calls whose end nobody knows, judged by what can still be found out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from engine.vocabulary.recovery import UNREADABLE, FileEvidence, Sign
from orchestration.storage.facts import OpenCall

_CWD = "cwd:"


class Repeat(Struct, frozen=True):
    """A call that only reads: it is made again."""

    call: OpenCall


class Uncertain(Struct, frozen=True):
    """A call that may have written: a person says whether it is done, to be redone or skipped."""

    call: OpenCall
    sign: Sign
    files: tuple[FileEvidence, ...] = ()
    folders: tuple[str, ...] = ()


def noted_versions(targets: Iterable[str]) -> dict[str, str]:
    """Paths and versions in the targets of a call; see `CallInspection.targets`."""
    versions = {}
    for target in targets:
        path, at, version = target.rpartition("@")
        if at and not target.startswith(_CWD):
            versions[path] = version
    return versions


def classified(
    calls: Sequence[OpenCall], now: Mapping[str, str]
) -> tuple[tuple[Repeat, ...], tuple[Uncertain, ...]]:
    """Tell calls that can be repeated from those that a person has to judge.

    Args:
        calls: calls that were about to run and have no known end.
        now: the version of each noted path now; what is missing counts as unreadable.
    """
    repeats, uncertain = [], []
    for call in calls:
        if call.reads:
            repeats.append(Repeat(call))
            continue
        files = tuple(
            FileEvidence(path, before, now.get(path, UNREADABLE))
            for path, before in noted_versions(call.targets).items()
        )
        folders = tuple(t[len(_CWD) :] for t in call.targets if t.startswith(_CWD))
        uncertain.append(Uncertain(call, _sign(files), files, folders))
    return tuple(repeats), tuple(uncertain)


def _sign(files: Sequence[FileEvidence]) -> Sign:
    if not files or any(UNREADABLE in (file.before, file.now) for file in files):
        return Sign.UNKNOWN
    return Sign.UNTOUCHED if all(file.is_same for file in files) else Sign.CHANGED
