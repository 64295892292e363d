"""The plan that plan mode makes: a draft in the run's folder, until it is sealed as an artifact."""

from __future__ import annotations

import contextlib
import re
from hashlib import sha256
from pathlib import Path
from threading import Lock
from uuid import uuid4

from msgspec import Struct

from orchestration.workspace.atomic_files import write_atomically

MAX_PLAN_BYTES = 256 * 1024

_DRAFT_NAME = "PLAN.md"
_SEALED_NAME = re.compile(
    r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})-plan\.md"
)


class PlanRefused(Exception):
    """Something that cannot be done to the plan now; the message says why."""


class SealedPlan(Struct, frozen=True):
    """The plan as it was sealed: `artifact:{id}` reads it; hash and size are of its bytes."""

    id: str
    sha256: str
    bytes: int


class PlanDraft:
    """The plan of one run, `run://PLAN.md`; every method touches the disk.

    What counts is what lies in the folder, so a run that is resumed finds its plan as it left it.
    """

    __slots__ = ("_folder", "_lock")

    def __init__(self, folder: Path) -> None:
        """Take the folder of the run's artifacts; it is made when something is written."""
        self._folder = folder
        self._lock = Lock()

    def read(self) -> str | None:
        """The draft as it stands, `None` where nothing was written yet.

        Raises:
            PlanRefused: the plan is sealed.
        """
        with self._lock:
            self._refuse_if_sealed()
            data = self._draft()
        return None if data is None else data.decode("utf-8", "surrogatepass")

    def write(self, text: str) -> None:
        """Replace the draft.

        Raises:
            PlanRefused: the plan is sealed, or the text is larger than a plan may be.
            OSError: it cannot be written; the draft is as it was.
        """
        data = text.encode("utf-8", "surrogatepass")
        with self._lock:
            self._refuse_if_sealed()
            _refuse_if_large(data)
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._folder / _DRAFT_NAME, data)

    def seal(self) -> SealedPlan:
        """Make an artifact of the draft, which is gone then; a sealed plan is given as it is.

        Raises:
            PlanRefused: there is no draft, or it is blank or too large.
            OSError: it cannot be written; the draft is as it was.
        """
        with self._lock:
            sealed = self._sealed_path()
            if sealed is None:
                data = self._draft()
                if data is None:
                    raise PlanRefused(f"there is no draft yet: write run://{_DRAFT_NAME} first")
                if not data.decode("utf-8", "surrogatepass").strip():
                    raise PlanRefused("the draft is blank")
                _refuse_if_large(data)
                sealed = self._folder / f"{uuid4()}-plan.md"
                write_atomically(sealed, data)
            # Also after a crash between the two: from here on the sealed plan is the one.
            with contextlib.suppress(FileNotFoundError):
                (self._folder / _DRAFT_NAME).unlink()
            return _describe(sealed)

    def sealed(self) -> SealedPlan | None:
        """The sealed plan, `None` as long as there is only a draft."""
        with self._lock:
            path = self._sealed_path()
            return None if path is None else _describe(path)

    def _draft(self) -> bytes | None:
        try:
            return (self._folder / _DRAFT_NAME).read_bytes()
        except FileNotFoundError:
            return None

    def _sealed_path(self) -> Path | None:
        if not self._folder.is_dir():
            return None
        found = (p for p in self._folder.glob("*-plan.md") if _SEALED_NAME.fullmatch(p.name))
        return min(found, default=None)

    def _refuse_if_sealed(self) -> None:
        if (path := self._sealed_path()) is not None:
            raise PlanRefused(f"the plan is sealed; read it at artifact:{_describe(path).id}")


def _refuse_if_large(data: bytes) -> None:
    if len(data) > MAX_PLAN_BYTES:
        raise PlanRefused(f"the plan has {len(data)} bytes, and at most {MAX_PLAN_BYTES} are taken")


def _describe(path: Path) -> SealedPlan:
    data = path.read_bytes()
    return SealedPlan(path.name.removesuffix("-plan.md"), sha256(data).hexdigest(), len(data))
