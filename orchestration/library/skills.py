"""Skills on this computer: folders with a `SKILL.md` in them, as several programs keep them."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.graph.skills import Skill

logger = logging.getLogger(__name__)

FILE = "SKILL.md"
_AT_HOME = (
    ".cursor/skills",
    ".cursor/skills-cursor",
    ".claude/skills",
    ".agents/skills",
)
_IN_FOLDER = (".cursor/skills", ".flow/skills")
_ID = re.compile(r"[\w.:-]+")
_MOST_BYTES = 256 * 1024
_DEEPEST = 4
_MOST_FOLDERS = 5_000


def skill_roots(home: Path, data_dir: Path, folder: Path | None = None) -> tuple[Path, ...]:
    """Where skills are looked for; what is found later counts over what was found before.

    Those of the person come first, then those of the data folder, then those of the `folder` that
    is worked in.
    """
    roots = [home / name for name in _AT_HOME]
    roots.append(data_dir / "skills")
    if folder is not None:
        roots += [folder / name for name in _IN_FOLDER]
    return tuple(roots)


def find_skills(roots: Iterable[Path]) -> dict[str, Skill]:
    """Read every skill below these folders, by id, in the order of their ids.

    The id is the name of the skill's folder. A file that cannot be read hides no other. Links are
    followed; touches the disk.
    """
    found: dict[str, Skill] = {}
    for root in roots:
        for folder in _skill_folders(root):
            skill = _read(folder)
            if skill is not None:
                found[skill.id] = skill
    return dict(sorted(found.items()))


def _skill_folders(root: Path) -> Iterator[Path]:
    """Folders with a skill in them; neither links in a circle nor a huge tree are walked on."""
    seen: set[str] = set()
    for at, folders, files in os.walk(root, followlinks=True):
        real = os.path.realpath(at)
        depth = len(Path(at).relative_to(root).parts)
        if real in seen or len(seen) >= _MOST_FOLDERS:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(folders) if depth < _DEEPEST else []
        if FILE in files and depth:
            folders.clear()
            yield Path(at)


def _read(folder: Path) -> Skill | None:
    file = folder / FILE
    if _ID.fullmatch(folder.name) is None:
        logger.info("%s is left out: its folder's name cannot be typed as /id", file)
        return None
    try:
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            logger.info("%s is left out: it is no file or too large", file)
            return None
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        logger.info("%s is left out: %s", file, error)
        return None
    head, body = _parted(text.replace("\r\n", "\n"))
    return Skill(
        id=folder.name,
        name=head.get("name") or folder.name,
        description=head.get("description", ""),
        path=str(file),
        body=body,
    )


def _parted(text: str) -> tuple[dict[str, str], str]:
    """The values at the head of a file, between lines of three dashes, and the rest."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text
    for end in range(1, len(lines)):
        if lines[end].rstrip() in ("---", "..."):
            return _values(lines[1:end]), "\n".join(lines[end + 1 :])
    return {}, text


def _values(lines: list[str]) -> dict[str, str]:
    """The texts at the top level; lists and maps are no texts, and nobody asks for them."""
    values: dict[str, str] = {}
    key = ""
    for line in lines:
        if line[:1].isspace() or not line:
            if key:
                values[key] = f"{values[key]} {line.strip()}".strip()
            continue
        key, colon, value = line.partition(":")
        key = key.strip() if colon and not line.startswith(("#", "-")) else ""
        if key:
            value = value.strip()
            values[key] = "" if re.fullmatch(r"[>|][+-]?\d?", value) else value
    return {key: _unquoted(value) for key, value in values.items()}


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if is_quoted else value
