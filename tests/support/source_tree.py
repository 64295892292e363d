"""The files of the checkout, and which of our modules imports which."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGES = ("app", "orchestration", "providers", "engine")

# Each takes a tenth of a second of CPU time to import, or far more.
SLOW_TO_IMPORT = (
    *("networkx", "jsonschema", "keyring", "sqlalchemy", "alembic"),
    *("openai", "anthropic", "httpx2", "mcp", "xllamacpp"),
)


@dataclass(frozen=True)
class Import:
    """One import, wherever in the file it stands.

    `target` is the module that is named; for `from a import b` it is `a.b` where that is a module
    of ours, else `a`. `late` is true inside a function and under `TYPE_CHECKING`.
    """

    importer: str
    target: str
    line: int
    late: bool

    def __str__(self) -> str:
        return f"{self.importer} line {self.line} imports {self.target}"


@cache
def committed_files() -> tuple[Path, ...]:
    """Every file that git knows, deleted ones excepted; sorted."""
    listed = subprocess.run(
        ["git", "-C", str(CHECKOUT), "ls-files", "-z"], capture_output=True, text=True, check=True
    )
    names = sorted(name for name in listed.stdout.split("\0") if name)
    return tuple(path for name in names if (path := CHECKOUT / name).is_file())


@cache
def modules() -> Mapping[str, Path]:
    """Our modules by dotted name; a package stands for its `__init__.py`."""
    found = {}
    for package in PACKAGES:
        for path in sorted((CHECKOUT / package).rglob("*.py")):
            parts = path.relative_to(CHECKOUT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def syntax_tree(path: Path) -> ast.Module:
    """A file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def imports() -> tuple[Import, ...]:
    """Every import of every module of ours."""
    known = modules()
    return tuple(
        found
        for name, path in known.items()
        for found in imports_of(syntax_tree(path), name, known)
    )


def imports_of(tree: ast.Module, importer: str, known: Mapping[str, object]) -> Iterator[Import]:
    """The imports of one module.

    Args:
        tree: its syntax tree.
        importer: its dotted name.
        known: our modules, which tell whether `b` in `from a import b` is a module.
    """
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, late = pending.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(importer, alias.name, node.lineno, late)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            for alias in node.names:
                module = f"{base}.{alias.name}"
                yield Import(importer, module if module in known else base, node.lineno, late)
        inside = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            guarded = isinstance(node, ast.If) and is_typing_guard(node) and child in node.body
            pending.append((child, inside or guarded))


def is_typing_guard(node: ast.If) -> bool:
    """Whether this is `if TYPE_CHECKING:`."""
    names = [part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)]
    attributes = [part.attr for part in ast.walk(node.test) if isinstance(part, ast.Attribute)]
    return "TYPE_CHECKING" in (*names, *attributes)


def is_within(module: str, packages: tuple[str, ...]) -> bool:
    """Whether a module is one of the packages or lies in one."""
    return any(module == package or module.startswith(f"{package}.") for package in packages)
