"""References to files in what was said: `path:line` becomes something to click on."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from PySide6.QtGui import QTextCharFormat, QTextCursor, QTextDocument

SCHEME = "open-file"
_MOST = 300
"""So many references of one text are made to links; nobody clicks on more."""

_REFERENCE = re.compile(
    r"""(?:File\ "(?P<quoted>[^"\n]{1,300})",\ line\ (?P<quoted_line>\d{1,7}))
    | (?<![\w@:/.\\-])
      (?P<path>(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/)?(?:[\w.+@-]+[\\/])*[\w+@-][\w.+@-]*\.[A-Za-z]\w{0,9})
      (?: (?::|\#L)(?P<line>\d{1,7}) | (?=[\s'"`),;:.\]]|$) )
    """,
    re.VERBOSE,
)


class FileLink(NamedTuple):
    """A reference: where it stands in its text, and what it names; line 0 where none is named."""

    start: int
    end: int
    path: str
    line: int


def file_links(text: str) -> list[FileLink]:
    """The references in a text. A path without a line counts only if it names a folder, too."""
    found: list[FileLink] = []
    for match in _REFERENCE.finditer(text):
        if match["quoted"]:
            found.append(
                FileLink(match.start(), match.end(), match["quoted"], int(match["quoted_line"]))
            )
        elif match["line"] or "/" in match["path"] or "\\" in match["path"]:
            line = int(match["line"] or 0)
            found.append(FileLink(match.start(), match.end(), match["path"], line))
    return found


def address_of(path: str, line: int) -> str:
    """A reference as the address of a link."""
    return f"{SCHEME}:{quote(path)}#{line}"


def reference_in(address: str) -> tuple[str, int] | None:
    """Path and line of such an address; `None` for any other."""
    scheme, _, rest = address.partition(":")
    if scheme != SCHEME:
        return None
    path, _, line = rest.rpartition("#")
    return unquote(path), int(line)


def link_files(document: QTextDocument) -> None:
    """Make links of the references in a rendered text."""
    count = 0
    block = document.begin()
    cursor = QTextCursor(document)
    while block.isValid() and count < _MOST:
        text = block.text()
        for link in file_links(text) if "." in text else ():
            cursor.setPosition(block.position() + link.start + 1)
            if cursor.charFormat().isAnchor():
                continue
            cursor.setPosition(block.position() + link.start)
            cursor.setPosition(block.position() + link.end, QTextCursor.MoveMode.KeepAnchor)
            form = QTextCharFormat()
            form.setAnchor(True)
            form.setAnchorHref(address_of(link.path, link.line))
            form.setFontUnderline(True)
            cursor.mergeCharFormat(form)
            count += 1
        block = block.next()
