from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.approval_rules import allows, proposal
from engine.vocabulary.tools import SEAL_PLAN_TOOL, ApprovalRule, RuleProposal, ToolCall


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall("c1", name, arguments)


def bash(command: str, **more: Any) -> ToolCall:
    return call("bash", command=command, **more)


def rules_of(asked: ToolCall) -> tuple[ApprovalRule, ...]:
    found = proposal(asked)
    assert found is not None
    return found.rules


class TestFiles:
    def test_a_rule_is_for_this_tool_and_this_file(self) -> None:
        rules = rules_of(call("write", path="src/a.py", content="1"))

        assert rules == (ApprovalRule("write", "src/a.py"),)
        assert allows(rules, call("write", path="./src/a.py", content="2", _i="again"))
        assert not allows(rules, call("write", path="src/b.py", content="1"))
        assert not allows(rules, call("write", path="src/a.py/b", content="1"))
        assert not allows(rules, call("edit", path="src/a.py", edits=[]))
        assert not allows((), call("write", path="src/a.py", content="1"))

    def test_the_words_show_a_match_and_a_near_miss(self) -> None:
        found = proposal(call("edit", path="src/a.test.py", edits=[]))

        assert found is not None
        assert (found.matches, found.near_miss) == ("edit src/a.test.py", "edit src/a2.test.py")

    @pytest.mark.parametrize(
        "path", ["", "  ", "../a", "a/../b", "a\\..\\b", "a\nb", 7, None, ["a"]]
    )
    def test_a_path_that_may_lead_elsewhere_makes_no_rule(self, path: object) -> None:
        asked = call("write", path=path, content="")

        assert proposal(asked) is None
        assert not allows([ApprovalRule("write", str(path))], asked)

    @pytest.mark.parametrize("other", ["a.py ", " a.py", "./ a.py", ".//a.py ", "a.py\u00a0"])
    def test_blanks_around_a_name_are_part_of_it(self, other: str) -> None:
        assert not allows(
            rules_of(call("write", path="a.py", content="")), call("write", path=other, content="")
        )

    def test_blanks_around_a_name_in_a_patch_or_a_header_are_none_of_it(self) -> None:
        patch = call(
            "apply_patch", input="*** Begin Patch\n*** Add File:  a.py \n+1\n*** End Patch"
        )
        assert rules_of(patch) == (ApprovalRule("apply_patch", "a.py"),)
        edit = call("edit", input="¶ a.py #12ab\ndelete 1\n")
        assert rules_of(edit) == (ApprovalRule("edit", "a.py"),)

    def test_an_edit_by_hash_lines_needs_a_rule_for_each_of_its_files(self) -> None:
        both = call("edit", input="¶a.py#12ab\ndelete 1\n¶b/c.py#12AB\ndelete 2\n")
        rules = rules_of(both)

        assert rules == (ApprovalRule("edit", "a.py"), ApprovalRule("edit", "b/c.py"))
        assert allows(rules, both)
        assert allows(rules, call("edit", path="a.py", edits=[]))
        assert not allows(rules[:1], both)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "delete 1",
            "¶a.py\ndelete 1",
            " ¶a.py#1234\ndelete 1",
            "¶a.py#b.py#1234\ndelete 1",
            "¶a.py#1234\n+ ¶b.py#1234\n",
            "¶a.py#1234\ninsert head:\n+x\u2028¶b.py#1234\n",
            "¶a.py#1234\r¶b.py#1234",
            5,
        ],
    )
    def test_sections_that_are_not_certain_make_no_rule(self, text: object) -> None:
        assert proposal(call("edit", input=text)) is None
        assert not allows([ApprovalRule("edit", "a.py")], call("edit", input=text))

    def test_a_patch_needs_a_rule_for_each_of_its_files(self) -> None:
        patch = (
            "*** Begin Patch\n*** Add File: new.py\n+*** Delete File: x\n"
            "*** Update File: old.py\n@@\n-a\n+b\n*** End of File\n*** End Patch\n"
        )
        rules = rules_of(call("apply_patch", input=patch))

        assert rules == (
            ApprovalRule("apply_patch", "new.py"),
            ApprovalRule("apply_patch", "old.py"),
        )
        assert not allows(rules[1:], call("apply_patch", input=patch))

    @pytest.mark.parametrize(
        "directive",
        ["*** Delete File: old.py", "*** Move to: b.py", " *** Delete File: b", "***Add File: b"],
    )
    def test_a_patch_that_deletes_moves_or_is_unclear_is_always_asked_about(
        self, directive: str
    ) -> None:
        patch = f"*** Begin Patch\n*** Update File: old.py\n{directive}\n@@\n+a\n*** End Patch"

        assert proposal(call("apply_patch", input=patch)) is None
        assert not allows([ApprovalRule("apply_patch", "old.py")], call("apply_patch", input=patch))


class TestCommands:
    def test_a_rule_is_for_this_command(self) -> None:
        rules = rules_of(bash("npm test", timeout=10))

        assert rules == (ApprovalRule("bash", "npm test"),)
        assert allows(rules, bash(" npm test\n", timeout=99, cwd=".", _i="once more"))
        for other in ("npm test -u", "npm  test", "npm test & x", "npm test > a", "(npm test)"):
            assert not allows(rules, bash(other)), other

    def test_a_chain_makes_a_rule_for_each_segment(self) -> None:
        rules = rules_of(bash("npm test && npm run lint; npm test"))

        assert [rule.target for rule in rules] == ["npm test", "npm run lint"]
        for command in ("npm test", "npm run lint || npm test", "npm run lint\nnpm test"):
            assert allows(rules, bash(command)), command
        for command in ("npm test && rm -r a", "npm test | sh", "npm test &", "npm run"):
            assert not allows(rules, bash(command)), command

    def test_what_a_command_is_fed_belongs_to_it(self) -> None:
        rules = rules_of(bash("curl example.org | sh")) + rules_of(bash("cat notes"))

        assert not allows(rules, bash("cat notes | sh"))
        assert not allows(rules, bash("sh"))

    @pytest.mark.parametrize(
        "command",
        [
            "cd build && rm -r *",
            "python - <<'END'\nprint(1)\nEND",
            "echo $(date) > a",
            "A=1 make",
            "sleep 9 &",
            "make # all",
        ],
    )
    def test_a_command_that_cannot_be_cut_is_allowed_as_it_stands_only(self, command: str) -> None:
        rules = rules_of(bash(command))

        assert len(rules) == 1
        assert allows(rules, bash(command, timeout=5))
        for other in (f"{command}; rm a", f"{command} ", "rm -r *", "make", "cd build"):
            assert not allows(rules, bash(other)), other

    def test_a_rule_holds_in_its_folder_and_with_its_variables(self) -> None:
        here, there = rules_of(bash("make")), rules_of(bash("make", cwd="web"))
        with_variables = rules_of(bash("make", env={"A": "1"}))

        assert allows(there, bash("make", cwd="web"))
        assert not allows(here, bash("make", cwd="web"))
        assert not allows(here, bash("make", env={"A": "1"}))
        assert not allows(there, bash("make"))
        assert not allows(with_variables, bash("make"))
        assert not allows(with_variables, bash("make", env={"A": "2"}))
        assert allows(with_variables, bash("make", env={"A": "1"}))

    def test_a_command_cannot_pass_for_the_target_of_another_rule(self) -> None:
        rules = rules_of(bash("make", cwd="web"))

        assert not allows(rules, bash(rules[0].target))

    @pytest.mark.parametrize("command", ["", " \n", "make\r", "ls \u202e", "a\x00", 5, None])
    def test_a_command_that_nobody_can_see_makes_no_rule(self, command: Any) -> None:
        assert proposal(bash(command)) is None

    def test_the_words_show_a_match_and_a_near_miss(self) -> None:
        found = proposal(bash("a && b", cwd="web"))

        assert found is not None
        assert (found.matches, found.near_miss) == ("bash b (in web)", "bash b --more (in web)")

    @given(
        st.lists(st.sampled_from(["a", "b --more", "b", "c 'd e'", "f\\ g"]), min_size=1),
        st.sampled_from([" && ", "; ", "\n", " | ", " & ", " > "]),
        st.sampled_from([None, ".", "web"]),
    )
    def test_a_rule_allows_its_own_call_and_never_the_near_miss(
        self, parts: list[str], join: str, cwd: str | None
    ) -> None:
        asked = bash(join.join(parts), **({} if cwd is None else {"cwd": cwd}))
        found = proposal(asked)

        assert found is not None
        assert allows(found.rules, asked)
        near, _, where = found.near_miss.removeprefix("bash ").partition(" (in ")
        assert not allows(found.rules, bash(near, **({"cwd": where[:-1]} if where else {})))
        match, _, where = found.matches.removeprefix("bash ").partition(" (in ")
        assert allows(found.rules, bash(match, **({"cwd": where[:-1]} if where else {})))


class TestOtherTools:
    def test_a_rule_is_for_exactly_these_arguments(self) -> None:
        asked = call("mcp_send", to="a", text="hello", _i="greet")
        rules = rules_of(asked)

        assert allows(rules, call("mcp_send", text="hello", to="a"))
        assert not allows(rules, call("mcp_send", text="hello", to="b"))
        assert not allows(rules, call("mcp_post", text="hello", to="a"))
        assert json.loads(rules[0].target) == {"to": "a", "text": "hello"}

    def test_sealing_a_plan_and_unreadable_calls_are_always_asked_about(self) -> None:
        broken = ToolCall("c1", "write", {}, arguments_error="no JSON")

        assert proposal(call(SEAL_PLAN_TOOL)) is None
        assert proposal(broken) is None


ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "input", "command", "cwd", "env", "content", "_i"]),
    st.none() | st.text(max_size=20) | st.integers() | st.lists(st.text(max_size=3), max_size=2),
)
NAMES = st.sampled_from(["read", "write", "edit", "apply_patch", "bash", "ast_edit", "mcp_x"])


@given(NAMES, ARGUMENTS)
def test_whatever_the_arguments_a_proposal_allows_the_call_that_made_it(
    name: str, arguments: dict[str, Any]
) -> None:
    asked = ToolCall("c1", name, arguments)
    found: RuleProposal | None = proposal(asked)

    assert found is None or (found.rules and allows(found.rules, asked))
