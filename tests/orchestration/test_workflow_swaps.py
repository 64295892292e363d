"""Unsaved edits on disk: kept, found, dropped, and never in the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.errors import UserError
from orchestration.workflow_swaps import Swap, SwapStore, digest_of, swap_key

SWAP = Swap("/flows/a.workflow.json", digest_of(b"before"), '{"id": "a"}', 12.5)


def test_what_is_kept_is_found_until_it_is_dropped(tmp_path: Path) -> None:
    store, key = SwapStore(tmp_path / "swaps"), swap_key(Path(SWAP.path))
    assert (store.find(key), store.keys()) == (None, ())
    store.keep(key, SWAP)
    store.keep(key, Swap(SWAP.path, SWAP.base, "newer", 13.0))
    again = SwapStore(tmp_path / "swaps")
    found = again.find(key)
    assert found is not None
    assert (found.text, again.keys()) == ("newer", (key,))
    again.drop(key)
    again.drop(key)
    assert (store.find(key), store.keys()) == (None, ())


def test_a_damaged_one_is_set_aside_and_hides_no_other(tmp_path: Path) -> None:
    store = SwapStore(tmp_path)
    store.keep("good", SWAP)
    (tmp_path / "bad.swap").write_bytes(b"\0\0half")
    assert store.find("bad") is None
    assert store.find("good") == SWAP
    assert store.keys() == ("good",)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="save the workflow now"):
        SwapStore(tmp_path / "file").keep("k", SWAP)


def test_two_files_have_two_keys() -> None:
    assert swap_key(Path("/a/x")) != swap_key(Path("/b/x"))
