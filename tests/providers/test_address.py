from __future__ import annotations

import pytest

from providers.address import problem_with_address


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com/v1",
        "HTTP://localhost:8080",
        "http://127.0.0.1:1",
        "http://[::1]:80/v1",
        "http://münchen.example",
    ],
)
def test_addresses(url: str) -> None:
    assert problem_with_address(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost",
        "ftp://x",
        "//x",
        "http://",
        "http://[::1",
        "http://a b",
        "http://x:99999",
        "http://x:0",
        "http://x/\x1b[2J",
        "http://x\nHost: y",
        "http://\udcff",
    ],
)
def test_everything_else_is_told(url: str) -> None:
    problem = problem_with_address(url)
    assert problem is not None
    assert "http://" in problem


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    problem = problem_with_address("https://me:hunter2hunter2@example.com")
    assert problem is not None
    assert "password" in problem
    assert "hunter2" not in problem
