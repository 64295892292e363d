"""What can go wrong with what is kept; each message is one sentence for a person."""

from __future__ import annotations

from pathlib import Path

from orchestration.errors import UserError


class StorageError(UserError):
    """Facts could not be kept or read; a run that cannot keep its facts has to stop."""


class StorageFull(StorageError):
    """The disk, or the database's share of it, is full."""


class StorageDamaged(StorageError):
    """The database holds bytes that are not its own; `backup` is the latest good copy."""

    def __init__(self, message: str, backup: Path | None = None) -> None:
        self.backup = backup
        super().__init__(message)


class StorageBusy(StorageError):
    """Another process has kept the database locked for longer than anyone waits."""


class StorageUnavailable(StorageError):
    """The database cannot be reached, read or written."""


class StorageReadOnly(StorageUnavailable):
    """Nothing can be written there; what is stored may still be read."""


class StorageClosed(StorageError):
    """The database was closed before this was asked."""

    def __init__(self) -> None:
        super().__init__("the run database is closed; start the program again")


class NewerDatabase(StorageError):
    """The database was made by a newer version of the program."""


class MissingDriver(StorageError):
    """The database needs a Python package that is not installed."""


class RunNotStored(StorageError):
    """There is no stored run with this id."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(f"no run '{run_id}' is stored here; list the runs to see their ids")


class RunAlreadyStored(StorageError):
    """A run with this id is stored already."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(f"run '{run_id}' is stored here already; delete it first")


class RunIsDriven(StorageError):
    """Another process drives the run, so that this one may not."""

    def __init__(self, run_id: str, holder: str) -> None:
        self.run_id = run_id
        super().__init__(
            f"run '{run_id}' is being driven by {holder}; close it there, or look at it read only"
        )


class LeaseLost(StorageError):
    """This process slept so long that another one has taken the run over."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(
            f"run '{run_id}' was taken over by another process while this one was not heard of; "
            "it goes on there"
        )


class UnreadableRun(StorageError):
    """A stored run, or a file with one, does not hold what it has to."""


class HoldsSecret(StorageError):
    """An export was refused, since it would have held a key; `places` says where."""

    def __init__(self, places: tuple[str, ...]) -> None:
        self.places = places
        shown = ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
        super().__init__(
            f"the run was not exported, since it holds the value of a stored key: {shown}"
        )
