"""Workflow files: text to workflow and back, with nothing lost on the way."""

from __future__ import annotations

from pydantic import ValidationError

from engine.graph.document import document_of
from engine.graph.format_problems import parsed, problems_of
from engine.graph.json_text import MAX_DEPTH, formatted, nesting_exceeds, rewritten
from engine.graph.problems import Problem
from engine.graph.workflow import Workflow
from engine.vocabulary.errors import EngineError
from engine.vocabulary.tools import JsonObject

_SHOWN = 5


class WorkflowFormatError(EngineError):
    """A text or document is not a workflow; `problems` says everything that is wrong with it."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        sentences = [problem.message for problem in problems[:_SHOWN]]
        if len(problems) > _SHOWN:
            sentences.append(f"and {len(problems) - _SHOWN} more problems")
        super().__init__("; ".join(sentences))


def load_workflow(text: str | bytes) -> Workflow:
    """Read a workflow file; the workflow may still be invalid, see `engine.graph.validation`.

    Raises:
        WorkflowFormatError: naming everything that keeps the text from being a workflow.
    """
    content, document, problems = parsed(text)
    if problems:
        raise WorkflowFormatError(problems)
    workflow = workflow_from_document(document)
    workflow.remember_text(content)
    return workflow


def workflow_from_document(document: JsonObject) -> Workflow:
    """Read a decoded workflow file; the object is kept and must not be changed afterwards.

    Raises:
        WorkflowFormatError: naming everything that does not fit.
    """
    try:
        return Workflow.from_document(document)
    except ValidationError as error:
        raise WorkflowFormatError(problems_of(error, document)) from None


def dump_workflow(workflow: Workflow) -> str:
    """The workflow as a file, with a final newline.

    A workflow that was read gives its own text again, in which only the lines of edited fields
    differ. Anything else is laid out with a two-space indent.

    Raises:
        ValueError: if a schema holds a number that JSON does not have (infinite, not a number),
            or is nested deeper than a file may be.
        TypeError: if a schema holds something that is no JSON value.
    """
    document = document_of(workflow)
    if document is not workflow.origin and nesting_exceeds(document, MAX_DEPTH):
        raise ValueError(f"the workflow nests objects and lists more than {MAX_DEPTH} deep")
    text, origin = workflow.source_text, workflow.origin
    if text is None or origin is None:
        return formatted(document)
    return rewritten(text, origin, document)
