"""What the context menu of each kind of row offers."""

from __future__ import annotations

from collections.abc import Sequence

from app.library.rows import Row

Offer = tuple[str, str]
"""What is asked for, and the words for it; `Group|Words` puts it into a menu of its own."""

LINE: Offer = ("", "")

_OF_SECTIONS: dict[str, tuple[Offer, ...]] = {
    "section:workflows": (("new", "New Workflow"), ("import", "Import Files…")),
    "section:projects": (("add_project", "Add Project Folder…"),),
    "section:chats": (("new_chat", "New Chat"),),
    "section:agents": (("new_agent", "New Agent"), ("import", "Import Files…")),
}


def offers(row: Row, projects: Sequence[tuple[str, str]]) -> tuple[Offer, ...]:
    """What can be done with a row; `projects` are ids and names of those there are."""
    copies = tuple(
        (f"copy:{project_id}", f"Copy to Project|{name}")
        for project_id, name in projects
        if project_id != row.project_id
    )
    match row.kind:
        case "section":
            return _OF_SECTIONS.get(row.key, ())
        case "workflow":
            unlink = (("unlink", "Take out of the Project"),) if row.project_id else ()
            return (
                ("open", "Open"),
                ("compare", "Compare with the Open One"),
                LINE,
                ("rename", "Rename"),
                ("duplicate", "Duplicate"),
                *copies,
                *unlink,
                ("export", "Export…"),
                LINE,
                ("delete", "Delete"),
            )
        case "outside":
            return (
                ("open", "Open"),
                ("compare", "Compare with the Open One"),
                LINE,
                ("rename", "Rename"),
                ("keep", "Import into the Library"),
                *copies,
                LINE,
                ("delete", "Remove from the List"),
            )
        case "chat":
            return (("open", "Open"), ("rename", "Rename"), LINE, ("delete", "Delete"))
        case "example":
            return (("open", "Open"), ("duplicate", "Duplicate"), *copies)
        case "damaged":
            return (("open", "Open"), LINE, ("delete", "Delete"))
        case "project":
            return (
                ("new", "New Workflow"),
                ("import", "Import Files…"),
                LINE,
                ("rename", "Rename"),
                ("run_folder", "Folder for Runs…"),
                LINE,
                ("delete", "Remove Project"),
            )
        case "agent":
            return (
                ("open", "Open"),
                ("chat", "Chat with This Agent"),
                ("add", "Add as Node"),
                LINE,
                ("rename", "Rename"),
                ("duplicate", "Duplicate"),
                ("export", "Export…"),
                LINE,
                ("delete", "Delete"),
            )
        case "template":
            return (("add", "Add as Node"),)
    return ()
