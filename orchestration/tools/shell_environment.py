"""The environment in which commands run: nobody is there to answer, page or look at colours."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from orchestration.workspace.process import Command, CommandNotStarted, Ending, run_command
from providers.specs import SPECS

_UNATTENDED = {
    "CI": "1",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "CLICOLOR": "0",
    "CARGO_TERM_COLOR": "never",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "GH_PAGER": "cat",
    "BAT_PAGER": "cat",
    "DELTA_PAGER": "cat",
    "PSQL_PAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "AWS_PAGER": "",
    "LESS": "-FRX",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    "GH_PROMPT_DISABLED": "1",
    "GCM_INTERACTIVE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTCHANGES_FRONTEND": "none",
    "NEEDRESTART_MODE": "a",
    "HOMEBREW_NO_AUTO_UPDATE": "1",
    "HOMEBREW_NO_ENV_HINTS": "1",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_PROGRESS_BAR": "off",
    "POETRY_NO_INTERACTION": "1",
    "PYTHONUNBUFFERED": "1",
    "npm_config_yes": "true",
    "npm_config_fund": "false",
    "npm_config_audit": "false",
    "npm_config_progress": "false",
    "npm_config_update_notifier": "false",
    "YARN_ENABLE_PROGRESS_BARS": "0",
    "COMPOSER_NO_INTERACTION": "1",
    "DOTNET_NOLOGO": "1",
    "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
    "CHECKPOINT_DISABLE": "1",
    "TF_INPUT": "0",
    "TF_IN_AUTOMATION": "1",
}
# Files that a shell would run first, and the keys of the services that models are called at.
_WITHHELD = {"BASH_ENV", "ENV", *(spec.auth.env_var for spec in SPECS.values())}
_OWN = "OPENFLOW_"

_LOGIN_S = 10.0
_EDGE = "\x1e"
_BETWEEN = re.compile(f"{_EDGE}([^{_EDGE}]*){_EDGE}")
_login_paths: dict[tuple[str | None, ...], str] = {}


def inherited_environment() -> dict[str, str]:
    """What commands get of this program's own environment."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _WITHHELD and not name.startswith(_OWN)
    }


async def shell_argv(command: str, extra: dict[str, str], cwd: Path) -> tuple[str, ...]:
    """How to have a shell run a command.

    A login shell comes first, for what a person's profile sets; then the unattended defaults, the
    path and at last `extra` are put over that.

    Raises:
        CommandNotStarted: there is no such shell.
    """
    if sys.platform == "win32":
        return (os.environ.get("COMSPEC", "cmd.exe"), "/S", "/C", command)
    bash = shutil.which("bash")
    if bash is None:
        raise CommandNotStarted("there is no 'bash' on this computer")
    over = {**_UNATTENDED, "PATH": await login_path(cwd), **extra}
    settings = (f"{name}={value}" for name, value in over.items())
    return (
        bash,
        "-lc",
        'exec "$@"',
        "bash",
        "/usr/bin/env",
        *settings,
        bash,
        "-c",
        command,
        "bash",
    )


def shell_environment(extra: dict[str, str]) -> dict[str, str]:
    """The environment that the shell itself starts with; `extra` is not for a person's profile."""
    own = {**inherited_environment(), **_UNATTENDED}
    return {**own, **extra} if sys.platform == "win32" else own


async def login_path(cwd: Path) -> str:
    """PATH as the person's login shell sets it, then what else this program has in its own.

    The shell is asked once; where it does not answer, this program's PATH is all there is.
    """
    own = os.environ.get("PATH", os.defpath)
    shell = os.environ.get("SHELL")
    asked = (shell, os.environ.get("HOME"), own)
    if asked not in _login_paths:
        told = await _ask(shell, cwd) if shell else None
        entries = [*(told or "").split(os.pathsep), *own.split(os.pathsep)]
        _login_paths[asked] = os.pathsep.join(dict.fromkeys(filter(None, entries)))
    return _login_paths[asked]


async def _ask(shell: str, cwd: Path) -> str | None:
    script = f"printf '{_EDGE}%s{_EDGE}' \"$PATH\""
    question = Command(
        argv=(shell, "-lc", script),
        cwd=cwd,
        env=inherited_environment(),
        timeout_s=_LOGIN_S,
        keeps_errors=False,
    )
    try:
        finished = await run_command(question)
    except CommandNotStarted:
        return None
    answer = _BETWEEN.search(finished.text)
    return answer[1] if answer and finished.end.ending is Ending.EXITED else None
