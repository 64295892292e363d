import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.approval_policy import Verdict, call_digest, decide, tier_of_call
from engine.vocabulary.tools import ApprovalMode, JsonObject, ToolCall, ToolDefinition, ToolTier

ALLOW, PROMPT, DENY = Verdict.AUTO_ALLOW, Verdict.PROMPT, Verdict.DENY


@pytest.mark.parametrize(
    ("mode", "read", "write"),
    [
        (ApprovalMode.YOLO, ALLOW, ALLOW),
        (ApprovalMode.READ_ONLY, ALLOW, DENY),
        (ApprovalMode.ALWAYS_ASK, PROMPT, PROMPT),
        (ApprovalMode.WRITE, ALLOW, PROMPT),
    ],
)
def test_mode_and_tier_decide(mode: ApprovalMode, read: Verdict, write: Verdict) -> None:
    assert decide(mode, ToolTier.READ) is read
    assert decide(mode, ToolTier.WRITE) is write


def test_every_mode_has_a_verdict_for_every_tier() -> None:
    assert all(decide(mode, tier) in Verdict for mode in ApprovalMode for tier in ToolTier)


def test_a_digest_is_hex_and_does_not_depend_on_the_order_of_keys() -> None:
    digest = call_digest(("node",), "write", {"path": "a", "content": "x"})
    assert len(digest) == 64
    assert digest == call_digest(("node",), "write", {"content": "x", "path": "a"})


@pytest.mark.parametrize(
    ("path", "name", "arguments"),
    [
        (("other",), "write", {"path": "a"}),
        (("node", "helper"), "write", {"path": "a"}),
        (("node",), "edit", {"path": "a"}),
        (("node",), "write", {"path": "b"}),
        (("node",), "write", {"path": "a", "more": None}),
        (("node",), "write", {"path": ["a"]}),
    ],
)
def test_a_digest_binds_path_tool_and_arguments(
    path: tuple[str, ...], name: str, arguments: dict[str, object]
) -> None:
    assert call_digest(path, name, arguments) != call_digest(("node",), "write", {"path": "a"})


def test_the_parts_of_a_path_do_not_run_together() -> None:
    assert call_digest(("a", "b"), "read", {}) != call_digest(("ab",), "read", {})


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.booleans())))
def test_any_arguments_have_a_digest(arguments: dict[str, object]) -> None:
    shuffled = dict(reversed(arguments.items()))
    assert call_digest(("n",), "t", arguments) == call_digest(("n",), "t", shuffled)


def test_text_that_is_no_unicode_has_a_digest() -> None:
    broken = call_digest(("n",), "t", {"a": "\ud800"})
    assert broken != call_digest(("n",), "t", {"a": "\ud801"})
    assert broken != call_digest(("n",), "t", {"a": "\\ud800"})


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(_json, _json)
def test_a_digest_tells_any_two_values_apart(one: object, other: object) -> None:
    same = call_digest(("n",), "t", {"a": one}) == call_digest(("n",), "t", {"a": other})
    # Spelled out, since 1, 1.0 and true are equal in Python.
    assert same is (json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True))


@pytest.mark.parametrize(
    ("name", "arguments", "tier"),
    [
        ("bash", {"command": "ls -l"}, ToolTier.READ),
        ("bash", {"command": "ls", "env": {}}, ToolTier.READ),
        ("bash", {"command": "ls", "env": {"PATH": "."}}, ToolTier.WRITE),
        ("bash", {"command": "ls", "env": "PATH=."}, ToolTier.WRITE),
        ("bash", {"command": "ls && rm x"}, ToolTier.WRITE),
        ("bash", {"command": ["ls"]}, ToolTier.WRITE),
        ("bash", {}, ToolTier.WRITE),
        ("deploy", {"command": "ls"}, ToolTier.WRITE),
    ],
)
def test_only_a_plain_listing_makes_a_command_a_reading_call(
    name: str, arguments: JsonObject, tier: ToolTier
) -> None:
    definition = ToolDefinition(name, "", {})
    assert tier_of_call(definition, ToolCall("id", name, arguments)) is tier


def test_the_tier_of_a_tool_is_that_of_its_calls_and_an_unknown_one_writes() -> None:
    definition = ToolDefinition("look", "", {}, ToolTier.READ)
    assert tier_of_call(definition, ToolCall("id", "look", {})) is ToolTier.READ
    assert tier_of_call(None, ToolCall("id", "look", {})) is ToolTier.WRITE
