from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.questions import as_text, problem_with, read_questions
from engine.vocabulary.messages import InputRequest, StructuredInput
from engine.vocabulary.tools import JsonObject, ToolConfig

BOTH = ToolConfig()
OPTIONS = [
    {"label": "Narrow", "description": "Only this screen."},
    {"label": "Wide", "description": "All screens."},
]
QUESTION: JsonObject = {
    "id": "scope",
    "header": "Scope",
    "question": "How wide is it?",
    "options": OPTIONS,
}


def structured(*questions: Any) -> StructuredInput:
    read = read_questions({"questions": list(questions)})
    assert read is not None
    return read


def problem(*questions: Any, prose: str = "", config: ToolConfig = BOTH) -> str | None:
    return problem_with(InputRequest(prose, structured(*questions)), config)


class TestFreeText:
    def test_words_are_a_question(self) -> None:
        assert problem_with(InputRequest("Which one?"), BOTH) is None

    @pytest.mark.parametrize("text", ["", "  \n"])
    def test_blanks_are_not(self, text: str) -> None:
        assert problem_with(InputRequest(text), BOTH) is not None


class TestStructure:
    def test_a_proper_question_is_accepted(self) -> None:
        assert problem(QUESTION) is None
        assert problem(QUESTION, {**QUESTION, "id": "b"}, {**QUESTION, "id": "c_2"}) is None

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"id": "Scope"}, "'id'"),
            ({"id": "1st"}, "'id'"),
            ({"id": "my-scope"}, "'id'"),
            ({"id": "ümlaut"}, "'id'"),
            ({"id": "scope\n"}, None),
            ({"id": ""}, "'id'"),
            ({"id": 5}, "'id'"),
            ({"header": ""}, "'header'"),
            ({"header": "Thirteen char"}, "'header'"),
            ({"header": "Twelve chars"}, None),
            ({"question": " "}, "'question'"),
            ({"options": OPTIONS[:1]}, "'options'"),
            ({"options": []}, "'options'"),
            ({"options": "Narrow, Wide"}, "'options'"),
            ({"options": [*OPTIONS, *OPTIONS]}, "'options'"),
            ({"options": [*OPTIONS, {"label": "Third", "description": "x"}]}, None),
            ({"options": [OPTIONS[0], OPTIONS[0]]}, "same 'label'"),
            ({"options": [OPTIONS[0], {"label": " ", "description": "x"}]}, "no 'label'"),
            ({"options": [OPTIONS[0], {"label": "Wide"}]}, "no 'description'"),
            ({"options": ["Narrow", "Wide"]}, "no 'description'"),
        ],
    )
    def test_each_rule(self, change: JsonObject, words: str | None) -> None:
        found = problem({**QUESTION, **change})
        if words is None:
            assert found is None
        else:
            assert found is not None
            assert "question 1" in found
            assert words in found

    @pytest.mark.parametrize("count", [0, 4, 50])
    def test_there_are_one_to_three(self, count: int) -> None:
        questions = [{**QUESTION, "id": f"q{number}"} for number in range(count)]
        found = problem(*questions)
        assert found is not None
        assert "1 to 3" in found

    def test_ids_are_unique(self) -> None:
        found = problem(QUESTION, {**QUESTION, "id": " scope "})
        assert found is not None
        assert found.startswith("question 2")

    def test_invalid_structure_counts_although_there_is_prose(self) -> None:
        assert problem({**QUESTION, "id": ""}, prose="Which one?") is not None

    def test_structure_needs_to_be_allowed(self) -> None:
        config = ToolConfig(allow_structured_user_input=False)
        found = problem(QUESTION, prose="Which one?", config=config)
        assert found is not None
        assert "not available" in found


class TestWording:
    def test_one_question_speaks_for_itself(self) -> None:
        assert as_text(structured(QUESTION)) == "How wide is it?"

    def test_several_get_one_sentence(self) -> None:
        text = as_text(structured(QUESTION, {**QUESTION, "id": "b"}))
        assert text
        assert "wide" not in text

    def test_none_say_nothing(self) -> None:
        assert as_text(structured()) == ""


def test_arguments_without_questions_have_no_structure() -> None:
    assert read_questions({"assistant_message": "Which?"}) is None
    assert read_questions({"questions": None}) is None


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "header", "question", "options", "label", "description"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(_ANY)
def test_whatever_a_model_sends_is_read_and_judged(value: Any) -> None:
    read = read_questions({"questions": value})
    found = problem_with(InputRequest("", read), BOTH)
    assert found is None or found
