"""Where everything is kept, how much room it takes, and how to get some back."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QPushButton

from app.kit.dialogs import confirm
from app.kit.elided_label import ElidedLabel
from app.kit.formats import plural
from app.settings.access import Access
from app.settings.fields import made_choice
from app.settings.page import ListedPage
from app.settings.rows import Group, Row, Told
from orchestration.settings.facts import DataUse

_DAY_S = 86_400.0
_AGES: tuple[tuple[float | None, str], ...] = (
    (None, "Whatever their age"),
    (7 * _DAY_S, "Older than a week"),
    (30 * _DAY_S, "Older than a month"),
    (182 * _DAY_S, "Older than half a year"),
)
_SIZES: tuple[tuple[int | None, str], ...] = (
    (None, "Whatever their size"),
    (5_000_000_000, "Until 5 GB are left"),
    (1_000_000_000, "Until 1 GB is left"),
    (200_000_000, "Until 200 MB are left"),
)


class DataPage(ListedPage):
    """Sizes are looked up each time the page is opened."""

    id = "data"

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._folder = str(access.backend.data_dir)
        places = self.group("Places")
        self._texts: dict[str, ElidedLabel] = {}
        self._place(
            places, "folder", "Data folder", "Settings, runs, and folders that are managed."
        )
        button = QPushButton("Open", self.rows["folder"])
        button.clicked.connect(self._open)
        self.rows["folder"].adopt(button, name="Open the data folder")
        self._place(places, "database", "Database", "")
        self._place(places, "settings_file", "Settings file", "Changes from outside are noticed.")
        self._keys = Told(access.theme, "Keys", "Never in the settings file.")
        self.put(places, "keys", self._keys)
        room = self.group("Room")
        self._sizes: dict[str, QLabel] = {}
        for name, caption in (
            ("database_bytes", "Database"),
            ("runs_bytes", "Artifacts and edits of runs"),
            ("folders_bytes", "Managed folders of workflows"),
            ("log_bytes", "Debug log"),
            ("free_bytes", "Free on this disk"),
        ):
            row = Row(access.theme, caption)
            self._sizes[name] = QLabel("…", row)
            row.control_box.addWidget(self._sizes[name])
            self.put(room, name, row)
        self._build_pruning()
        self.box.addStretch(1)

    def opened(self) -> None:
        """Look how much room everything takes."""
        self.access.work(self._look(), "look at the data folder", self.rows["folder"].say_wrong)

    def _build_pruning(self) -> None:
        group = self.group(
            "Old runs", "Only runs that have ended; those that wait for you or were cut off stay."
        )
        ages = Row(self.access.theme, "Which", "By their last change.")
        self.oldest = made_choice(self.access, ages)
        self.oldest.show_entries([words for _, words in _AGES], 2)
        ages.adopt(self.oldest, name="Runs of which age", stretch=1)
        self.put(group, "prune_age", ages)
        sizes = Row(self.access.theme, "And then", "The oldest first, until this little is left.")
        self.most = made_choice(self.access, sizes)
        self.most.show_entries([words for _, words in _SIZES], 0)
        sizes.adopt(self.most, name="Down to which size", stretch=1)
        self.put(group, "prune_size", sizes)
        self.prune_row = Row(self.access.theme, "Delete them", "You are asked first.")
        self.prune_button = QPushButton("Delete…", self.prune_row)
        self.prune_button.clicked.connect(self._ask_to_prune)
        self.prune_row.adopt(self.prune_button, name="Delete old runs")
        self.put(group, "prune", self.prune_row)

    def _place(self, group: Group, name: str, caption: str, note: str) -> None:
        row = Row(self.access.theme, caption, note)
        label = ElidedLabel("…", row)
        label.setProperty("kind", "second")
        row.control_box.addWidget(label, 1)
        row.right.setFixedWidth(340)
        row.right.setMaximumWidth(340)
        self._texts[name] = label
        self.put(group, name, row)

    def _open(self) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(self._folder)):
            self.rows["folder"].say_wrong(f"Nothing here can open folders: it is {self._folder}")

    async def _look(self) -> None:
        use = await self.access.backend.data_use()
        place = await self.access.backend.key_place()
        self._keys.set_note(f"Never in the settings file: the next one goes into {place}.")
        self._show(use)

    def _show(self, use: DataUse) -> None:
        self._texts["folder"].setText(str(use.folder))
        self._texts["settings_file"].setText(use.settings_file.name)
        self._texts["settings_file"].full_tip = str(use.settings_file)
        name = use.database if use.is_server else use.database.replace("\\", "/").rpartition("/")[2]
        self._texts["database"].setText(name)
        self._texts["database"].full_tip = use.database
        note = (
            "A PostgreSQL server, named by OPENFLOW_DATABASE_URL; name and password are not shown."
            if use.is_server
            else "A file. OPENFLOW_DATABASE_URL names a PostgreSQL server instead."
        )
        self.rows["database"].set_note(note)
        for key, label in self._sizes.items():
            label.setText(size_text(getattr(use, key)))
        if use.is_server:
            self._sizes["database_bytes"].setText("on the server")

    def _ask_to_prune(self) -> None:
        self.access.work(self._prune(), "delete old runs", self._settle)
        self.prune_button.setEnabled(False)

    def _settle(self, wrong: str) -> None:
        self.prune_button.setEnabled(True)
        self.prune_row.say_wrong(wrong)

    async def _prune(self) -> None:
        age, age_words = _AGES[self.oldest.currentIndex()]
        size, size_words = _SIZES[self.most.currentIndex()]
        if age is None and size is None:
            age = 0.0
        which = f"{age_words}. {size_words}." if size is not None else f"{age_words}."
        asked = f"{which} Their conversations, artifacts and edits cannot be brought back."
        if await confirm(self.access.window, "Delete ended runs?", asked, "Delete"):
            gone = await self.access.backend.prune_runs(older_than_s=age, most_bytes=size)
            self.prune_row.set_note(f"{plural(len(gone), 'run')} deleted." if gone else "None is.")
            await self._look()


def size_text(count: int) -> str:
    """Bytes as a person reads them: `0 KB`, `12 KB`, `3.4 MB`, `1.2 GB`."""
    if count < 1_000_000:
        return f"{-(-count // 1000)} KB"
    if count < 1_000_000_000:
        return f"{count / 1_000_000:.1f} MB"
    return f"{count / 1_000_000_000:.1f} GB"
