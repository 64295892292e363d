from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.graph.json_text import formatted, rewritten, same_json

_SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text()
_VALUES = st.recursive(
    _SCALARS.filter(lambda value: value not in (float("inf"), float("-inf"))),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "a", "b", "ä", ""]), inner, max_size=4)
    ),
    max_leaves=12,
)
_OBJECTS = st.dictionaries(st.sampled_from(["id", "x", "y", "z z"]), _VALUES, max_size=4)
_LAYOUTS: list[dict[str, Any]] = [
    {"indent": 2},
    {"indent": 4, "ensure_ascii": False},
    {"indent": "\t", "separators": (" ,", " : ")},
    {"indent": 0},
    {"indent": 1, "separators": (",", ":")},
    {},
    {"separators": (",", ":")},
]


@settings(max_examples=30)
@given(_OBJECTS, _OBJECTS, st.sampled_from(_LAYOUTS), st.sampled_from(["", "\n", " \n\n"]))
@example({"x": [1, 2, 3]}, {"x": [1, 4, 2, 3]}, {"indent": 2}, "\n")
@example({"x": 1}, {"y": 1, "x": 1.0}, {"indent": 2}, "")
def test_a_rewritten_text_says_the_new_value(
    old: dict[str, Any], new: dict[str, Any], layout: dict[str, Any], ending: str
) -> None:
    text = json.dumps(old, **layout) + ending
    result = rewritten(text, old, new)
    assert same_json(json.loads(result), new)
    assert result.endswith("\n")
    again = rewritten(result, new, old)
    assert same_json(json.loads(again), old)


@settings(max_examples=30)
@given(
    _OBJECTS.filter(bool), st.sampled_from([layout for layout in _LAYOUTS if "indent" in layout])
)
def test_an_unchanged_text_stays_as_it_is(value: dict[str, Any], layout: dict[str, Any]) -> None:
    text = json.dumps(value, **layout) + "\n"
    assert rewritten(text, value, json.loads(text)) == text


@settings(max_examples=30)
@given(_OBJECTS)
def test_one_line_is_laid_out_anew(value: dict[str, Any]) -> None:
    assert rewritten(json.dumps(value), value, value) == formatted(value)


TEXT = """\
{
  "name" : "caf\\u00e9",
  "size": { "x": 1e2, "y": 80.0 },
  "empty": {},
  "list": [
    { "id": "a", "v": 1 },
    { "id": "b", "v": 2 },
    { "id": "c", "v": 3 }
  ],
  "tags": ["one", "two"]
}
"""


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (lambda d: d["size"].update(y=81), '"x": 1e2, "y": 80.0 }', '"x": 1e2, "y": 81 }'),
        (lambda d: d["size"].update(z=[1]), '"y": 80.0 }', '"y": 80.0, "z": [1] }'),
        (lambda d: d["size"].pop("x"), '{ "x": 1e2, "y"', '{ "y"'),
        (lambda d: d["list"].pop(1), '    { "id": "b", "v": 2 },\n', ""),
        (lambda d: d["list"][2].update(v=None), '"v": 3', '"v": null'),
        (lambda d: d["tags"].insert(1, "x"), '"one", "two"', '"one", "x", "two"'),
        (lambda d: d["tags"].pop(0), '["one", "two"]', '["two"]'),
        (
            lambda d: d["list"].insert(1, {"id": "n"}),
            '    { "id": "b"',
            '    {\n      "id": "n"\n    },\n    { "id": "b"',
        ),
        (lambda d: d.update(empty={"k": 1}), "{},", '{\n    "k": 1\n  },'),
        (lambda d: d.update(name="\ud800é"), '"caf\\u00e9"', '"\\ud800é"'),
    ],
)
def test_only_what_changes_is_written_anew(change: Any, before: str, after: str) -> None:
    old, new = json.loads(TEXT), json.loads(TEXT)
    change(new)
    assert rewritten(TEXT, old, new) == TEXT.replace(before, after)
    windows = TEXT.replace("\n", "\r\n")
    expected = windows.replace(before.replace("\n", "\r\n"), after.replace("\n", "\r\n"))
    assert rewritten(windows, old, new) == expected


def test_a_number_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        formatted({"a": float("inf")})
