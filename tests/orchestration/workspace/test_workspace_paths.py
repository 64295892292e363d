from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestration.workspace.paths import PathRefused, Workspace


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "src").mkdir(parents=True)
    outside.mkdir()
    (root / "src" / "a.txt").write_text("a")
    (outside / "secret.txt").write_text("s")
    return root.resolve(), outside.resolve()


def test_a_relative_path_starts_at_the_root(folders: tuple[Path, Path]) -> None:
    root, _ = folders
    assert Workspace(root).resolve("src/a.txt") == root / "src" / "a.txt"


def test_dots_inside_the_root_are_followed(folders: tuple[Path, Path]) -> None:
    root, _ = folders
    assert Workspace(root).resolve("src/../src/./a.txt") == root / "src" / "a.txt"


def test_a_path_that_does_not_exist_yet_is_accepted(folders: tuple[Path, Path]) -> None:
    root, _ = folders
    assert Workspace(root).resolve("new/deep/file.txt") == root / "new" / "deep" / "file.txt"


def test_an_absolute_path_inside_is_accepted(folders: tuple[Path, Path]) -> None:
    root, _ = folders
    assert Workspace(root).resolve(str(root / "src")) == root / "src"


@pytest.mark.parametrize(
    "text", ["..", "../outside/secret.txt", "src/../../outside", "missing/../../outside/x", "/"]
)
def test_a_path_that_leaves_is_refused_by_name(folders: tuple[Path, Path], text: str) -> None:
    with pytest.raises(PathRefused, match="leads out") as caught:
        Workspace(folders[0]).resolve(text)
    assert f"'{text}'" in str(caught.value)


def test_an_absolute_path_outside_is_refused(folders: tuple[Path, Path]) -> None:
    root, outside = folders
    with pytest.raises(PathRefused, match="leads out"):
        Workspace(root).resolve(str(outside / "secret.txt"))


def test_a_sibling_that_begins_alike_is_outside(folders: tuple[Path, Path]) -> None:
    root, _ = folders
    twin = root.with_name(root.name + "-twin")
    twin.mkdir()
    with pytest.raises(PathRefused):
        Workspace(root).resolve(str(twin))


@pytest.mark.parametrize("text", ["link/secret.txt", "link", "chain/secret.txt", "link/new.txt"])
def test_a_link_that_leaves_is_refused(folders: tuple[Path, Path], text: str) -> None:
    root, outside = folders
    (root / "link").symlink_to(outside)
    (root / "chain").symlink_to(root / "link")
    with pytest.raises(PathRefused):
        Workspace(root).resolve(text)


def test_dots_after_a_link_count_from_where_the_link_leads(folders: tuple[Path, Path]) -> None:
    root, _ = folders
    (root / "deep" / "er").mkdir(parents=True)
    (root / "hop").symlink_to(root / "deep" / "er")
    assert Workspace(root).resolve("hop/../x") == root / "deep" / "x"


def test_a_link_loop_stays_inside(folders: tuple[Path, Path]) -> None:
    root, _ = folders
    (root / "loop").symlink_to(root / "loop")
    assert Workspace(root).resolve("loop").is_relative_to(root)


@pytest.mark.parametrize("text", ["loop/../link/secret.txt", "loop/../link", "loop/../link/new"])
def test_a_link_loop_hides_no_other_link(folders: tuple[Path, Path], text: str) -> None:
    root, outside = folders
    (root / "loop").symlink_to("loop")
    (root / "link").symlink_to(outside)
    with pytest.raises(PathRefused, match="never ends"):
        Workspace(root).resolve(text)


@pytest.mark.parametrize("text", ["", "  ", "a\0b", "a\ud800b"])
def test_what_is_no_path_is_refused(folders: tuple[Path, Path], text: str) -> None:
    with pytest.raises(PathRefused):
        Workspace(folders[0]).resolve(text)


def test_an_added_folder_is_allowed_by_its_absolute_path(folders: tuple[Path, Path]) -> None:
    root, outside = folders
    workspace = Workspace(root, [outside])
    found = workspace.resolve(str(outside / "secret.txt"))
    assert found == outside / "secret.txt"
    assert workspace.resolve(workspace.label(found)) == found


def test_labels_are_relative_with_slashes(folders: tuple[Path, Path]) -> None:
    root, _ = folders
    assert Workspace(root).label(root / "src" / "a.txt") == "src/a.txt"
    assert Workspace(root).label(root) == "."


def test_a_label_is_text_whatever_the_path_is(folders: tuple[Path, Path]) -> None:
    root, outside = folders
    workspace = Workspace(root, [outside])
    for folder, label in ((root, "caf\ufffd"), (outside, "../outside/caf\ufffd")):
        (folder / os.fsdecode(b"caf\xe9")).touch()
        (folder / "link").symlink_to(os.fsdecode(b"caf\xe9"))
        assert workspace.label(workspace.resolve(str(folder / "link"))) == label


def test_a_root_behind_a_link_counts_as_where_it_leads(folders: tuple[Path, Path]) -> None:
    root, _ = folders
    alias = root.with_name("alias")
    alias.symlink_to(root)
    workspace = Workspace(alias)
    assert workspace.resolve("src/a.txt") == root / "src" / "a.txt"
    assert workspace.resolve(str(alias / "src")) == root / "src"


PARTS = st.lists(
    st.sampled_from(["..", ".", "src", "link", "back", "deep", "a.txt", "nowhere"]), max_size=8
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(parts=PARTS)
def test_whatever_is_accepted_lies_inside(folders: tuple[Path, Path], parts: list[str]) -> None:
    root, outside = folders
    for name, target in (("link", outside), ("back", root / "src")):
        if not (root / name).is_symlink():
            (root / name).symlink_to(target)
    try:
        found = Workspace(root).resolve("/".join(parts))
    except PathRefused:
        return
    assert found.resolve().is_relative_to(root)
