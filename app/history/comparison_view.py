"""Two runs side by side: how each node stands in both, and its two outputs next to each other."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.history.run_words import run_look, tokens_text
from app.kit.elided_label import ElidedLabel
from app.kit.formats import duration_text
from app.kit.visible import visible_lines
from app.theme.statuses import status_style
from app.theme.theme import Theme

if TYPE_CHECKING:
    from orchestration.runs.stored import ComparedNode, NodeFigures, RunComparison, StoredRun

_MOST_COMPARED = 2000
_TINT = 0.16


class SideTexts(NamedTuple):
    """Two texts line by line, and the numbers of the lines that the other does not have."""

    a: list[str]
    b: list[str]
    only_a: frozenset[int]
    only_b: frozenset[int]


def side_by_side(a: str, b: str) -> SideTexts:
    """Find what is different; texts of more than 2,000 lines are only told to be."""
    lines_a, lines_b = visible_lines(a), visible_lines(b)
    if lines_a == lines_b or max(len(lines_a), len(lines_b)) > _MOST_COMPARED:
        return SideTexts(lines_a, lines_b, frozenset(), frozenset())
    only_a: set[int] = set()
    only_b: set[int] = set()
    matcher = SequenceMatcher(None, lines_a, lines_b, autojunk=False)
    for kind, from_a, to_a, from_b, to_b in matcher.get_opcodes():
        if kind != "equal":
            only_a.update(range(from_a, to_a))
            only_b.update(range(from_b, to_b))
    return SideTexts(lines_a, lines_b, frozenset(only_a), frozenset(only_b))


class ComparisonView(QWidget):
    """Shows one comparison.

    Signals:
        left: The person has seen enough.
    """

    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._comparison: RunComparison | None = None
        self.back = QPushButton("Back to the List", self)
        self.back.setAutoDefault(False)
        self.title = ElidedLabel("", self)
        self.title.setProperty("kind", "caption")
        self.differences = QLabel(self)
        self.differences.setProperty("kind", "small")
        self.differences.setWordWrap(True)
        self.differences.setTextFormat(Qt.TextFormat.PlainText)
        self.nodes = QTreeWidget(self)
        self.sides = (_Side("Output in the first run", self), _Side("Output in the second", self))
        self._build_nodes()
        self._lay_out()
        self.back.clicked.connect(lambda: self.left.emit())
        self.nodes.currentItemChanged.connect(lambda *_: self._show_outputs())
        theme.changed.connect(self._show_outputs)

    def show_comparison(self, comparison: RunComparison) -> None:
        """Show two runs; the first node with different outputs is chosen."""
        self._comparison = comparison
        a, b = comparison.a, comparison.b
        self.title.setText(f"{a.name}   ↔   {b.name}")
        self.differences.setText("\n".join(f"•  {each}" for each in comparison.differences))
        self.differences.setVisible(bool(comparison.differences))
        self.nodes.clear()
        whole = [
            "Whole run",
            _whole(a, comparison.seconds_a),
            _whole(b, comparison.seconds_b),
            "",
        ]
        self.nodes.addTopLevelItem(QTreeWidgetItem(whole))
        chosen = 0
        for number, node in enumerate(comparison.nodes, start=1):
            row = [node.label, _figures(node.a), _figures(node.b), _verdict(node)]
            item = QTreeWidgetItem(row)
            for column in range(4):
                item.setToolTip(column, row[column])
            self.nodes.addTopLevelItem(item)
            if not chosen and not node.has_same_output:
                chosen = number
        first = self.nodes.topLevelItem(chosen or min(1, len(comparison.nodes)))
        if first is not None:
            self.nodes.setCurrentItem(first)
        self._show_outputs()

    def _build_nodes(self) -> None:
        nodes = self.nodes
        nodes.setHeaderLabels(["Node", "First run", "Second run", "Output"])
        nodes.setRootIsDecorated(False)
        nodes.setUniformRowHeights(True)
        nodes.setAllColumnsShowFocus(True)
        nodes.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        nodes.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        nodes.setAccessibleName("Nodes of both runs")
        header = nodes.header()
        header.setSectionsMovable(False)
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(56)
        for column in range(3):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        header.resizeSection(3, 84)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(4, 2, 4, 4)
        head.setSpacing(8)
        head.addWidget(self.back)
        head.addWidget(self.title, 1)
        outputs = QFrame(self)
        pair = QHBoxLayout(outputs)
        pair.setContentsMargins(8, 0, 0, 0)
        pair.setSpacing(8)
        for side in self.sides:
            pair.addWidget(side, 1)
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.setHandleWidth(1)
        split.setChildrenCollapsible(False)
        split.addWidget(self.nodes)
        split.addWidget(outputs)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setSizes([590, 410])
        self.differences.setContentsMargins(6, 0, 6, 4)
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 0, 10, 10)
        box.setSpacing(2)
        box.addLayout(head)
        box.addWidget(self.differences)
        box.addWidget(split, 1)

    def _show_outputs(self) -> None:
        comparison = self._comparison
        if comparison is None:
            return
        at = self.nodes.currentIndex().row()
        if at < 1:
            texts = side_by_side("Choose a node to see its outputs.", "")
        else:
            node = comparison.nodes[at - 1]
            texts = side_by_side(_output(node.a), _output(node.b))
        self.sides[0].show_lines(texts.a, texts.only_a, self._theme)
        self.sides[1].show_lines(texts.b, texts.only_b, self._theme)


class _Side(QPlainTextEdit):
    """One text; lines that the other side does not have are tinted."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "code")
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(12)
        self.setFont(font)
        self._tint = _Tint(self.document())

    def show_lines(self, lines: list[str], marked: frozenset[int], theme: Theme) -> None:
        ground = QTextCharFormat()
        ground.setBackground(theme.tokens.tint("waiting", _TINT))
        self._tint.look = ground
        self._tint.marked = marked
        self.setPlainText("\n".join(lines))


class _Tint(QSyntaxHighlighter):
    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.marked: frozenset[int] = frozenset()
        self.look = QTextCharFormat()

    def highlightBlock(self, text: str) -> None:
        """Tint a line that is marked."""
        if self.currentBlock().blockNumber() in self.marked:
            self.setFormat(0, len(text), self.look)


def _whole(run: StoredRun, seconds: float) -> str:
    parts = [run_look(run).words, duration_text(seconds)]
    tokens = tokens_text(run.tokens_in, run.tokens_out)
    return " · ".join([*parts, f"{tokens} tokens"] if tokens else parts)


def _figures(node: NodeFigures | None) -> str:
    if node is None:
        return "not there"
    is_done = node.status == "completed" and node.seconds is not None
    parts = [] if is_done else [status_style(node.status).label]
    if node.seconds is not None:
        parts.append(duration_text(node.seconds))
    tokens = tokens_text(node.tokens_in, node.tokens_out)
    return " · ".join([*parts, f"{tokens} tokens"] if tokens else parts)


def _verdict(node: ComparedNode) -> str:
    if node.a is None or node.b is None:
        return ""
    if node.a.output is None and node.b.output is None:
        return "None"
    return "Same" if node.has_same_output else "Different"


def _output(node: NodeFigures | None) -> str:
    from orchestration.runs.view_values import pretty_json

    if node is None:
        return "This run does not have the node."
    if node.output is None:
        return "No output."
    return node.output if isinstance(node.output, str) else pretty_json(node.output)
