"""Which folders lie on file systems that others change without this system hearing of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")

# On another computer, or outside of the machine that this system thinks it is.
_SHARED = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "coda", "ceph", "lustre"),
        *("gpfs", "beegfs", "9p", "virtiofs", "vboxsf", "prl_fs", "vmhgfs", "drvfs", "fuse"),
    }
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


def is_shared(folder: Path) -> bool:
    """Whether the folder, or something mounted below it, may be changed from elsewhere.

    Where the system does not list its mounts (other systems than Linux), the answer is no.

    Args:
        folder: an existing folder by its real path.
    """
    try:
        listing = MOUNTS.read_text("utf-8", "surrogateescape")
    except OSError:
        return False
    own = os.stat(folder).st_dev
    device = f"{os.major(own)}:{os.minor(own)}"
    return any(
        where == device or point.is_relative_to(folder) for where, point in _shared_mounts(listing)
    )


def _shared_mounts(listing: str) -> Iterator[tuple[str, Path]]:
    """Device and mount point of each."""
    for line in listing.splitlines():
        fields = line.split(" ")
        kind = fields[fields.index("-") + 1]
        if kind in _SHARED or kind.startswith("fuse."):
            yield fields[2], Path(_ESCAPED.sub(lambda code: chr(int(code[1], 8)), fields[4]))
