"""What the tools of nodes may do on this computer."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QPushButton

from app.kit.dialogs import choose_folder
from app.kit.elided_label import ElidedLabel
from app.problem_words import sentence
from app.settings.access import Access
from app.settings.fields import LineRow, SwitchRow, as_number
from app.settings.page import ListedPage
from app.settings.rows import Row

SERVICES = (
    "Brave, Serper, Exa, Jina, Linkup, Firecrawl, Tavily, Perplexity, SerpApi, Browserless, xAI "
    "or Parallel"
)


class ToolsPage(ListedPage):
    """Counts from the next run on."""

    id = "tools"

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._build_safety()
        self._build_writing()
        self._build_search()
        self._folders = self.group(
            "Added folders", "Tools may read and write here besides the folder of their run."
        )
        self._folder_row = Row(access.theme, "Add a folder")
        self._shown: tuple[tuple[str, ...], tuple[str, ...]] | None = None
        self.box.addStretch(1)
        access.changed.connect(self.refresh)
        self.refresh()

    def opened(self) -> None:
        """See whether there is a sandbox."""
        self.access.work(self._look_for_sandbox(), "look for bubblewrap", self._sandbox.say_wrong)

    def refresh(self) -> None:
        """List keys and folders as they are now."""
        settings = self.access.settings
        shown = (tuple(settings.tools.search_keys), settings.added_folders)
        if shown != self._shown:
            self._shown = shown
            self._list_keys(shown[0])
            self._list_folders(shown[1])

    def _build_safety(self) -> None:
        group = self.group("Safety", "Counts from the next run on.")
        self._sandbox = SwitchRow(
            self.access,
            ("tools", "shell_sandbox"),
            "Run commands in a sandbox",
            "No network, and only the folders of the run can be written.",
        )
        self.put(group, "shell_sandbox", self._sandbox)
        for name, caption, note in (
            (
                "private_addresses",
                "Read private addresses",
                "Lets nodes read web pages of this computer and of its network.",
            ),
            (
                "protect_generated",
                "Protect generated files",
                "Refuses edits of files that a program wrote, such as lock files.",
            ),
        ):
            self.put(group, name, SwitchRow(self.access, ("tools", name), caption, note))

    def _build_writing(self) -> None:
        group = self.group("Writing")
        self.put(
            group,
            "format_on_write",
            SwitchRow(
                self.access,
                ("tools", "format_on_write"),
                "Format on write",
                "Runs the formatter of a file's language after an edit, if it is installed.",
            ),
        )
        self.put(
            group,
            "format_timeout_s",
            LineRow(
                self.access,
                ("tools", "format_timeout_s"),
                "Time for formatting",
                "What takes longer is left as it was.",
                parse=as_number,
                unit="seconds",
            ),
        )

    def _build_search(self) -> None:
        group = self.group("Web search", "Nodes can search the web once there is a key.")
        self.put(
            group,
            "search_program",
            LineRow(
                self.access,
                ("tools", "search_program"),
                "Program",
                "The `search` program by name or path; empty to look for it.",
                placeholder="search",
            ),
        )
        self.key_row = Row(self.access.theme, "Key of a service", f"{SERVICES}.", wide=True)
        self.service = QLineEdit(self.key_row)
        self.service.setPlaceholderText("Service, such as brave")
        self.key = QLineEdit(self.key_row)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setPlaceholderText("Paste its key here")
        button = QPushButton("Set", self.key_row)
        self.service.returnPressed.connect(self.key.setFocus)
        self.key.returnPressed.connect(self._keep_key)
        button.clicked.connect(self._keep_key)
        self.key_row.adopt(self.service, name="Service for web searches", stretch=2)
        self.key_row.adopt(self.key, name="Key for web searches", stretch=3)
        self.key_row.adopt(button, name="Keep the key for web searches")
        self.put(group, "search_keys", self.key_row)
        self._keys = self.group()

    def _list_keys(self, services: tuple[str, ...]) -> None:
        self._keys.clear()
        self._keys.setVisible(bool(services))
        for service in services:
            row = Row(self.access.theme, service, "A key is stored. It is not shown.")
            button = QPushButton("Remove", row)
            button.clicked.connect(lambda _=False, service=service: self._drop_key(service))
            row.adopt(button, name=f"Remove the key of {service}")
            self._keys.add(row)

    def _list_folders(self, folders: tuple[str, ...]) -> None:
        self._folders.clear()
        for folder in folders:
            row = Row(self.access.theme, "")
            label = ElidedLabel(folder, row)
            row.control_box.addWidget(label, 1)
            row.right.setMaximumWidth(10_000)
            button = QPushButton("Remove", row)
            button.clicked.connect(lambda _=False, folder=folder: self._drop_folder(folder))
            row.adopt(button, name=f"Remove the folder {folder}")
            self._folders.add(row)
        add = Row(self.access.theme, "", "" if folders else "None yet.")
        button = QPushButton("Add Folder…", add)
        button.clicked.connect(self._add_folder)
        add.adopt(button, name="Add a folder")
        self._folder_row = add
        self.put(self._folders, "added_folders", add)

    def _keep_key(self) -> None:
        self.access.work(self._kept_key(), "keep a key", self.key_row.say_wrong)

    async def _kept_key(self) -> None:
        await self.access.backend.set_search_key(self.service.text(), self.key.text())
        self.service.clear()
        self.key.clear()
        self.access.saved.emit()

    def _drop_key(self, service: str) -> None:
        work = self.access.backend.remove_search_key(service)
        self.access.work(work, "forget a key", self.key_row.say_wrong)

    def _add_folder(self) -> None:
        self.access.work(self._ask_for_folder(), "add a folder", self._say_of_folder)

    async def _ask_for_folder(self) -> None:
        folder = await choose_folder(self.access.window, "Add Folder", None)
        if folder is not None:
            folders = [*self.access.settings.added_folders, str(folder)]
            self._put_folders(list(dict.fromkeys(folders)))

    def _drop_folder(self, folder: str) -> None:
        self._put_folders([each for each in self.access.settings.added_folders if each != folder])

    def _put_folders(self, folders: list[str]) -> None:
        self.access.put(("added_folders",), folders or None, self._say_of_folder)

    def _say_of_folder(self, wrong: str) -> None:
        self._folder_row.say_wrong(wrong)

    async def _look_for_sandbox(self) -> None:
        why_not = await self.access.backend.sandbox_state()
        about = "No network, and only the folders of the run can be written."
        found = f"Not possible here: {why_not}" if why_not else "bubblewrap is there and works."
        self._sandbox.set_note(f"{about} {sentence(found)}")
