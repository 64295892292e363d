"""Light colours for Markdown while it is written: the text stays what it is."""

from __future__ import annotations

import re
from collections.abc import Collection

from PySide6.QtGui import QFont, QFontDatabase, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.theme.theme import Theme

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"\s*#{1,6}(?!#).*")
_LINE_START = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)]|>)(?=\s)")
_INLINE = (
    ("code", re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")),
    ("strong", re.compile(r"\*\*(?=\S).+?(?<=\S)\*\*|__(?=\S).+?(?<=\S)__")),
    ("faint", re.compile(r"<!--.*?(?:-->|$)")),
    ("link", re.compile(r"https?://[^\s)>\]]+")),
)
SKILL = re.compile(r"(?:(?<=\s)|^)/([\w.:-]+)")
"""A skill that is called, as `/id` at the beginning of a word."""


class MarkdownColors(QSyntaxHighlighter):
    """Colours the lines of a document; of skills only those that there are."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self._skills: frozenset[str] = frozenset()
        self._formats: dict[str, QTextCharFormat] = {}
        theme.changed.connect(self._dress)
        self._dress()

    def set_skills(self, ids: Collection[str]) -> None:
        """Colour calls of these skills."""
        if frozenset(ids) != self._skills:
            self._skills = frozenset(ids)
            self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Colour one line; its state is the length of the fence that is open, 0 for none."""
        fence = max(0, self.previousBlockState())
        found = _FENCE.match(text)
        if fence or found:
            length = len(found[1]) if found else 0
            closes = bool(fence and found and length >= fence and not text[found.end() :].strip())
            self.setFormat(0, len(text), self._formats["code"])
            self.setCurrentBlockState(0 if closes else fence or length)
            return
        self.setCurrentBlockState(0)
        if _HEADING.fullmatch(text):
            self.setFormat(0, len(text), self._formats["strong"])
        elif start := _LINE_START.match(text):
            self.setFormat(0, start.end(), self._formats["sign"])
        for name, pattern in _INLINE:
            for match in pattern.finditer(text):
                self.setFormat(match.start(), match.end() - match.start(), self._formats[name])
        for match in SKILL.finditer(text):
            if match[1] in self._skills:
                self.setFormat(match.start(), match.end() - match.start(), self._formats["link"])

    def _dress(self) -> None:
        tokens = self._theme.tokens
        code, strong, faint, sign, link = (QTextCharFormat() for _ in range(5))
        code.setFontFamilies(
            QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families()
        )
        code.setBackground(tokens.color("code_ground"))
        strong.setFontWeight(QFont.Weight.DemiBold)
        faint.setForeground(tokens.color("text_second"))
        sign.setForeground(tokens.color("running"))
        link.setForeground(tokens.color("running"))
        self._formats = {
            "code": code,
            "strong": strong,
            "faint": faint,
            "sign": sign,
            "link": link,
        }
        self.rehighlight()
