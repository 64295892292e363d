"""What a model is told when the system refuses something about a file."""

from __future__ import annotations

import errno

from orchestration.tools.tool import FailureKind, ToolFailure

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EFBIG: "it would be larger than the system allows",
    errno.ENAMETOOLONG: "its name is too long",
    errno.ENOTDIR: "a part of its path is a file, not a folder",
    errno.EISDIR: "it is a folder",
    errno.ELOOP: "a part of its path has become a link",
}


def failure_of(error: OSError, label: str, doing: str) -> ToolFailure:
    """Say what could not be done.

    Args:
        error: what the system said.
        label: the path, as output names it.
        doing: what was tried, as a participle: `written`.
    """
    if isinstance(error, FileNotFoundError):
        return ToolFailure(FailureKind.NOT_FOUND, f"there is no '{label}'")
    reason = _REASONS.get(error.errno or 0)
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return ToolFailure(
            FailureKind.PERMISSION_DENIED,
            f"'{label}' cannot be {doing}: {reason or 'the system does not permit it'}",
        )
    return ToolFailure(
        FailureKind.FAILED,
        f"'{label}' cannot be {doing}: {reason or error.strerror or error}",
    )
