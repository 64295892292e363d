import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.markup import MarkupFilter, strip_tool_markup

_PIECES = st.lists(
    st.sampled_from(
        [
            "<tool_call",
            "<tool_call>",
            "</tool_call>",
            "```tool_call",
            "```",
            "`",
            "<",
            "<tool",
            "_call>",
            '{"name": "read"}',
            "Some words. ",
            "\n",
            " a < b ",
        ]
    ),
    max_size=12,
)


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("plain words", "plain words"),
        ("  plain words\n", "plain words"),
        ("", None),
        (" \n", None),
        ('I look.\n<tool_call>{"name": "read"}</tool_call>', "I look."),
        ("a <tool_call>x</tool_call> b <tool_call>y</tool_call> c", "a  b  c"),
        ('<tool_call>{"name": "read"}</tool_call>', None),
        ("Words\n```tool_call\n{}\n```\nmore", "Words\n\nmore"),
        ("Words\n```tool_call\n{}", "Words"),
        ('Words <tool_call name="read">{"path"', "Words"),
        ("Words <tool_ca", "Words"),
        ("Words ```tool", "Words"),
        ("Use `read`", "Use `read`"),
        ("```py\nx\n```", "```py\nx\n```"),
        ("a < b", "a < b"),
        ("a <", "a <"),
        (
            'Docs: `<tool_call>{"name":"read"}</tool_call>` is how it is written.',
            'Docs: `<tool_call>{"name":"read"}</tool_call>` is how it is written.',
        ),
    ],
)
def test_printed_calls_are_removed_and_words_are_kept(text: str, visible: str | None) -> None:
    assert strip_tool_markup(text) == visible


@given(pieces=_PIECES, data=st.data())
def test_any_chunking_shows_the_same(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    markup = MarkupFilter()
    shown = "".join(
        markup.feed(text[start:end])
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)
    )
    assert ((shown + markup.close()).strip() or None) == strip_tool_markup(text)


@given(pieces=_PIECES, length=st.integers(0, 80))
def test_what_was_shown_is_never_taken_back(pieces: list[str], length: int) -> None:
    text = "".join(pieces)
    early, whole = MarkupFilter(), MarkupFilter()
    assert whole.feed(text).startswith(early.feed(text[:length]))


@given(words=st.text(alphabet="abc `<\n_.", max_size=30))
def test_text_without_an_opener_is_left_as_it_is(words: str) -> None:
    assert strip_tool_markup(words) == (words.strip() or None)


@given(before=st.text(alphabet="abc \n", max_size=10), after=st.text(max_size=20))
def test_nothing_of_an_unclosed_block_is_shown(before: str, after: str) -> None:
    shown = strip_tool_markup(f"{before}<tool_call>{after.replace('</tool_call>', '')}")
    assert shown == (before.strip() or None)
