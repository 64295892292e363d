"""What a report of a run says, worked out from what is stored of the run; nothing here is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from engine.graph.workflow import Workflow
from engine.vocabulary import events as ev
from engine.vocabulary.tools import FileChangeRecord
from orchestration.report.blocks import Block, Code, Heading, Paragraph, Report, Table
from orchestration.report.decisions import decisions, questions
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.run_view import RunView
from orchestration.runs.stored import StoredRun
from orchestration.runs.view_values import UsageTotals, pretty_json

UNKNOWN = "unknown"
LONGEST = 200_000
"""So many characters of one output or diff are in a report."""
_OPERATIONS = {"create": "created", "update": "changed", "delete": "deleted", "rename": "renamed"}


class RunAccount(Struct, frozen=True):
    """Everything that a report is made from.

    Attributes:
        run: the row of the run in a list.
        workflow: the workflow as it ran.
        view: the run at its end.
        records: what it told, in order.
        text: what it was started with.
        folder: the execution folder.
        diffs: the texts of the stored diffs, by their artifact's id; others are not there any more.
    """

    run: StoredRun
    workflow: Workflow
    view: RunView
    records: Sequence[EventRecord]
    text: str = ""
    folder: str = ""
    diffs: Mapping[str, str] = {}


def report_of(account: RunAccount) -> Report:
    """The report; the same account always gives the same one."""
    parts: tuple[Callable[[RunAccount], Iterable[Block]], ...] = (
        _overview,
        _problems,
        _nodes,
        _outputs,
        _handoffs,
        _questions,
        _approvals,
        _files,
        _tools,
    )
    blocks = [block for part in parts for block in part(account)]
    return Report(account.run.name or account.run.workflow_name or "Run", tuple(blocks))


def _overview(account: RunAccount) -> Iterable[Block]:
    run, usage = account.run, account.view.usage
    rows = [
        ("Workflow", account.workflow.name or run.workflow_name),
        ("Status", run.status.value),
        ("Run", run.run_id),
        ("Began", _moment(run.started)),
        ("Last change", _moment(run.updated)),
        ("Time between", _span(run.updated - run.started)),
        ("Tokens in", _count(usage.tokens_in)),
        ("Tokens out", _count(usage.tokens_out)),
        ("Tokens from a cache", _count(usage.tokens_cached)),
        ("Cost", _cost(usage)),
    ]
    if account.folder:
        rows.append(("Folder", account.folder))
    if run.parent_id:
        rows.append(("Forked from", run.parent_id))
    yield Table(tuple(rows))
    if account.text.strip():
        yield Heading(2, "Started with")
        yield Code(account.text)


def _problems(account: RunAccount) -> Iterable[Block]:
    view = account.view
    found = [f"{view.name(node_id)}: {error}" for node_id, error in view.failed.items()]
    for record in account.records:
        event = record.event
        if isinstance(event, ev.RunError):
            found.append(event.message)
        elif isinstance(event, ev.AiInvokeFailed):
            found.append(f"{event.label}: a model call failed: {event.error}")
        elif isinstance(event, ev.OutputRepairFailed):
            found.append(f"{view.name(event.node_id)}: output repair failed: {event.reason}")
    if found:
        yield Heading(2, "Problems")
        for words in dict.fromkeys(found):
            yield Paragraph(words, is_problem=True)


def _nodes(account: RunAccount) -> Iterable[Block]:
    view = account.view
    models = _models(account.records)
    rows = []
    for node_id, label in view.labels.items():
        timing, usage = view.timings.get(node_id), view.usage_by_node.get(node_id)
        spent = None
        if timing is not None and timing.started_at and timing.completed_at:
            spent = timing.completed_at - timing.started_at
        used = usage or UsageTotals()
        rows.append(
            (
                label,
                view.status_by_node[node_id].value.replace("_", " "),
                ", ".join(models.get(node_id, ())) or UNKNOWN,
                _span(spent) if spent is not None else UNKNOWN,
                _span(timing.model_ms / 1000) if timing is not None else UNKNOWN,
                _count(used.tokens_in),
                _count(used.tokens_out),
                _cost(used),
            )
        )
    if rows:
        titles = "Node", "Status", "Model", "Time", "At the model", "In", "Out", "Cost"
        yield Heading(2, "Nodes")
        yield Table(tuple(rows), titles)


def _outputs(account: RunAccount) -> Iterable[Block]:
    view = account.view
    if not view.outputs:
        return
    yield Heading(2, "Outputs")
    for node_id, output in view.outputs.items():
        yield Heading(3, view.name(node_id))
        yield from _code(pretty_json(output), "json")


def _handoffs(account: RunAccount) -> Iterable[Block]:
    view = account.view
    if view.handoffs:
        yield Heading(2, "Handoffs")
        rows = [
            (view.name(node_id), each.format, each.uri, f"{each.size_bytes} bytes", each.sha256)
            for node_id, each in view.handoffs.items()
        ]
        yield Table(tuple(rows), ("Node", "Format", "Document", "Size", "SHA-256"))


def _questions(account: RunAccount) -> Iterable[Block]:
    rows = [
        (_moment(each.time), account.view.name(each.actor), each.asked, each.answer)
        for each in questions(account.records)
    ]
    if rows:
        yield Heading(2, "Questions and answers")
        yield Table(tuple(rows), ("When", "Node", "Question", "Answer"))


def _approvals(account: RunAccount) -> Iterable[Block]:
    rows = [
        (_moment(each.time), account.view.name(each.actor), each.tool, each.target, each.decision)
        for each in decisions(account.records)
    ]
    if rows:
        yield Heading(2, "Approvals")
        yield Table(tuple(rows), ("When", "Node", "Tool", "What", "Decision"))


def _files(account: RunAccount) -> Iterable[Block]:
    view = account.view
    if not view.changed_files:
        return
    yield Heading(2, "Changed files")
    for node_id, records in view.changed_files_by_node.items():
        for record in records:
            yield Heading(3, _file_words(record))
            yield Paragraph(f"By {view.name(node_id)} with {record.tool_name or 'a tool'}")
            diff = account.diffs.get(record.diff_artifact_id or "")
            if diff is not None:
                yield from _code(diff, "diff")
            elif record.diff_summary:
                yield Code(record.diff_summary, "diff")
            else:
                yield Paragraph("The difference is not stored.")


def _tools(account: RunAccount) -> Iterable[Block]:
    rows = []
    for actor, calls in account.view.tool_calls.items():
        counts = Counter(call.tool_name for call in calls.values())
        failed = Counter(call.tool_name for call in calls.values() if call.is_error)
        spent: Counter[str] = Counter()
        for call in calls.values():
            if call.started_at is not None and call.completed_at is not None:
                spent[call.tool_name] += round((call.completed_at - call.started_at) * 1000)
        rows += [
            (
                account.view.name(actor),
                name,
                str(count),
                str(failed[name]),
                _span(spent[name] / 1000),
            )
            for name, count in counts.items()
        ]
    if rows:
        yield Heading(2, "Tool calls")
        yield Table(tuple(rows), ("Node", "Tool", "Calls", "Without success", "Time"))


def _code(text: str, language: str) -> Iterable[Block]:
    yield Code(text[:LONGEST], language)
    if len(text) > LONGEST:
        yield Paragraph(f"The first {LONGEST} of {len(text)} characters are shown.")


def _models(records: Iterable[EventRecord]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for record in records:
        event = record.event
        if isinstance(event, ev.UsageReported):
            found.setdefault(event.node_id, {})[event.model] = None
    return {node_id: tuple(models) for node_id, models in found.items()}


def _file_words(record: FileChangeRecord) -> str:
    words = _OPERATIONS.get(record.op.value, record.op.value)
    where = f" to {record.rename_to}" if record.rename_to else ""
    return f"{record.path} {words}{where}"


def _count(count: Any) -> str:
    return UNKNOWN if count is None else str(count)


def _cost(usage: UsageTotals) -> str:
    if usage.cost is None:
        return UNKNOWN
    words = f"${usage.cost:.4f}"
    if usage.unpriced_calls:
        words += f", without {usage.unpriced_calls} calls of unknown cost"
    return words


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _span(seconds: float) -> str:
    if seconds < 60:
        return f"{max(0.0, seconds):.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
