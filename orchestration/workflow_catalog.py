"""Workflow files: open them, save them, and the examples that come with the program."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from uuid import uuid4

from msgspec import Struct

from engine.graph.serialization import WorkflowFormatError, dump_workflow, load_workflow
from engine.graph.templates import new_agent_config
from engine.graph.workflow import Node, Position, Workflow
from orchestration.errors import UserError
from orchestration.workspace.atomic_files import backup_path, set_aside, write_atomically

MAX_FILE_BYTES = 32 * 1024 * 1024
_SHOWN_PROBLEMS = 3


class Example(Struct, frozen=True):
    """A workflow that comes with the program; `name` is its file's name without the suffix."""

    name: str
    path: Path


class NotAWorkflow(UserError):
    """The file was read and holds no workflow."""


def open_workflow(path: Path) -> Workflow:
    """Read a workflow file; the workflow itself may still be invalid.

    Raises:
        UserError: one sentence with the file, the place in it and what to do.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise UserError(f"there is no file {path}; check its name") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder; name a workflow file in it") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {_words(error)}") from error
    if len(data) > MAX_FILE_BYTES:
        limit = MAX_FILE_BYTES // 2**20
        raise UserError(f"{path} is larger than {limit} MiB, so it is not taken for a workflow")
    try:
        return load_workflow(data)
    except WorkflowFormatError as error:
        raise NotAWorkflow(_what_is_wrong(path, error)) from None


def save_workflow(workflow: Workflow, path: Path) -> None:
    """Write a workflow file; the version before is kept beside it as `.bak`.

    A version before that holds no workflow is set aside under a name of its own, so that it does
    not take the place of a good backup.

    Raises:
        UserError: it could not be written; the file is as it was.
    """
    try:
        data = dump_workflow(workflow).encode("utf-8")
    except (TypeError, ValueError) as error:
        raise UserError(f"{path} was not saved: a schema holds no JSON value ({error})") from error
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not _holds_a_workflow(path):
            set_aside(path)
        write_atomically(path, data, keep_backup=True)
    except (OSError, ValueError) as error:
        raise UserError(f"{path} was not saved: {_words(error)}") from error


def create_workflow(folder: Path) -> Path:
    """Make a file in `folder` with a workflow of one node, under a name that is free; give it.

    Raises:
        UserError: it could not be written.
    """
    node = Node(
        id=str(uuid4()),
        label="Idea",
        kind="agent",
        position=Position(x=80, y=120),
        agent=new_agent_config(),
    )
    for number in range(1, 10_000):
        name = "Untitled" if number == 1 else f"Untitled {number}"
        path = folder / f"{name.lower().replace(' ', '-')}.workflow.json"
        if not path.exists():
            workflow = Workflow(id=str(uuid4()), name=name, nodes=(node,), edges=())
            save_workflow(workflow, path)
            return path
    raise UserError(f"there are too many untitled workflows in {folder}; rename some of them")


def is_example(path: Path) -> bool:
    """Whether a file is one that comes with the program, which is never written."""
    return path.parent == Path(str(resources.files("resources") / "examples"))


def examples() -> tuple[Example, ...]:
    """The workflows that come with the program, by name."""
    # The package is always unpacked, so its files have paths.
    folder = Path(str(resources.files("resources") / "examples"))
    suffix = ".workflow.json"
    return tuple(
        Example(path.name.removesuffix(suffix), path) for path in sorted(folder.glob(f"*{suffix}"))
    )


def _holds_a_workflow(path: Path) -> bool:
    try:
        open_workflow(path)
    except NotAWorkflow:
        return False
    return True


def _what_is_wrong(path: Path, error: WorkflowFormatError) -> str:
    messages = [problem.message for problem in error.problems]
    shown = "; ".join(messages[:_SHOWN_PROBLEMS])
    more = len(messages) - _SHOWN_PROBLEMS
    rest = f" (and {more} more)" if more > 0 else ""
    backup = backup_path(path)
    hint = f"; the version before is {backup}" if backup.exists() else ""
    return f"{path} is not a workflow: {shown}{rest}{hint}"


def _words(error: Exception) -> str:
    return str(error.strerror or error) if isinstance(error, OSError) else str(error)
