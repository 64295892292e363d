"""A message that grows ends up as if it had come in one piece."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, QPointF, QRectF
from PySide6.QtGui import QImage, QPainter, QTextFormat
from PySide6.QtWidgets import QApplication

from app.chat.message_document import MessageDocument
from app.chat.output_text import output_markdown
from app.chat.tool_words import call_text, tool_name, tool_target
from app.theme.theme import Theme

TEXT = """# Title

Some **bold** text with `code`, <b>tags</b> and a [link](https://example.org).

1. first
2. second

```python
def f() -> int:

    return 1
```

| a | b |
|---|---|
| 1 | 2 |

The end.
"""


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    owner = QObject()
    yield Theme("light", owner)
    owner.deleteLater()


def plain(document: MessageDocument) -> str:
    return document.document.toPlainText()


@pytest.mark.parametrize("size", [1, 7, 400])
def test_pieces_add_up_to_the_whole(theme: Theme, size: int) -> None:
    whole = MessageDocument(theme)
    whole.show_markdown(TEXT)
    grown = MessageDocument(theme)
    for start in range(0, len(TEXT), size):
        grown.append(TEXT[start : start + size])

    words = [line.strip() for line in plain(grown).split("\n") if line.strip()]
    assert words == [line.strip() for line in plain(whole).split("\n") if line.strip()]
    grown.finish(TEXT)
    assert plain(grown) == plain(whole)


def test_the_open_tail_is_plain_and_closed_blocks_are_rendered(theme: Theme) -> None:
    document = MessageDocument(theme)
    document.append("Some **bold** text\n\nand **more")
    assert plain(document) == "Some bold text\nand **more"


def test_a_code_block_does_not_leak_into_what_follows(theme: Theme) -> None:
    document = MessageDocument(theme)
    document.append("```\nlong line\n```\n")
    document.append("Prose")
    last = document.document.lastBlock()
    assert last.text() == "Prose"
    assert not last.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence)
    assert not last.blockFormat().nonBreakableLines()


def test_markup_of_other_languages_is_text(theme: Theme) -> None:
    document = MessageDocument(theme)
    document.show_markdown("<script>x</script> and <b>bold</b>")
    assert "<b>bold</b>" in plain(document)


def test_it_paints(theme: Theme) -> None:
    document = MessageDocument(theme)
    document.show_markdown(TEXT)
    document.set_width(300)
    image = QImage(320, 500, QImage.Format.Format_RGB32)
    image.fill(theme.tokens.color("ground"))
    before = image.copy()
    painter = QPainter(image)
    document.paint(painter, QPointF(5, 5), QRectF(0, 0, 300, 490))
    painter.end()
    assert image != before


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("Just text", "Just text"),
        ({"markdown": "# Head"}, "# Head"),
        ({"next_action": "Write it", "done": True}, "**Next action**: Write it\n\n**Done**: yes"),
        ({"risks": ["a", "b\nc"]}, "**Risks**\n\n- a\n- b\n  c"),
        ({"risks": [], "note": None}, "**Risks**: *(empty)*\n\n**Note**: *(nothing)*"),
        ({}, "*(an empty object)*"),
        ([{"a": 1}], '```json\n[\n  {\n    "a": 1\n  }\n]\n```'),
    ],
)
def test_outputs_are_readable(output: object, words: str) -> None:
    assert output_markdown(output) == words


def test_tools_have_names_and_targets() -> None:
    assert tool_name("apply_patch") == "Apply Patch"
    assert tool_name("their_own") == "their_own"
    assert tool_target({"pattern": "x+", "path": "src"}) == "x+ in src"
    assert tool_target({"command": "ls  -la\n/tmp"}) == "ls -la /tmp"
    assert tool_target({"path": "a" * 100}).endswith("…")
    assert tool_target({"n": 3}) == ""
    assert call_text({}) == "(no arguments)"
    assert call_text({"a": "x\ny\n", "b": [1]}) == "a:\n  x\n  y\nb: [\n  1\n]"
