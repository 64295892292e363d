from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.workspace.paths import PathRefused, Workspace
from tests.support.jail import build_jail, lies_in, spelled_paths


@pytest.fixture(scope="module")
def jail(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_jail(tmp_path_factory.mktemp("jail"))


@given(data=st.data())
def test_no_path_that_a_string_can_spell_leaves(jail: Path, data: st.DataObject) -> None:
    text = data.draw(spelled_paths(jail))
    try:
        found = Workspace(jail).resolve(text)
    except PathRefused:
        return
    assert lies_in(found, jail)
    # There is nothing left in it that could lead anywhere else when it is opened.
    assert os.path.realpath(found) == str(found)
    if found.exists():
        assert not any(parent.is_symlink() for parent in (found, *found.parents))


@given(data=st.data())
def test_what_lies_inside_is_found_where_the_system_finds_it(
    jail: Path, data: st.DataObject
) -> None:
    text = data.draw(spelled_paths(jail))
    try:
        real = os.path.realpath(os.path.join(jail, text), strict=True)
    except (OSError, ValueError):  # not there, a loop, or no path at all
        return
    workspace = Workspace(jail)
    if lies_in(real, jail) and text.strip():
        assert str(workspace.resolve(text)) == real
    else:
        with pytest.raises(PathRefused):
            workspace.resolve(text)


@given(data=st.data())
def test_an_added_folder_opens_itself_and_nothing_more(jail: Path, data: st.DataObject) -> None:
    text = data.draw(spelled_paths(jail))
    added = jail.parent / "outside" / "inner"
    try:
        found = Workspace(jail, [added]).resolve(text)
    except PathRefused:
        return
    assert lies_in(found, jail) or lies_in(found, added)
