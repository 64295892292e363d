"""What is installed is all that the program needs: modules, pictures, data."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import PurePath

from tests.support.source_tree import CHECKOUT, PACKAGES, committed_files

INSTALLED = (*PACKAGES, "resources")


def installed_files() -> list[PurePath]:
    relative = (path.relative_to(CHECKOUT) for path in committed_files())
    return [path for path in relative if path.parts[0] in INSTALLED]


def test_every_folder_with_something_in_it_is_a_package() -> None:
    folders = {path.parent for path in installed_files()}

    assert folders
    assert [folder for folder in folders if not (CHECKOUT / folder / "__init__.py").exists()] == []


def test_every_data_file_is_installed() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["*"]
    data = [path for path in installed_files() if path.suffix != ".py"]

    assert data
    left_out = [path for path in data if not any(fnmatch(path.name, each) for each in patterns)]
    assert left_out == []
