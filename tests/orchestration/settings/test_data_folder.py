from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.errors import UserError
from orchestration.settings.data_folder import data_folder, managed_folder, path_segment


def test_the_option_wins_over_the_environment_and_that_over_the_platform(tmp_path: Path) -> None:
    env = {"OPENFLOW_DATA_DIR": str(tmp_path / "env")}
    assert data_folder(tmp_path / "chosen", env) == tmp_path / "chosen"
    assert data_folder(None, env) == tmp_path / "env"
    assert data_folder(None, {"OPENFLOW_DATA_DIR": " "}).name == "openflow"


@pytest.mark.parametrize(
    ("text", "segment"),
    [
        ("feature-plan_1.a", "feature-plan_1.a"),
        ("a/b", "a%2Fb"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("é", "%C3%A9"),
        ("", "%"),
    ],
)
def test_any_id_is_one_path_component(text: str, segment: str) -> None:
    assert path_segment(text) == segment


def test_a_managed_folder_lies_in_the_data_folder(tmp_path: Path) -> None:
    folder = managed_folder(tmp_path, "../../etc")
    assert folder.parent == tmp_path / "workspaces" / "workflows"
    assert folder.resolve().is_relative_to(tmp_path.resolve())


def test_a_long_id_is_cut_and_stays_apart_from_others() -> None:
    one, other = path_segment("x" * 5000), path_segment("x" * 5000 + "y")
    assert len(one) == len(other) == 120
    assert one != other


@pytest.mark.parametrize("variable", [True, False])
def test_a_home_that_does_not_exist_is_one_sentence(variable: bool) -> None:
    name = "~nobody-of-that-name/data"
    with pytest.raises(UserError, match="nobody-of-that-name"):
        data_folder(None if variable else Path(name), {"OPENFLOW_DATA_DIR": name})
