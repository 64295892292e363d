from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path

import pytest

from orchestration.tools.builtin.write import WRITE
from tests.support.edit_bench import EditBench

UPPER = "sys.stdout.write(sys.stdin.read().upper())"


@pytest.fixture
def bench(tmp_path: Path) -> EditBench:
    return EditBench(tmp_path / "root", format_on_write=True, format_timeout_s=60.0)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str, name: str = "black") -> None:
    """Put a program of this name first on the path; it answers `--version`."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    script = f"""\
        #!{sys.executable}
        import os, sys, time
        if "--version" in sys.argv:
            print("1.0")
            sys.exit(0)
        {body}
    """
    path = programs / name
    path.write_text(textwrap.dedent(script))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")


def test_a_formatter_has_the_last_word_on_what_is_written(
    bench: EditBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, UPPER)
    bench.put("f.py", b"\xef\xbb\xbfx\r\ny\r\n")
    found = bench.inspect(WRITE, path="f.py", content="a\ny\n")
    output = bench.write("f.py", "a\ny\n")
    assert bench.bytes_of("f.py") == b"\xef\xbb\xbfA\r\nY\r\n"
    assert output.content.endswith("[formatted by black]")
    assert found.preview is not None
    assert found.preview.files[0].diff == "-1|x\n-2|y\n+1|A\n+2|Y"
    assert found.preview.files[0].diff in output.content
    # The conversation knows what was written, not what it sent.
    assert not bench.write("f.py", "b\n").is_error


def test_a_file_that_is_in_order_is_told_so(
    bench: EditBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, UPPER)
    assert bench.write("f.py", "A\n").content.endswith("[black had nothing to change]")


def test_a_formatter_that_fails_changes_nothing_and_is_told(
    bench: EditBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "sys.exit('cannot parse line 1')")
    output = bench.write("f.py", "a\n")
    assert not output.is_error
    assert output.content.endswith("[not formatted: black: cannot parse line 1]")
    assert bench.bytes_of("f.py") == b"a\n"


def test_a_formatter_that_does_not_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = EditBench(tmp_path / "root", format_on_write=True, format_timeout_s=5.0)
    child = "os.fork(); time.sleep(600)"
    install(tmp_path, monkeypatch, child)
    output = bench.write("f.py", "a\n")
    # On a machine so slow that it does not even answer for its version, it counts as not there.
    assert bench.bytes_of("f.py") == b"a\n"
    assert "formatted by" not in output.content


def test_without_the_setting_or_a_program_nothing_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, UPPER)
    off = EditBench(tmp_path / "off")
    off.write("f.py", "a\n")
    assert off.bytes_of("f.py") == b"a\n"
    on = EditBench(tmp_path / "on", format_on_write=True)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert "format" not in on.write("g.py", "a\n").content
    assert on.bytes_of("g.py") == b"a\n"


def test_other_files_are_left_alone(
    bench: EditBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, UPPER)
    bench.write("f.txt", "a\n")
    assert bench.bytes_of("f.txt") == b"a\n"


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("rustfmt", "a.rs"),
        ("gofmt", "a.go"),
        ("stylua", "a.lua"),
        ("prettier", "a.ts"),
        ("prettier", "a.yml"),
        ("prettier", "A.MD"),
    ],
)
def test_each_language_has_its_formatter(
    bench: EditBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, name: str
) -> None:
    install(tmp_path, monkeypatch, UPPER, program)
    assert bench.write(name, "a\n").content.endswith(f"[formatted by {program}]")
