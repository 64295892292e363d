"""Which versions of files a run has seen: what a conversation read last, and older versions."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from orchestration.runs.journal import SeenFile

MAX_PATHS = 30
MAX_VERSIONS = 4
MAX_BYTES = 4 * 1024 * 1024


class FileVersion(Struct, frozen=True):
    """The bytes of a file at one time, and their SHA-256 in hex."""

    data: bytes
    digest: str


def digest_of(data: bytes) -> str:
    """The SHA-256 of a file's bytes, in hex."""
    return sha256(data).hexdigest()


class FileMemory:
    """What the conversations of one run have seen of files, by real path.

    Digests are kept for every file that was seen. The bytes of the last few versions are kept for
    the files used last, up to a size, so that an edit of an old version can be carried over. Safe
    to use from several threads: each method does one thing under the interpreter's lock.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, Path], str] = {}
        self._news: dict[str, dict[Path, str]] = {}
        self._versions: OrderedDict[Path, deque[FileVersion]] = OrderedDict()

    def saw(self, conversation_id: str, path: Path, data: bytes) -> None:
        """Note that the conversation knows this version of the file, as read or as written."""
        digest = digest_of(data)
        self.was_shown(conversation_id, path, digest)
        self.keep(path, data, digest)

    def keep(self, path: Path, data: bytes, digest: str) -> None:
        """Keep the bytes of a version that some conversation knows."""
        if len(data) > MAX_BYTES:
            return
        versions = self._versions.setdefault(path, deque(maxlen=MAX_VERSIONS))
        self._versions.move_to_end(path)
        if not any(version.digest == digest for version in versions):
            versions.append(FileVersion(data, digest))
        while len(self._versions) > MAX_PATHS:
            self._versions.popitem(last=False)

    def was_shown(self, conversation_id: str, path: Path, digest: str) -> None:
        """Note that the conversation knows this version, such as by what another one had read."""
        self._seen[conversation_id, path] = digest
        self._news.setdefault(conversation_id, {})[path] = digest

    def news_of(self, conversation_id: str) -> tuple[SeenFile, ...]:
        """What the conversation has seen since the last time that this was asked for."""
        news = self._news.pop(conversation_id, None)
        if not news:
            return ()
        return tuple(
            [SeenFile(conversation_id, str(path), digest) for path, digest in news.items()]
        )

    def recall(self, seen: Iterable[SeenFile]) -> None:
        """Know again what was seen on another day, the latest last."""
        for each in seen:
            self._seen[each.conversation_id, Path(each.path)] = each.digest

    def last_seen(self, conversation_id: str, path: Path) -> str | None:
        """The digest of the version that the conversation saw last, `None` if it saw none."""
        return self._seen.get((conversation_id, path))

    def versions(self, path: Path) -> tuple[FileVersion, ...]:
        """The kept versions of a file, oldest first."""
        return tuple(self._versions.get(path, ()))

    def forget(self, path: Path) -> None:
        """Drop everything about a file that is gone."""
        self._versions.pop(path, None)
        for key in [key for key in self._seen if key[1] == path]:
            self._seen.pop(key, None)
