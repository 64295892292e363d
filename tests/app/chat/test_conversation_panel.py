"""The conversation under a person's hands: finding, following, recalling, reverting."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.chat.composer import Address
from app.chat.edit_card import EditCard
from app.chat.panel import ChatPanel
from app.chat.rows import ASSISTANT, OUTPUT, THINKING, TOOL, Row, ToolLine
from app.chat.transcript_model import TranscriptModel
from app.theme.theme import Theme
from engine.vocabulary.messages import HandoffArtifact


@pytest.fixture
def panel(qapp: QApplication) -> Iterator[ChatPanel]:
    panel = ChatPanel(Theme("light", qapp))
    panel.resize(800, 600)
    panel.show_model(TranscriptModel(panel))
    panel.show()
    qapp.processEvents()
    yield panel
    panel.hide()
    panel.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def model_of(panel: ChatPanel) -> TranscriptModel:
    assert panel.model is not None
    return panel.model


def say(panel: ChatPanel, text: str, kind: str = ASSISTANT) -> Row:
    row = model_of(panel).add(kind, "a", "A", 0.0, text)
    model_of(panel).flush()
    return row


def call(panel: ChatPanel, name: str, head: Row | None = None) -> Row:
    row = model_of(panel).add(TOOL, "a", "A", 0.0, head=head)
    row.tool = ToolLine(name, "x.py", "path: x.py", f"c{row.id}")
    row.tool.name, row.tool.path, row.tool.status = name, "x.py", "completed"
    row.tool.output = "Changed x.py\n 6|a\n-7|b\n+7|c"
    model_of(panel).flush()
    return row


def test_words_are_found_also_in_what_is_folded(panel: ChatPanel) -> None:
    thought = say(panel, "A needle in a thought", THINKING)
    head = call(panel, "read")
    inner = call(panel, "search", head)
    inner.tool.output = "another NEEDLE"  # type: ignore[union-attr]
    for _ in range(60):
        say(panel, "Hay and more hay, in a line of its own.")
    panel.composer.field.setFocus()
    QTest.keyClick(panel.composer.field, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert panel.find_bar.isVisible()
    panel.find_bar.field.setText("needle")
    QTest.keyClick(panel.find_bar.field, Qt.Key.Key_Return)
    assert panel.find_bar.count.text() == "2 of 2"
    assert not head.is_stack_folded
    assert not inner.is_folded
    QTest.keyClick(panel.find_bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert panel.find_bar.count.text() == "1 of 2"
    assert not thought.is_folded
    assert thought.text in panel.transcript.shown_texts()
    panel.find_bar.field.setText("nowhere")
    QTest.keyClick(panel.find_bar.field, Qt.Key.Key_Return)
    assert panel.find_bar.count.text() == "Nothing found"
    QTest.keyClick(panel.find_bar.field, Qt.Key.Key_Escape)
    assert not panel.find_bar.isVisible()
    assert panel.transcript.search.words == ""


def test_a_reference_asks_for_the_file_at_its_line(panel: ChatPanel) -> None:
    asked: list[tuple[str, int]] = []
    panel.intents.file_opened.connect(lambda path, line: asked.append((path, line)))
    say(panel, "app/rows.py:12")
    left = int(panel.transcript._column()[0])
    QTest.mouseClick(
        panel.transcript.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(left + 20, 16 + 24 + 10)
    )
    assert asked == [("app/rows.py", 12)]


def test_a_change_is_a_card_that_asks_once_to_be_reverted(panel: ChatPanel) -> None:
    wanted: list[object] = []
    panel.intents.reverted.connect(wanted.append)
    panel.intents.file_opened.connect(lambda path, line: wanted.append((path, line)))
    row = call(panel, "edit")
    row.batch_id = "b1"
    model_of(panel).touch(row)
    model_of(panel).flush()
    card = panel.transcript.card_of(row.id)
    assert isinstance(card, EditCard)
    assert card.diff.toPlainText() == " 6|a\n-7|b\n+7|c"
    card.revert.click()
    card.revert.click()
    card.open.click()
    assert wanted == ["b1", ("x.py", 7)]
    panel.intents.refused.emit()
    assert card.revert.isEnabled()
    row.is_reverted = True
    model_of(panel).touch(row)
    model_of(panel).flush()
    again = panel.transcript.card_of(row.id)
    assert isinstance(again, EditCard)
    assert not again.revert.isEnabled()
    assert again.title.text().endswith("reverted")


def test_rows_are_chosen_and_unfolded_with_keys(panel: ChatPanel) -> None:
    head = call(panel, "read")
    call(panel, "read", head)
    output = say(panel, "", OUTPUT)
    output.payload = {"a": {"b": 1}}
    view = panel.transcript
    control = Qt.KeyboardModifier.ControlModifier
    QTest.keyClick(view, Qt.Key.Key_Up, control)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert output.shows_handoff
    QTest.keyClick(view, Qt.Key.Key_Up, control)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert not head.is_stack_folded
    assert len(model_of(panel).shown) == 3


def test_new_items_are_counted_while_somebody_reads_above(panel: ChatPanel) -> None:
    for _ in range(60):
        say(panel, "A line to fill the view with.")
    panel.transcript.verticalScrollBar().setValue(0)
    say(panel, "new")
    say(panel, "newer")
    assert panel.transcript.to_end.text() == "2 new"
    panel.transcript.to_end.click()
    assert panel.transcript.unseen == 0
    assert panel.transcript.to_end.isHidden()


def test_files_become_references_and_sent_texts_come_back(panel: ChatPanel) -> None:
    composer = panel.composer
    composer.show_address(Address("start"))
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile("/srv/a b.py")])
    composer.field.insertFromMimeData(files)
    assert composer.text == '@"/srv/a b.py"'
    composer.send()
    composer.clear()
    QTest.keyClick(composer.field, Qt.Key.Key_Up)
    assert composer.text == '@"/srv/a b.py"'
    QTest.keyClick(composer.field, Qt.Key.Key_Down)
    assert composer.text == ""


def test_files_are_offered_behind_an_at_sign(panel: ChatPanel) -> None:
    composer = panel.composer
    composer.field.activateWindow()
    composer.field.setFocus()
    asked: list[bool] = []
    composer.completion.files_wanted.connect(lambda: asked.append(True))
    QTest.keyClicks(composer.field, "see @ro")
    assert asked == [True]
    composer.completion.set_files(("app/rows.py", "app/other.py"))
    assert composer.completion.offered == ["@app/rows.py"]
    QTest.keyClick(composer.field, Qt.Key.Key_Return)
    assert composer.field.toPlainText() == "see @app/rows.py "
    assert composer.completion.offered == []


def test_matches_are_counted_in_what_is_shown(panel: ChatPanel) -> None:
    say(
        panel, "See **the** [rules](https://example.org/rules) in `rules.py`.\n\n```rules\nx\n```\n"
    )
    output = say(panel, "- rules: 1", OUTPUT)
    output.payload = {"rules": ["a", "rules"]}
    search = panel.transcript.search
    panel.transcript.find_words("rules")
    assert len(search) == 4
    panel.transcript.find_words("the rules")
    assert len(search) == 1
    panel.transcript.find_words("**the**")
    assert len(search) == 1


def test_code_that_goes_on_in_further_rows_is_copied_whole(panel: ChatPanel) -> None:
    code = "\n".join(f"value_{number} = compute(first, second)" for number in range(600))
    first = say(panel, f"Here it is:\n\n```python\n{code}\n```\n\nAnd\n\n```sh\nls\n```\n")
    parts = first.parts
    assert len(parts) > 3
    assert parts[-1].opening
    view = panel.transcript
    for part in parts[:-1]:
        QGuiApplication.clipboard().clear()
        view._put_code(part, 0)
        assert QGuiApplication.clipboard().text() == code
    view._put_code(parts[-1], 0)
    assert QGuiApplication.clipboard().text() == code
    view._put_code(parts[-1], 1)
    assert QGuiApplication.clipboard().text() == "ls"


def test_several_messages_are_chosen_with_shift_and_copied(panel: ChatPanel) -> None:
    rows = [say(panel, f"Message {number}.") for number in range(4)]
    view = panel.transcript
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    shift = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(view, Qt.Key.Key_Up, shift)
    QTest.keyClick(view, Qt.Key.Key_Up, shift)
    assert view.chosen_rows() == rows[1:]
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text()
    assert copied == "## A\n\nMessage 1.\n\nMessage 2.\n\nMessage 3.\n"
    top = view._place_of(rows[0])
    assert top is not None
    at = QPoint(round(top.x()) + 20, round(top.y()) + 34)
    shift = Qt.KeyboardModifier.ShiftModifier
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, shift, at)
    assert view.chosen_rows() == rows
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert view.chosen_rows() == rows[:1]


def test_a_markdown_document_is_read_when_it_is_wanted(panel: ChatPanel) -> None:
    wanted: list[Row] = []
    panel.transcript.handoff_wanted.connect(wanted.append)
    row = say(panel, "- summary: Short", OUTPUT)
    row.payload = {"summary": "Short"}
    row.handoff = HandoffArtifact("markdown", "run://handoffs/a/HANDOFF.md", "text/markdown", "", 9)
    view = panel.transcript
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert wanted == [row]
    row.handoff_text = "# Plan\n\n" + "One more line of it.\n\n" * 400
    model_of(panel).touch(row)
    model_of(panel).flush()
    place = view._blocks.block(model_of(panel).shown[0]).document_at()
    assert place is not None
    shown = place[0].document.toPlainText()
    assert shown.startswith("Plan\n")
    assert "more lines" in shown
    QTest.keyClick(view, Qt.Key.Key_Return)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert wanted == [row]


def test_what_is_found_in_a_change_is_marked_in_its_diff(panel: ChatPanel) -> None:
    row = call(panel, "edit")
    assert row.tool is not None
    row.tool.output = "Changed x.py\n" + "\n".join(f"+{n}|line {n} of it" for n in range(1, 400))
    row.batch_id = "b1"
    model_of(panel).touch(row)
    model_of(panel).flush()
    panel._look("line 399")
    card = panel.transcript.card_of(row.id)
    assert isinstance(card, EditCard)
    (mark,) = card.diff.extraSelections()
    assert mark.cursor.selectedText() == "line 399"
    assert card.diff.verticalScrollBar().value() > 300
    panel._end_search()
    assert card.diff.extraSelections() == []


def test_a_pasted_picture_is_refused_with_a_reason(panel: ChatPanel) -> None:
    reasons: list[str] = []
    panel.composer.refused.connect(reasons.append)
    picture = QMimeData()
    picture.setImageData(QImage(4, 4, QImage.Format.Format_RGB32))
    assert panel.composer.field.canInsertFromMimeData(picture)
    panel.composer.field.insertFromMimeData(picture)
    assert panel.composer.text == ""
    assert len(reasons) == 1
    assert "name it with @" in reasons[0]
