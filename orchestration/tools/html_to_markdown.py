"""Turn a file with an HTML page into Markdown: run as a program of its own, PAGE and CHARSET given.

A page can keep a parser busy for very long, and nothing stops a thread; a program can be ended. It
imports nothing of this one, so that it starts from wherever its file lies.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

DROPPED = (
    *("head", "script", "style", "noscript", "template", "nav", "svg", "canvas", "iframe"),
    *("object", "input", "button", "select"),
)
_XML_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")


def to_markdown(data: bytes, charset: str) -> str:
    """Give a page as Markdown under its title, without scripts, styles and navigation.

    Args:
        data: the page as it was sent.
        charset: the encoding that came with it; where it is empty or wrong it is found out.
    """
    from bs4 import BeautifulSoup
    from bs4.dammit import UnicodeDammit
    from markdownify import MarkdownConverter

    known = [charset] if charset else []
    markup = UnicodeDammit(data, known, is_html=True).unicode_markup or ""
    markup = markup[end.end() :] if (end := _XML_DECLARATION.match(markup)) else markup
    if "<" not in markup:
        return markup
    soup = BeautifulSoup(markup, "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title is not None else ""
    for element in soup(list(DROPPED)):
        element.decompose()
    try:
        text = MarkdownConverter(heading_style="ATX", bullets="-").convert_soup(soup)
    except (RecursionError, ValueError):  # nested, or counted, as in no page for people
        text = soup.get_text("\n", strip=True)
    text = _without_gaps(text)
    return f"{title}\n\n{text}" if title and title not in text[:1000] else text


def _without_gaps(text: str) -> str:
    lines: list[str] = []
    for line in map(str.rstrip, text.split("\n")):
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).rstrip("\n")


if __name__ == "__main__":
    page, charset = sys.argv[1:]
    markdown = to_markdown(Path(page).read_bytes(), charset)
    sys.stdout.buffer.write(markdown.encode("utf-8", "replace"))
