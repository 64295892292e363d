"""Commands that count as reading, and chains that are cut; the judge is a real bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.run.shell_classifier import is_reading, segments


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "  ls -la src\n",
        "ls 'a folder' \"another one\" a\\ third",
        "ls a#b a=b aa:b",
        "find",
        "find . -name '*.py' -type f",
        r"find src \( -name 'a*' -o -iname 'b?' \) -print0",
        "find . ! -newermt 2020-01-01 -not -empty",
        "find . -mtime -7 -size -1k -perm -u+x,g=r -perm -644 -links -2",
        "find . -maxdepth 2 -printf '%p %s\\n' -prune -quit",
        "find . -name 'ünïcode'",
    ],
)
def test_a_plain_listing_is_reading(command: str) -> None:
    assert is_reading(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        " \n",
        "l's'",
        "cat a",
        "lsof",
        "./ls",
        "/bin/ls",
        "echo ls",
        "LANG=C ls",
        "ls; rm a",
        "ls && rm a",
        "ls || rm a",
        "ls | sh",
        "ls |& sh",
        "ls & rm a",
        "ls\nrm a",
        "ls\rrm a",
        "ls > a",
        "ls >> a",
        "ls 2> a",
        "ls < a",
        "ls <<< a",
        "ls <<EOF\nEOF",
        "ls $(rm a)",
        "ls `rm a`",
        'ls "$(rm a)"',
        'ls "`rm a`"',
        "ls <(rm a)",
        "ls $HOME",
        "ls ${HOME}",
        "ls $'a'",
        'ls $"a"',
        "ls *",
        "ls a?",
        "ls [a]",
        "ls ~",
        "ls {a,b}",
        "find {.,-delete}",
        "ls # all",
        "ls 'a",
        'ls "a',
        "ls a\\",
        "ls a\\\nb",
        "ls a\x00",
        "ls \u202ea",
        "ls 'a\u2028b'",
        "ls é",
        "ls !!",
        'ls "!!"',
        "! ls",
        "{ ls; }",
        "(ls)",
        "if ls; then rm a; fi",
        "ls() { rm a; }",
        "time ls",
        "ls 'a;b'",
    ],
)
def test_whatever_is_not_plain_is_not_reading(command: str) -> None:
    assert not is_reading(command)


@pytest.mark.parametrize("command", ["ls /", "ls ..", "find a/../..", "find /etc", "ls 'c:/'"])
def test_a_path_that_leaves_the_folder_is_asked_about(command: str) -> None:
    assert not is_reading(command)


ACTIONS = frozenset(
    (
        *("-delete", "-rm", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0"),
        *("-fprintf", "-fls", "-files0-from", "-f", "-follow", "-L", "-unheard-of"),
    )
)


@pytest.mark.parametrize("option", sorted(ACTIONS))
@pytest.mark.parametrize(
    "spelling", ["{}", "'{}'", '"{}"', "\\{}", "-name a {}", "-name {}", ". -o {} x", "{} ls ';'"]
)
def test_an_option_of_find_that_may_do_something_is_asked_about(option: str, spelling: str) -> None:
    assert not is_reading(f"find . {spelling.format(option)}")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npm test", ("npm test",)),
        ("npm test && npm run lint", ("npm test", "npm run lint")),
        ("a;b || c\nd", ("a", "b", "c", "d")),
        ("\n\na &&\n\n b ;\n", ("a", "b")),
        ("cat a | sort -u && b", ("cat a | sort -u", "b")),
        ("cat a |\n sort", ("cat a |\n sort",)),
        ("echo 'a && b; c' \"d | e\" f\\;g", ("echo 'a && b; c' \"d | e\" f\\;g",)),
        ("rm *.o", ("rm *.o",)),
        ("cd a", ("cd a",)),
    ],
)
def test_a_chain_is_cut_into_its_segments(command: str, expected: tuple[str, ...]) -> None:
    assert segments(command) == expected


@pytest.mark.parametrize(
    "command",
    [
        "",
        "\n",
        ";",
        "&& a",
        "a &&",
        "a |",
        "| a",
        "a ;; b",
        "a ; ; b",
        "a & b",
        "a &",
        "a |& b",
        "a > b",
        "a 2>&1",
        "a < b",
        "a <<E\nE",
        "a $b",
        "a $(b)",
        "a `b`",
        "A=1 b",
        "a+=1 b",
        "a # b",
        "# a",
        "a 'b",
        "*a",
        "'a' b",
        "\\a b",
        "$a",
        "~/a",
        "if a; then b; fi",
        "for a in b; do c; done",
        "{ a; }",
        "(a)",
        "! a",
        "[ a ] && b",
        "a \\\nb",
        "a 'b\nc'",
        "a {b,c}",
        "a\rb",
        "time a",
    ],
)
def test_what_is_not_sure_to_be_a_chain_is_not_cut(command: str) -> None:
    assert segments(command) is None


@pytest.mark.parametrize(
    "first", ["cd a", "export A", "exit 0", ". env", "source env", "umask 0", "command cd a"]
)
def test_a_chain_that_changes_its_shell_is_not_cut(first: str) -> None:
    assert segments(f"{first} && rm -r b") is None
    assert segments(f"a; {first}; rm -r b") is None


RECORDER = """#!{python}
import os, sys
with open({record!r}, "ab") as record:
    record.write("\\0".join([{name!r}, *sys.argv[1:]]).encode("utf-8", "surrogateescape") + b"\\1")
"""
NAMES = ("ls", "find", "rm", "sh", "tee", "a", "b")


class RealBash:
    """Runs commands with a bash for which nothing exists but stand-ins that write down a call."""

    def __init__(self, folder: Path) -> None:
        bash = shutil.which("bash")
        assert bash is not None, "bash has to be installed for this test"
        self.bash, self.programs = bash, folder / "programs"
        self.record, self.home = folder / "record", folder / "home"
        self.programs.mkdir()
        for name in NAMES:
            program = self.programs / name
            script = RECORDER.format(python=sys.executable, record=str(self.record), name=name)
            program.write_text(script, encoding="utf-8")
            program.chmod(0o755)

    def calls(self, command: str) -> list[list[str]]:
        """What bash runs for the command; fails if it leaves anything behind in the folder."""
        self.record.write_bytes(b"")
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()
        kept = self.home / "kept"
        kept.write_bytes(b"as it was")
        environment = {"PATH": str(self.programs), "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        subprocess.run(
            [self.bash, "-c", os.fsencode(command)],
            cwd=self.home,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert os.listdir(self.home) == ["kept"]
        assert kept.read_bytes() == b"as it was"
        lines = self.record.read_bytes().split(b"\1")[:-1]
        return [line.decode("utf-8", "surrogateescape").split("\0") for line in lines]


def pieces(*words: str) -> st.SearchStrategy[str]:
    return st.sampled_from(words)


WORDS = pieces(
    *("ls", "find", "rm", ".", "a", "b", "kept", "-la", "-name", "-delete", "-exec", "-ok", "-fls"),
    *("-print", "-newermt", "-7", "-u+x", "{}", "+", "\\;", "';'", "\\(", "\\)", "!", ",", "''"),
    *("'a b'", '"a b"', "a\\ b", "*", "?", "[k]ept", "~", "a=b", "a#b", "$HOME", "é", "'é'", "[["),
)
SIGNS = pieces(
    *(" ", " ", " ", "\t", "", "\n", ";", "&", "&&", "|", "||", ">", ">>", "<", "<<", "(", ")"),
    *("$(", "`", "'", '"', "\\", "#", " #", "{", "}", "$", "!", "=", "\r", "\v", "\x00", "2>"),
    *("-", "/", "..", "\\\n", "\xa0", "\u2028", "<(", "|&", ";;"),
)
COMMANDS = st.one_of(
    st.tuples(pieces("ls ", "find ", "a ", "ls", "find"), st.lists(WORDS, max_size=5)).map(
        lambda parts: parts[0] + " ".join(parts[1])
    ),
    st.lists(WORDS | SIGNS, max_size=9).map("".join),
    st.tuples(pieces("ls ", "find "), st.text(max_size=12)).map("".join),
)


@pytest.fixture(scope="module")
def real_bash(tmp_path_factory: pytest.TempPathFactory) -> RealBash:
    return RealBash(tmp_path_factory.mktemp("bash"))


@settings(max_examples=400, deadline=None)
@given(command=COMMANDS)
@example(command="find . ! -name 'a b' \"c d\" e\\ f -mtime -7")
@example(command='ls \'é\' "\\"\\q\\\\" a#b')
def test_bash_runs_nothing_else_for_what_is_called_reading(
    real_bash: RealBash, command: str
) -> None:
    if not is_reading(command):
        return
    (call,) = real_bash.calls(command)

    assert call[0] in ("ls", "find")
    assert call[0] == "ls" or ACTIONS.isdisjoint(call[1:])
    assert "kept" not in call or "kept" in command, "a word was expanded"
    assert not any(word.startswith(str(real_bash.home)) for word in call), "a word was expanded"
    assert not any(word.startswith("/") or ".." in word.split("/") for word in call[1:])


CHAINS = st.lists(
    st.tuples(pieces("a", "b", "rm", "ls", "find", "cd", "sh"), st.lists(WORDS, max_size=3)).map(
        lambda parts: " ".join([parts[0], *parts[1]])
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(parts=CHAINS, joins=st.lists(pieces(" && ", ";", "\n", " | ", " &&\n", ""), min_size=4))
def test_a_chain_runs_nothing_that_its_segments_do_not_run(
    real_bash: RealBash, parts: list[str], joins: list[str]
) -> None:
    command = "".join(part + join for part, join in zip(parts, joins, strict=False))
    cut = segments(command)
    if cut is None:
        return

    def runs(texts: tuple[str, ...]) -> Counter[tuple[str, ...]]:
        return Counter(tuple(call) for text in texts for call in real_bash.calls(text))

    # It may run less: what follows `&&` is left out after a failure.
    assert runs((command,)) <= runs(cut)


def test_a_text_of_enormous_length_is_asked_about() -> None:
    assert is_reading("ls " + "a " * 100)
    assert not is_reading("ls " + "a " * 10_000)
    assert segments("a;" * 10_000) is None


@given(st.text(max_size=40) | COMMANDS)
def test_any_text_has_an_answer(command: str) -> None:
    assert is_reading(command) in (True, False)
    cut = segments(command)
    assert cut is None or all(segments(part) == (part,) for part in cut)
