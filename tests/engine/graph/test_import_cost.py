from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import importlib, pkgutil, sys
import engine.graph
for module in pkgutil.iter_modules(engine.graph.__path__, "engine.graph."):
    importlib.import_module(module.name)
from engine.graph.layers import find_cycles
from engine.graph.serialization import dump_workflow, load_workflow
from tests.support.graphs import diamond
assert find_cycles(load_workflow(dump_workflow(diamond()))) == ()
print(sorted({"networkx", "jsonschema", "jsonschema_rs", "asyncio"} & set(sys.modules)))
"""


def test_opening_a_workflow_imports_no_slow_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
