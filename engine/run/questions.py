"""Questions that a model asks a person: reading them, wording them, judging them.

Reading never fails: what is missing becomes an empty text, so that the judgement can say what is
wrong and the model can ask again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engine.vocabulary.messages import InputRequest, Question, QuestionOption, StructuredInput
from engine.vocabulary.tools import JsonObject, ToolConfig

MAX_QUESTIONS = 3
MIN_OPTIONS, MAX_OPTIONS = 2, 3
MAX_HEADER_CHARS = 12
SEVERAL_QUESTIONS = "Some decisions are needed before the work can go on."

_ID = re.compile(r"[a-z][a-z0-9_]*")
_MAX_READ = 16


def read_questions(arguments: JsonObject) -> StructuredInput | None:
    """The structured questions in a call's arguments; `None` if it does not speak of any."""
    questions = arguments.get("questions")
    if questions is None:
        return None
    return StructuredInput(tuple([_question(item) for item in _items(questions)]))


def as_text(structured: StructuredInput) -> str:
    """What to show in a conversation for structured questions."""
    if len(structured.questions) == 1:
        return structured.questions[0].question
    return SEVERAL_QUESTIONS if structured.questions else ""


def problem_with(request: InputRequest, tool_config: ToolConfig) -> str | None:
    """Say why a question cannot be put to a person; `None` if it can.

    Structured questions count where there are any, whatever the message says.
    """
    structured = request.structured_input
    if structured is not None:
        if not tool_config.allow_structured_user_input:
            return "structured questions are not available here"
        return next(_problems(structured), None)
    if request.assistant_message.strip():
        return None
    return "there is neither a question in 'assistant_message' nor a list of 'questions'"


def _items(value: Any) -> list[Any]:
    # Far too many are as wrong as one too many, and need not all be read.
    return value[:_MAX_READ] if isinstance(value, list) else []


def _question(item: Any) -> Question:
    fields = item if isinstance(item, dict) else {}
    options = tuple([_option(option) for option in _items(fields.get("options"))])
    header, question = _text(fields, "header"), _text(fields, "question")
    return Question(_text(fields, "id"), header, question, options)


def _option(item: Any) -> QuestionOption:
    if isinstance(item, str):
        return QuestionOption(item.strip(), "")
    fields = item if isinstance(item, dict) else {}
    return QuestionOption(_text(fields, "label"), _text(fields, "description"))


def _text(fields: JsonObject, key: str) -> str:
    value = fields.get(key)
    return value.strip() if isinstance(value, str) else ""


def _problems(structured: StructuredInput) -> Iterator[str]:
    questions = structured.questions
    if not 1 <= len(questions) <= MAX_QUESTIONS:
        yield f"'questions' must hold 1 to {MAX_QUESTIONS} questions"
    seen: set[str] = set()
    for number, question in enumerate(questions, 1):
        yield from _problems_of(question, f"question {number}", seen)


def _problems_of(question: Question, where: str, seen: set[str]) -> Iterator[str]:
    question_id = question.id.strip()
    if not _ID.fullmatch(question_id):
        yield (
            f"{where}: 'id' must start with a small letter and go on with small letters, "
            "digits and underscores"
        )
    if question_id in seen:
        yield f"{where}: its 'id' is already that of another question"
    seen.add(question_id)
    header = question.header.strip()
    if not header or len(header) > MAX_HEADER_CHARS:
        yield f"{where}: 'header' must have 1 to {MAX_HEADER_CHARS} characters, not {len(header)}"
    if not question.question.strip():
        yield f"{where}: 'question' is empty"
    yield from _option_problems(question.options, where)


def _option_problems(options: tuple[QuestionOption, ...], where: str) -> Iterator[str]:
    if not MIN_OPTIONS <= len(options) <= MAX_OPTIONS:
        yield f"{where}: 'options' must hold {MIN_OPTIONS} to {MAX_OPTIONS} choices"
    labels = [option.label.strip() for option in options]
    if not all(labels):
        yield f"{where}: an option has no 'label'"
    if len(set(labels)) < len(labels):
        yield f"{where}: two options have the same 'label'"
    if not all(option.description.strip() for option in options):
        yield f"{where}: an option has no 'description'"
