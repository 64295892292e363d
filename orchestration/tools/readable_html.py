"""Make the text of an HTML page readable: Markdown without scripts, styles and navigation."""

from __future__ import annotations

import re

_DROPPED = (
    *("head", "script", "style", "noscript", "template", "nav", "svg", "canvas", "iframe"),
    *("object", "input", "button", "select"),
)
_XML_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")


def readable(data: bytes, charset: str | None) -> str:
    """Give a page as Markdown under its title; takes time, so it belongs in a thread.

    Args:
        data: the page as it was sent.
        charset: the encoding that came with it; without one, or with a wrong one, it is found out.
    """
    from bs4 import BeautifulSoup
    from bs4.dammit import UnicodeDammit
    from markdownify import MarkdownConverter

    known = [charset] if charset is not None else []
    markup = UnicodeDammit(data, known, is_html=True).unicode_markup or ""
    markup = markup[end.end() :] if (end := _XML_DECLARATION.match(markup)) else markup
    if "<" not in markup:
        return markup
    soup = BeautifulSoup(markup, "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title is not None else ""
    for element in soup(list(_DROPPED)):
        element.decompose()
    try:
        text = MarkdownConverter(heading_style="ATX", bullets="-").convert_soup(soup)
    except RecursionError:  # nested deeper than any page for people
        text = soup.get_text("\n", strip=True)
    text = _without_gaps(text)
    return f"{title}\n\n{text}" if title and title not in text[:1000] else text


def _without_gaps(text: str) -> str:
    lines: list[str] = []
    for line in map(str.rstrip, text.split("\n")):
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).rstrip("\n")
