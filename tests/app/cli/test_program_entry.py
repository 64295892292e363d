from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.__main__ import COMMANDS, WindowRequest, main, window_request


@pytest.mark.parametrize(
    ("words", "request_"),
    [
        ([], WindowRequest(None, None, False)),
        (["a.json"], WindowRequest(Path("a.json"), None, False)),
        (["--data-dir", "d", "a.json"], WindowRequest(Path("a.json"), Path("d"), False)),
        (["a.json", "--data-dir=d", "--debug"], WindowRequest(Path("a.json"), Path("d"), True)),
    ],
)
def test_no_command_means_the_window(words: list[str], request_: WindowRequest) -> None:
    assert window_request(words) == request_


@pytest.mark.parametrize(
    "words",
    [
        ["run", "a.json"],
        ["--data-dir", "d", "run", "a.json"],
        ["--version"],
        ["--help"],
        ["validate"],
        ["providers", "list"],
        ["a.json", "b.json"],
        ["--data-dir"],
        ["--nonsense"],
    ],
)
def test_everything_else_is_for_the_command_line(words: list[str]) -> None:
    assert window_request(words) is None


def test_a_mistyped_command_is_refused_before_a_window_opens(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["rnu"]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "rnu" in captured.err
    assert all(command in captured.err for command in COMMANDS)


def test_the_commands_that_are_told_apart_are_those_that_there_are() -> None:
    from app.cli.application import command_names

    assert command_names() == COMMANDS


def test_the_command_line_starts_without_qt_and_without_an_sdk() -> None:
    code = (
        "import sys\n"
        "from app.__main__ import main\n"
        "status = main(['providers', 'list'])\n"
        "heavy = {'PySide6', 'qasync', 'openai', 'anthropic', 'networkx', 'sqlalchemy', 'keyring',"
        " 'jsonschema', 'httpx2', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
        "sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_the_way_to_the_window_loads_no_command_line() -> None:
    code = (
        "import sys\n"
        "from app.__main__ import window_request\n"
        "window_request(['x.json'])\n"
        "sys.exit('typer' in sys.modules or 'pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_a_screen_the_window_is_refused_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)

    assert main([]) == 2
    assert "no screen" in capsys.readouterr().err
