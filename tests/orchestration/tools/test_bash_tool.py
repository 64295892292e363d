"""The `bash` tool: its arguments, what it says, and what is left of a command: nothing."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

from engine.vocabulary.tools import CallPreview, ToolConcurrency, ToolTier
from orchestration.tools.builtin.bash import BASH, DEFINITION, MAX_COMMAND_BYTES, bash
from orchestration.tools.builtin.bash import inspect as inspect_bash
from orchestration.tools.output import MAX_INLINE_BYTES
from orchestration.tools.tool import FailureKind, ToolFailure, ToolOutput
from orchestration.workspace import captured_output
from providers.specs import SPECS
from tests.support.command_rig import (
    PATIENCE_S,
    TEST_MARK,
    alive,
    leap_when_there,
    until_there,
)
from tests.support.tool_bench import ToolBench, admitted_call, context_in


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The execution folder; a person with a profile of their own lives beside it."""
    folder = (tmp_path / "project").resolve()
    (folder / "src").mkdir(parents=True)
    home = tmp_path / "home"
    (home / "tools").mkdir(parents=True)
    (home / ".bash_profile").write_text('export PATH="$PATH:$HOME/tools" EDITOR=vim PROFILE=read\n')
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv(TEST_MARK, str(folder))
    return folder


def answer(project: Path, command: str, **arguments: Any) -> ToolOutput:
    context = context_in(project)
    call = bash({"command": command, **arguments}, context)
    return asyncio.run(asyncio.wait_for(call, PATIENCE_S))


def refusal(project: Path, command: str = "touch ran", **arguments: Any) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        answer(project, command, **arguments)
    assert not list(project.rglob("ran"))
    with pytest.raises(ToolFailure) as foreseen:
        asyncio.run(inspect_bash({"command": command, **arguments}, context_in(project)))
    assert str(foreseen.value) == str(caught.value)
    return caught.value


def body_and_notices(output: ToolOutput) -> tuple[str, list[str]]:
    body, _, notices = output.content.rpartition("\n\n")
    lines = notices.split("\n")
    return body, [line for line in lines if not line.startswith("[wall time ")]


def test_a_command_gives_what_it_prints_and_how_long_it_took(project: Path) -> None:
    output = answer(project, "echo out; echo err >&2; pwd")
    assert not output.is_error
    body, _, notice = output.content.rpartition("\n\n")
    assert body == f"out\nerr\n{project}"
    assert notice.startswith("[wall time ")
    seconds, _, unit = notice.removeprefix("[wall time ").partition(" ")
    assert unit == "s]"
    assert len(seconds.partition(".")[2]) == 2


def test_a_command_without_output_says_so(project: Path) -> None:
    assert body_and_notices(answer(project, "true")) == ("[no output]", [])


def test_another_exit_code_than_zero_is_an_error(project: Path) -> None:
    output = answer(project, "echo half; exit 3")
    assert output.is_error
    assert body_and_notices(output) == ("half", ["[exit code 3]"])


def test_a_command_that_is_killed_names_the_signal(project: Path) -> None:
    output = answer(project, "kill -KILL $$")
    assert output.is_error
    assert body_and_notices(output) == ("[no output]", ["[ended by SIGKILL]"])


def test_what_does_not_parse_is_told_by_bash_with_the_models_own_lines(project: Path) -> None:
    output = answer(project, "true\nif then")
    assert output.is_error
    assert "line 2: syntax error" in output.content


def test_it_is_bash(project: Path) -> None:
    script = "a=(x y); [[ ${a[1]} == y ]] && echo ${BASH_VERSION:+bash} <(true) | cut -c1-9"
    assert body_and_notices(answer(project, script))[0] == "bash /dev"


@pytest.mark.parametrize("command", ["", "  ", "\n\t"])
def test_a_blank_command_is_refused(project: Path, command: str) -> None:
    assert refusal(project, command).kind is FailureKind.INVALID_ARGS


@pytest.mark.parametrize(
    "command", ["touch ran; echo \0", "touch ran \ud800", "touch ran; : " + "x" * MAX_COMMAND_BYTES]
)
def test_a_command_that_no_program_can_be_given_is_refused(project: Path, command: str) -> None:
    assert refusal(project, command).kind is FailureKind.INVALID_ARGS


def test_a_command_as_long_as_the_limit_runs(project: Path) -> None:
    command = "echo fits #"
    output = answer(project, command + "x" * (MAX_COMMAND_BYTES - len(command)))
    assert body_and_notices(output) == ("fits", [])


# The folder


def test_a_command_runs_in_the_folder_that_it_names(project: Path) -> None:
    assert body_and_notices(answer(project, "pwd", cwd="src"))[0] == f"{project}/src"
    assert body_and_notices(answer(project, "pwd", cwd=str(project / "src")))[0].endswith("src")
    assert body_and_notices(answer(project, "pwd", cwd=None))[0] == str(project)


@pytest.mark.parametrize("cwd", ["..", "/", "src/../..", "/tmp", "link", " ", "a\0b"])
def test_a_folder_outside_is_refused(project: Path, cwd: str) -> None:
    (project / "link").symlink_to(project.parent)
    failure = refusal(project, cwd=cwd)
    assert failure.kind is FailureKind.PERMISSION_DENIED
    assert "cwd" in str(failure)


@pytest.mark.parametrize(("cwd", "what"), [("gone", "does not exist"), ("file", "not a folder")])
def test_what_is_no_folder_is_refused(project: Path, cwd: str, what: str) -> None:
    (project / "file").touch()
    failure = refusal(project, cwd=cwd)
    assert failure.kind is FailureKind.NOT_FOUND
    assert what in str(failure)


def test_a_person_is_told_the_folder_and_a_decision_is_bound_to_it(project: Path) -> None:
    (project / "link").symlink_to("src")
    found = asyncio.run(inspect_bash({"command": "x", "cwd": "link"}, context_in(project)))
    assert found.targets == (f"cwd:{project}/src",)
    assert found.preview == CallPreview(cwd="src")
    here = asyncio.run(inspect_bash({"command": "x"}, context_in(project)))
    assert (here.targets, here.preview) == ((f"cwd:{project}",), CallPreview(cwd="."))


# The environment


@pytest.mark.parametrize("name", ["1A", "A-B", "", "A B", "A=B", "Ä", "A\n"])
def test_a_name_that_is_none_is_refused(project: Path, name: str) -> None:
    failure = refusal(project, env={"GOOD": "1", name: "x"})
    assert failure.kind is FailureKind.INVALID_ARGS
    assert repr(name)[1:-1] in str(failure) or name in str(failure)


def test_a_value_that_no_program_can_be_given_is_refused(project: Path) -> None:
    assert "value of A" in str(refusal(project, env={"A": "x\0y"}))


def test_variables_of_the_call_go_over_all_others(project: Path) -> None:
    env = {"EDITOR": "mine", "PATH": "/nowhere", "_x1": "a b\n$c 'ü'", "PROFILE": "changed"}
    script = 'echo "$EDITOR|$PATH|$_x1|$PROFILE"'
    assert body_and_notices(answer(project, script, env=env))[0] == (
        "mine|/nowhere|a b\n$c 'ü'|changed"
    )


def test_a_command_finds_a_login_shell_where_nobody_answers(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASH_ENV", str(project / "startup"))
    (project / "startup").write_text("echo startup was read\n")
    script = (
        'echo "$PROFILE $EDITOR $TERM $CI ${PAGER}$GIT_PAGER ${BASH_ENV-none}"; [ -t 0 ] || cat'
    )
    assert body_and_notices(answer(project, script))[0] == "read true dumb 1 catcat none"


def test_the_path_is_that_of_the_login_shell_and_then_our_own(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = tmp_path / "shell"
    shell.write_text(
        '#!/bin/bash\necho welcome home\n[ "$1" = -lc ] && PATH=/first:/usr/bin && eval "$2"\n'
    )
    shell.chmod(0o755)
    monkeypatch.setenv("SHELL", str(shell))
    monkeypatch.setenv("PATH", "/usr/bin:/bin:/own/last")
    found = body_and_notices(answer(project, 'echo "$PATH"'))[0]
    assert found == "/first:/usr/bin:/bin:/own/last"


@pytest.mark.parametrize("shell", ["/no/such/shell", "/bin/false", ""])
def test_without_a_login_shell_the_path_is_our_own(
    project: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    monkeypatch.setenv("SHELL", shell)
    monkeypatch.setenv("PATH", "/usr/bin:/bin:/own/last")
    assert body_and_notices(answer(project, 'echo "$PATH"'))[0] == "/usr/bin:/bin:/own/last"


def test_keys_of_the_program_are_not_handed_to_commands(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [spec.auth.env_var for spec in SPECS.values() if spec.auth.env_var]
    assert "OPENAI_API_KEY" in names
    for name in names:
        monkeypatch.setenv(name, "secret-of-ours")
    monkeypatch.setenv("DEPLOY_TOKEN", "of-the-user")
    content = answer(project, "env").content
    assert "secret-of-ours" not in content
    assert "DEPLOY_TOKEN=of-the-user" in content


# The time


@pytest.mark.parametrize(
    ("timeout", "used"),
    [
        *((0, 1), (0.5, 1), (-3, 1), (3601, 3600), (1e300, 3600), (math.nan, 1), (math.inf, 3600)),
        *((10**400, 3600), (-(10**400), 1)),
    ],
)
def test_a_timeout_out_of_bounds_is_clamped_and_told(
    project: Path, timeout: float, used: int
) -> None:
    notices = body_and_notices(answer(project, "exec true", timeout=timeout))[1]
    assert notices[0].startswith(f"[the timeout was set to {used} s: ")


@pytest.mark.parametrize("timeout", [1, 3600, 59.5, None])
def test_a_timeout_within_bounds_is_not_worth_a_notice(
    project: Path, timeout: float | None
) -> None:
    assert not body_and_notices(answer(project, ":", timeout=timeout))[1]


def test_a_timeout_is_an_error_with_what_was_printed_so_far(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leap_when_there(project / "begun", monkeypatch)
    script = "setsid sleep 300 & echo so far; touch begun; echo and on; sleep 300"
    output = answer(project, script, timeout=250)
    assert output.is_error
    body, notices = body_and_notices(output)
    assert body.startswith("so far")
    assert notices == ["[timed out after 250 s; everything that it had started was ended]"]
    assert not alive(project)


def test_a_timeout_is_not_tried_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leap_when_there(project / "begun", monkeypatch)
    bench = ToolBench(project, BASH)
    command = "echo run >> runs; touch begun; echo x; sleep 300"
    (result,) = bench.results(admitted_call("bash", command=command))
    assert result.is_error
    assert (project / "runs").read_text() == "run\n"
    assert not bench.pauses


def test_stopping_the_call_ends_the_command(project: Path) -> None:
    async def scenario() -> None:
        script = "setsid sleep 300 & sleep 300 & echo begun > begun; wait"
        call = asyncio.create_task(bash({"command": script}, context_in(project)))
        await until_there(project / "begun")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert not alive(project)

    asyncio.run(scenario())


def test_a_background_child_does_not_hold_the_call(project: Path) -> None:
    output = answer(project, "setsid sleep 300 & sleep 300 & echo done")
    assert body_and_notices(output) == ("done", [])
    assert not output.is_error
    assert not alive(project)


def test_a_command_that_kills_what_watches_over_it_is_told_of(project: Path) -> None:
    output = answer(project, "echo begun; kill -KILL $PPID; sleep 300")
    assert output.is_error
    assert "watches over" in output.content
    assert not alive(project)


# The output


def test_output_of_any_bytes_becomes_text(project: Path) -> None:
    output = answer(project, r"printf 'a\xff\xe2\x82'; printf '\xac\x00 b'")
    assert body_and_notices(output)[0] == "a\ufffd€\0 b"


def test_the_tail_is_shown_while_the_output_grows(project: Path) -> None:
    tails: list[str] = []

    def show(tail: str) -> None:
        tails.append(tail)
        if "second" in tail:
            (project / "seen").touch()

    script = "echo first; sleep 0.2; echo second; while [ ! -e seen ]; do sleep 0.05; done"
    asyncio.run(bash({"command": script}, context_in(project, update=show)))
    assert tails[-1] == "first\nsecond\n"


def test_long_output_is_given_in_full(project: Path) -> None:
    output = answer(project, "seq 1 20000")
    body, notices = body_and_notices(output)
    assert len(body) > MAX_INLINE_BYTES
    assert body == "\n".join(map(str, range(1, 20001)))
    assert not notices


def test_of_endless_output_the_middle_is_left_out_and_that_is_told(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captured_output.CapturedOutput.__init__, "__defaults__", (1000, 1000))
    body, notices = body_and_notices(answer(project, "seq 1 5000; echo end"))
    assert body.startswith("1\n2\n3\n")
    assert body.endswith("\n5000\nend")
    assert len(body) < 2200
    (notice,) = notices
    assert notice.endswith("bytes of the output's middle were not kept]")


# What it is


def test_it_counts_as_writing_and_one_runs_at_a_time_in_a_node() -> None:
    assert BASH.writes
    assert DEFINITION.tier is ToolTier.WRITE
    assert DEFINITION.concurrency is ToolConcurrency.NODE_EXCLUSIVE
    assert all("description" in field for field in DEFINITION.input_schema["properties"].values())
    assert set(DEFINITION.input_schema["properties"]) == {"command", "timeout", "env", "cwd", "_i"}


def test_without_bash_the_call_says_what_is_missing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(ToolFailure, match="there is no 'bash'"):
        answer(project, "true")
