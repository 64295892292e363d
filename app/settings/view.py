"""The settings over the whole window: pages and their search at the left, one page beside."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.kit.choice_popup import Choice, matches
from app.settings.access import Access
from app.settings.index import ENTRIES, PAGES, Entry, page_spec
from app.settings.page import Page
from app.settings.pages import made_page

_NAV_WIDTH = 216
_SAVED_MS = 1600
_KEY = Qt.ItemDataRole.UserRole
_PROVIDER = "provider:"


class SettingsView(QFrame):
    """The settings of one window. Pages are made when they are first opened."""

    def __init__(self, access: Access) -> None:
        super().__init__(access.window)
        self.access = access
        self._pages: dict[str, Page] = {}
        self._back_to: QWidget | None = None
        self.setProperty("kind", "ground")
        self.setAutoFillBackground(True)
        self.setAccessibleName("Settings")
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Find a setting")
        self.search.setAccessibleName("Find a setting")
        self.search.setClearButtonEnabled(False)
        self.search.textChanged.connect(self._list)
        self.search.installEventFilter(self)
        self.list = QListWidget(self)
        self.list.setProperty("kind", "pages")
        self.list.setAccessibleName("Pages of the settings")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.currentItemChanged.connect(self._on_current)
        self.list.itemActivated.connect(self._on_activated)
        self._nothing = QLabel("Nothing found", self)
        self._nothing.setProperty("kind", "small")
        self._nothing.setContentsMargins(10, 4, 0, 0)
        self.close_button = QToolButton(self)
        self.close_button.setText("Back")
        self.close_button.setIcon(access.theme.icons.icon("chevron-left"))
        self.close_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.close_button.setAccessibleName("Close the settings")
        self.close_button.setToolTip("Back to the workflow (Esc)")
        self.close_button.clicked.connect(self.dismiss)
        self._saved = QLabel("Saved", self)
        self._saved.setProperty("kind", "small")
        self._saved.setContentsMargins(10, 0, 0, 0)
        self._stack = QStackedWidget(self)
        self._build()
        self._saved_for = QTimer(self)
        self._saved_for.setSingleShot(True)
        self._saved_for.setInterval(_SAVED_MS)
        self._saved_for.timeout.connect(self._saved.clear)
        self._saved.clear()
        access.saved.connect(self._say_saved)
        access.window.installEventFilter(self)
        self.hide()

    @property
    def page(self) -> Page | None:
        """The page that is shown."""
        current = self._stack.currentWidget()
        return current if isinstance(current, Page) else None

    def open(self, key: str = "") -> None:
        """Show the settings, at an entry of the index or at the page that was shown last.

        Args:
            key: `limits`, `limits#tools` or `provider:openai`; empty for where one was.
        """
        if not self.isVisible():
            self._back_to = QApplication.focusWidget()
            self.setGeometry(self.access.window.rect())
            self.show()
        self.raise_()
        for over in (self.access.window.toasts,):
            over.raise_()
        page_id, _, row = key.partition("#")
        self.search.clear()
        self._list("")
        self._go(page_id or self._last or PAGES[0].id)
        if row and self.page is not None:
            self.page.reveal(row)
        else:
            self.list.setFocus()

    _last = ""

    def dismiss(self) -> None:
        """Go back to what was there before; what is being entered is kept if it fits."""
        if not self.isVisible():
            return
        focused = QApplication.focusWidget()
        if focused is not None and self.isAncestorOf(focused):
            focused.clearFocus()  # a line that is left keeps what was entered
        self.hide()
        back, self._back_to = self._back_to, None
        window = self.access.window
        (back if back is not None and back.isVisible() else window.canvas).setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        """What is under way for a page ends with looking at it."""
        super().hideEvent(event)
        if self.page is not None:
            self.page.closed()

    def focusNextPrevChild(self, is_next: bool) -> bool:
        """Keep Tab within the settings: what is below them cannot be seen."""
        start = QApplication.focusWidget()
        if start is None or not self.isAncestorOf(start):
            return super().focusNextPrevChild(is_next)
        widget: QWidget | None = start
        while widget is not None:
            widget = widget.nextInFocusChain() if is_next else widget.previousInFocusChain()
            if widget is None or widget is start:
                break
            if (
                self.isAncestorOf(widget)
                and widget.isVisible()
                and widget.isEnabled()
                and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
                and widget.focusProxy() is None
            ):
                reasons = Qt.FocusReason
                widget.setFocus(reasons.TabFocusReason if is_next else reasons.BacktabFocusReason)
                return True
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape goes back."""
        if event.key() == Qt.Key.Key_Escape:
            if self.search.text():
                self.search.clear()
            elif self.page is not None and self._last.startswith(_PROVIDER):
                self._go("providers")
            else:
                self.dismiss()
        elif event.modifiers() == Qt.KeyboardModifier.ControlModifier and (
            event.key() == Qt.Key.Key_F
        ):
            self.search.setFocus()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fill the window; lead the list from the search field."""
        if watched is self.access.window and event.type() == QEvent.Type.Resize:
            self.setGeometry(self.access.window.rect())
        if watched is self.search and isinstance(event, QKeyEvent):
            is_press = event.type() == QEvent.Type.KeyPress
            if is_press and event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                self._step(1 if event.key() == Qt.Key.Key_Down else -1)
                return True
            if is_press and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                item = self.list.currentItem()
                if item is not None:
                    self._on_activated(item)
                return True
        return super().eventFilter(watched, event)

    def _step(self, by: int) -> None:
        count = self.list.count()
        if count:
            self.list.setCurrentRow((self.list.currentRow() + by) % count)

    def _say_saved(self) -> None:
        self._saved.setText("✓  Saved")
        self._saved_for.start()

    def _list(self, words: str) -> None:
        """List all pages, or what fits the words."""
        self.list.blockSignals(True)
        self.list.clear()
        for choice in self._found(words):
            text = f"{choice.title}\n{choice.hint}" if choice.hint else choice.title
            item = QListWidgetItem(text)
            item.setToolTip(choice.note or choice.title)
            item.setData(_KEY, choice.key)
            self.list.addItem(item)
            if not words and choice.key == self._page_of(self._last):
                self.list.setCurrentItem(item)
        self.list.blockSignals(False)
        self._nothing.setVisible(self.list.count() == 0)
        if words.strip() and self.list.count():
            self.list.setCurrentRow(0)

    def _found(self, words: str) -> list[Choice]:
        if not words.strip():
            return [Choice(spec.id, spec.title, spec.about) for spec in PAGES]
        rated = [(matches(choice, words), choice) for choice in entries(self.access)]
        found = [(cost, choice) for cost, choice in rated if cost is not None]
        return [choice for _, choice in sorted(found, key=lambda pair: pair[0])]

    def _on_current(self, item: QListWidgetItem | None) -> None:
        if item is not None and not self.search.text().strip():
            self._go(str(item.data(_KEY)))

    def _on_activated(self, item: QListWidgetItem) -> None:
        page_id, _, row = str(item.data(_KEY)).partition("#")
        self._go(page_id)
        if self.page is not None:
            if row:
                self.page.reveal(row)
            else:
                self.page.column.focusNextPrevChild(True)

    def _go(self, page_id: str) -> None:
        page = self._pages.get(page_id)
        if page is None:
            page = self._made(page_id)
            if page is None:
                return
            self._pages[page_id] = page
            self._stack.addWidget(page)
        before = self.page
        if before is not None and before is not page:
            before.closed()
        self._last = page_id
        self._stack.setCurrentWidget(page)
        page.opened()
        for row in range(self.list.count()):
            if self.list.item(row).data(_KEY) == self._page_of(page_id):
                self.list.blockSignals(True)
                self.list.setCurrentRow(row)
                self.list.blockSignals(False)

    def _page_of(self, page_id: str) -> str:
        return "providers" if page_id.startswith(_PROVIDER) else page_id

    def _made(self, page_id: str) -> Page | None:
        if page_id.startswith(_PROVIDER):
            return self._made_provider(page_id)
        return made_page(page_id, self.access, self.open_provider)

    def _made_provider(self, page_id: str) -> Page | None:
        from app.settings.provider_page import ProviderPage

        status = self.access.backend.provider(page_id.removeprefix(_PROVIDER))
        if status is None:
            return None
        page = ProviderPage(self.access, status)
        page.left.connect(lambda: self._leave(page_id))
        return page

    def _leave(self, page_id: str) -> None:
        """Back to the list; the page of a provider that is gone goes too."""
        is_gone = self.access.backend.provider(page_id.removeprefix(_PROVIDER)) is None
        page = self._pages.pop(page_id, None) if is_gone else None
        if self._last == page_id:
            self._go("providers")
        if page is not None:
            self._stack.removeWidget(page)
            page.deleteLater()

    def open_provider(self, provider_id: str) -> None:
        """Show the page of a provider."""
        self._go(f"{_PROVIDER}{provider_id}")
        if self.page is not None:
            self.page.reveal("key")

    def _build(self) -> None:
        side = QFrame(self)
        side.setProperty("kind", "panel")
        side.setFixedWidth(_NAV_WIDTH)
        column = QVBoxLayout(side)
        column.setContentsMargins(12, 10, 12, 12)
        column.setSpacing(8)
        column.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignLeft)
        title = QLabel("Settings", side)
        title.setProperty("kind", "heading")
        title.setContentsMargins(10, 2, 0, 4)
        column.addWidget(title)
        column.addWidget(self.search)
        column.addWidget(self._nothing)
        column.addWidget(self.list, 1)
        column.addWidget(self._saved)
        self._nothing.hide()
        line = QFrame(self)
        line.setProperty("kind", "line")
        line.setFixedWidth(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(side)
        row.addWidget(line)
        row.addWidget(self._stack, 1)


def entries(access: Access) -> list[Choice]:
    """Everything that can be gone to: pages, settings and providers."""
    pages = [Choice(spec.id, spec.title, spec.about, "Page") for spec in PAGES]
    rows = [Choice(each.key, each.title, each.words, _title(each)) for each in ENTRIES]
    providers = [
        Choice(f"{_PROVIDER}{each.id}#key", each.label, f"key {each.key_variable}", "Provider")
        for each in access.backend.providers()
    ]
    return [*pages, *rows, *providers]


def _title(entry: Entry) -> str:
    return page_spec(entry.page).title
