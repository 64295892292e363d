from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.vocabulary import events as ev
from engine.vocabulary.messages import Usage
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import FileChangeOp, FileChangeRecord, ToolCall, ToolTier
from orchestration.errors import UserError
from orchestration.report.as_html import as_html
from orchestration.report.as_markdown import as_markdown
from orchestration.report.blocks import Block, Code, Heading, Paragraph, Report, Table
from orchestration.report.contents import RunAccount, report_of
from orchestration.report.writing import format_of, rendered, write_report
from orchestration.runs.event_hub import EventHub, EventRecord
from orchestration.runs.run_view import RunView
from orchestration.runs.stored import StoredRun
from orchestration.runs.view_values import RunStatus
from orchestration.storage.errors import HoldsSecret, StorageUnavailable
from tests.support.graphs import agent_node, graph

TAGS = frozenset(
    {"html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "table", "tr"}
    | {"th", "td", "div", "pre", "span", "footer"}
)


def account(*events: ev.RunEvent, diffs: dict[str, str] | None = None) -> RunAccount:
    workflow = graph([agent_node("a")])
    view = RunView("run-1", "flow", {"a": "Alpha"})
    records: list[EventRecord] = []
    hub = EventHub(view.project, clock=lambda: 1000.0 + len(records))
    hub.listen(records.append)
    for event in events:
        hub.emit(event)
    run = StoredRun("run-1", "A run", RunStatus.COMPLETED, "flow", "Flow", 1000.0, 1090.0)
    return RunAccount(run, workflow, view, records, "Do it", "/some/folder", diffs or {})


def whole_run() -> RunAccount:
    call = ToolCall("c1", "write", {"path": "docs/a.md"})
    change = FileChangeRecord(
        "docs/a.md", FileChangeOp.CREATE, 1, tool_name="write", diff_artifact_id="d1"
    )
    return account(
        ev.NodeQueued("a", "Alpha"),
        ev.NodeStarted("a", "Alpha"),
        ev.PhaseTimed("ai_invoke", "Alpha", 2500, "a"),
        ev.UsageReported("a", Usage(prompt_tokens=10, completion_tokens=5), "model-x"),
        ev.NodeAwaitingInput("a", "Alpha", "", question="Which one?"),
        ev.ChatMessage("a", "user", "The first"),
        ev.ToolCallProposed("a", "Alpha", call),
        ev.ToolApprovalRequested(PendingApproval("p", "a", "Alpha", call, ToolTier.WRITE, "d")),
        ev.ToolDenied("p", "a", "c1", "write", "not there"),
        ev.FileChanged("a", change),
        ev.NodeCompleted("a", "Alpha", {"summary": "done"}),
        diffs={"d1": "+1|hello\n-2|gone"},
    )


def test_everything_of_a_run_is_in_its_report() -> None:
    text = as_markdown(report_of(whole_run()))

    for words in (
        "# A run",
        "## Started with",
        "Which one?",
        "The first",
        "denied\\: not there",
        "docs/a\\.md created",
        "```diff\n+1|hello\n-2|gone\n```",
        "model\\-x",
        "| Cost | unknown |",
        '"summary": "done"',
        "2\\.5 s",
    ):
        assert words in text


def test_failures_are_told_first() -> None:
    report = report_of(account(ev.NodeErrored("a", "Alpha", "too many requests")))

    headings = [block.text for block in report.blocks if isinstance(block, Heading)]

    assert headings[:2] == ["Started with", "Problems"]
    assert '<p class="problem">Alpha: too many requests</p>' in as_html(report)


class Reader(HTMLParser):
    """Notes each tag, each attribute, and the texts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_comment(self, data: str) -> None:
        self.tags.add("comment")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


hostile = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            "</pre></table><img src=x onerror=alert(1)>",
            '"><svg onload=x>',
            "<!--",
            "</style>",
            "```\n# out\n```",
            "a | b\n\n# title",
            "[x](javascript:y)",
            "\x1b[31m\u202e",
            "\ud800",
        ]
    ),
)


def _blocks(words: list[str]) -> tuple[Block, ...]:
    a, b, c, d, e = words
    return (
        Heading(2, a),
        Paragraph(b),
        Table(((c, d),)),
        Table(((c, d, e),), (e, d, c)),
        Code(a, "diff"),
        Code(e, "json"),
    )


@given(st.lists(hostile, min_size=5, max_size=5))
def test_nothing_breaks_out_of_the_page(words: list[str]) -> None:
    page = as_html(Report(words[0], _blocks(words)))
    reader = Reader()
    reader.feed(page)
    reader.close()

    assert reader.tags <= TAGS
    assert reader.attributes <= {"lang", "charset", "http-equiv", "content", "name", "class"}
    assert page.encode()
    assert "\x1b" not in page


@given(st.lists(hostile, min_size=5, max_size=5))
def test_nothing_breaks_out_of_the_markdown(words: list[str]) -> None:
    text = as_markdown(Report(words[0], _blocks(words)))
    outside = re.sub(r"^(`{3,})[a-z]*\n.*?\n\1$", "", text, flags=re.S | re.M)
    headings = [line for line in outside.splitlines() if line.startswith("#")]

    assert len(headings) == 2
    assert not re.search(r"(?<!\\)[<\[]", outside)


def test_a_known_key_is_never_in_a_report() -> None:
    secret = 'sk-"quoted"<key>&more'
    report = report_of(account(ev.NodeCompleted("a", "Alpha", {"key": secret})))

    for wanted in ("html", "md"):
        with pytest.raises(HoldsSecret):
            rendered(report, wanted, [secret])
        assert rendered(report, wanted, ["another-secret"])


def test_the_ending_says_what_is_written(tmp_path: Path) -> None:
    assert [format_of(Path(name)) for name in ("a.HTML", "b.md")] == ["html", "md"]
    with pytest.raises(UserError, match="neither"):
        format_of(Path("a.pdf"))
    write_report(tmp_path / "a.md", "text")
    assert (tmp_path / "a.md").read_text() == "text"
    with pytest.raises(StorageUnavailable, match="cannot be written"):
        write_report(tmp_path / "gone" / "a.md", "text")
