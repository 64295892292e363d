"""What a shell command surely is: a plain listing, or a chain that can be cut into its segments.

A parser of the part of bash whose meaning is in its text alone: words, quotes, and the operators
`&&`, `||`, `;`, `|` and newline. Whatever it cannot parse it says nothing about.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class _Word(NamedTuple):
    """A word as the command gets it; without `is_literal` the shell makes something else of it."""

    text: str
    raw: str
    is_literal: bool


class _Segment(NamedTuple):
    """A pipeline: its text, and the words of each command in it."""

    text: str
    commands: list[list[_Word]]


class _Unclear(Exception):
    """The text says more than this parser understands."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Longer ones take time that the event loop does not have, and nobody has written them by hand.
_MOST_CHARACTERS = 4000
# Characters beyond ASCII stand inside quotes only: some systems take bytes of them for blanks.
_PLAIN = r"[A-Za-z0-9_./:,=+@%^#-]+"
_SINGLE = r"'[^'\n]*'"
# A `!` in double quotes is history where a profile has turned that on.
_DOUBLE = r'"(?:[^"\\$`!\n]|\\[^\n])*"'
_ESCAPED = r"\\[ -~]"
_EXPANDED = r"[*?\[\]~]"
_PART = re.compile(f"({_PLAIN})|({_SINGLE})|({_DOUBLE})|({_ESCAPED})|({_EXPANDED})")
_TOKEN = re.compile(
    rf"(?P<blank>[ \t]+)"
    rf"|(?P<operator>&&|\|\||[|;\n])"
    rf"|(?P<word>(?!\#)(?:{_PLAIN}|{_SINGLE}|{_DOUBLE}|{_ESCAPED}|{_EXPANDED})+|!(?=[ \t\n]|\Z))"
)
_ESCAPE_IN_DOUBLE = re.compile(r"\\([\\\"$`])")
_COMMAND_NAME = re.compile(r"[A-Za-z0-9_./+@:,-]+")
_RESERVED = _names(
    "if then elif else fi case esac for select while until do done in function time coproc"
)
# What runs after one of these in the same shell means something else without it.
_CHANGES_THE_SHELL = _names(
    ". alias bind break builtin cd command complete continue coproc declare dirs disown enable eval"
    " exec exit export fc getopts hash history let local logout mapfile popd printf pushd read"
    " readarray readonly return set shift shopt source suspend trap typeset ulimit umask unalias"
    " unset wait"
)

# Signs that end a command for one shell or another, even where quotes hide them from bash.
_NEVER_PLAIN = frozenset("&|;<>^\n")
# What GNU's and the BSDs' find take that only looks and prints. Not here, so asked about: -delete,
# -exec, -execdir, -ok, -okdir, -fprint, -fprint0, -fprintf, -fls, -files0-from, -f, -rm, -follow,
# -L, and whatever else one of them may have.
_FIND_LOOKS = _names(
    "-H -P -E -X -d -s -x -O0 -O1 -O2 -O3 -daystart -depth -ignore_readdir_race -maxdepth -mindepth"
    " -mount -noignore_readdir_race -noleaf -nowarn -regextype -warn -xdev -xautofs"
    " -amin -anewer -asince -atime -acl -cmin -cnewer -context -csince -ctime -empty -executable"
    " -false -flags -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links"
    " -lname -mmin -mnewer -mtime -name -newer -nogroup -nouser -path -perm -readable -regex"
    " -samefile -since -size -sparse -true -type -uid -used -user -wholename -writable -xattr"
    " -xattrname -xtype -Bmin -Bnewer -Btime"
    " -print -print0 -printf -printx -ls -prune -quit -exit"
    " -a -and -not -o -or"
)
_DRIVE = re.compile("[A-Za-z]:.*")
_FIND_TIME_OF = re.compile(r"-newer[aBcm][aBcmt]")
_FIND_NUMBER = re.compile(r"-[0-9]+(?:\.[0-9]+)?[A-Za-z]?")
_FIND_MODE = re.compile(r"-[ugoa]*[-+=][rwxXst]*(?:,[ugoa]*[-+=][rwxXst]*)*")


def is_reading(command: str) -> bool:
    """Whether the whole text is one `ls` or `find` that only looks, inside the folder.

    Its words must be literal. A path that leaves the folder by its spelling is asked about, as is
    an option of `find` that is not known to do nothing but look and print.
    """
    text = command.strip(" \t\n")
    if not _NEVER_PLAIN.isdisjoint(text):
        return False
    try:
        (segment,) = _parsed(text)
    except _Unclear:
        return False
    (words,) = segment.commands
    if not all(word.is_literal for word in words) or any(map(_leaves, words)):
        return False
    name = words[0].text
    return name == "ls" or (name == "find" and all(_only_looks(word.text) for word in words[1:]))


def segments(command: str) -> tuple[str, ...] | None:
    """The pipelines of a chain, as they are spelled; `None` where they are not sure to be that.

    A pipeline is one segment, since what its last command does depends on what it is fed. A chain
    in which a command changes the shell for those that follow (`cd`, `export`, `exit`, ...) is not
    cut, for its segments mean something else on their own.
    """
    try:
        found = _parsed(command)
    except _Unclear:
        return None
    names = {words[0].text for segment in found for words in segment.commands}
    if len(found) > 1 and not _CHANGES_THE_SHELL.isdisjoint(names):
        return None
    return tuple(segment.text for segment in found)


def _leaves(word: _Word) -> bool:
    parts = word.text.replace("\\", "/").split("/")
    return ".." in parts or not parts[0] or bool(_DRIVE.fullmatch(parts[0]))


def _only_looks(word: str) -> bool:
    return (
        not word.startswith("-")
        or word in _FIND_LOOKS
        or any(form.fullmatch(word) for form in (_FIND_TIME_OF, _FIND_NUMBER, _FIND_MODE))
    )


def _parsed(text: str) -> list[_Segment]:
    """At least one segment. Raises `_Unclear`."""
    if len(text) > _MOST_CHARACTERS or not text.replace("\n", "").replace("\t", "").isprintable():
        raise _Unclear
    found: list[_Segment] = []
    commands: list[list[_Word]] = [[]]
    start = at = 0
    previous, needs_more = "", False
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or (token.lastgroup == previous == "word"):
            raise _Unclear
        kind, sign = token.lastgroup, token[0]
        if kind == "word":
            commands[-1].append(_word(sign))
            needs_more = False
        elif kind == "operator":
            if commands[-1]:
                if sign == "|":
                    commands.append([])
                else:
                    found.append(_segment(text[start:at], commands))
                    commands, start = [[]], token.end()
                needs_more = sign in ("|", "&&", "||")
            elif sign != "\n":
                raise _Unclear
            elif len(commands) == 1:
                start = token.end()
        previous, at = str(kind), token.end()
    if commands[-1]:
        found.append(_segment(text[start:], commands))
    elif needs_more or len(commands) > 1:
        raise _Unclear
    if not found:
        raise _Unclear
    return found


def _segment(text: str, commands: list[list[_Word]]) -> _Segment:
    for words in commands:
        name = words[0].raw
        if not _COMMAND_NAME.fullmatch(name) or name in _RESERVED:
            raise _Unclear
    return _Segment(text.strip(" \t\n"), commands)


def _word(raw: str) -> _Word:
    text, is_literal = [], True
    for part in _PART.finditer(raw):
        plain, single, double, escaped, expanded = part.groups()
        if single or double:
            inner = part[0][1:-1]
            text.append(inner if single else _ESCAPE_IN_DOUBLE.sub(r"\1", inner))
        elif escaped:
            text.append(escaped[1])
        else:
            text.append(plain or expanded)
            is_literal = is_literal and expanded is None
    return _Word("".join(text) or ("!" if raw == "!" else ""), raw, is_literal)
