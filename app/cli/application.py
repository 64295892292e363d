"""The command line as a whole: its commands, and how errors become one sentence and a status."""

from __future__ import annotations

import functools
import logging
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated, ParamSpec

import typer
from typer.exceptions import TyperException

from app.cli import diff, providers, run, runs, validate, version
from app.cli.console import OutputLost, say
from app.cli.session import DataDir, Debug, Session
from orchestration.errors import UserError

Parameters = ParamSpec("Parameters")
FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130


def command_line(words: Sequence[str]) -> int:
    """Run one command and give the exit status of the program."""
    session = Session()
    # Without a handler, Python prints records to standard error, where only sentences belong.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        status = _application()(
            list(words), prog_name="openflow", standalone_mode=False, obj=session
        )
    except TyperException as error:
        say(f"openflow: {_usage(error)}")
        return WRONG_USAGE
    except typer.Abort:
        return INTERRUPTED
    except SystemExit:
        # The help was cut short by a reader that has enough; nothing else ends this way.
        return 0
    except Exception as error:  # noqa: BLE001 - the outermost frame: nothing is above to tell
        if session.debug:
            traceback.print_exc()
        return _tell(error)
    return int(status or 0)


def command_names() -> frozenset[str]:
    """The names of all commands."""
    application = _application()
    names = [command.name for command in application.registered_commands]
    names += [group.name for group in application.registered_groups]
    return frozenset(name for name in names if name)


def _application() -> typer.Typer:
    application = typer.Typer(
        name="openflow",
        help="Run workflows of AI agents. Without a command, the window opens.",
        pretty_exceptions_enable=False,
        no_args_is_help=True,
    )
    application.callback()(_options)
    application.command("run")(_told_when_interrupted(run.run))
    application.command("validate")(_told_when_interrupted(validate.validate))
    application.command("diff")(_told_when_interrupted(diff.diff))
    application.command("version")(version.version)
    application.add_typer(providers.commands, name="providers")
    application.add_typer(_runs(), name="runs")
    return application


def _runs() -> typer.Typer:
    commands = typer.Typer(help=runs.HELP, no_args_is_help=True)
    for name, command in runs.COMMANDS.items():
        commands.command(name)(_told_when_interrupted(command))
    return commands


def _options(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and leave.",
            callback=version.show_and_leave,
            is_eager=True,
        ),
    ] = False,
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Take the options that stand before a command."""


def _told_when_interrupted(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """The command with a word for Ctrl+C before or after the run that takes care of it itself."""

    @functools.wraps(command)
    def run_command(*arguments: Parameters.args, **options: Parameters.kwargs) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt:
            say("openflow: stopped by Ctrl+C")
            raise typer.Exit(INTERRUPTED) from None

    return run_command


def _tell(error: Exception) -> int:
    match error:
        case UserError():
            say(f"openflow: {error}")
            return WRONG_USAGE
        case OutputLost():
            say(f"openflow: standard output could not be written: {error}")
            return FAILED
        case OSError():
            where = error.filename or "standard output or another file"
            say(f"openflow: the system refuses access to {where}: {error.strerror or error}")
            return FAILED
    say(
        f"openflow: a mistake in the program stopped it ({type(error).__name__}: {error}); "
        "please report it with what --debug shows"
    )
    return FAILED


def _usage(error: TyperException) -> str:
    sentence = error.format_message().strip().rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "openflow"
    return f"{sentence[:1].lower()}{sentence[1:]}; '{command} --help' shows what it takes"
