"""The graphs that the engine benchmarks run, as parents by node in topological order."""

from __future__ import annotations

import random

Parents = dict[str, tuple[str, ...]]

LAYERED_WIDTH = 20


def chain(count: int) -> Parents:
    """Each node has the one before it as its parent."""
    names = [f"n{i:05}" for i in range(count)]
    return {name: (names[i - 1],) if i else () for i, name in enumerate(names)}


def fan(count: int) -> Parents:
    """One root with all other nodes as its children."""
    names = [f"n{i:05}" for i in range(count)]
    return {name: (names[0],) if i else () for i, name in enumerate(names)}


def layered(count: int) -> Parents:
    """Layers of 20; each node has two parents in the layer before."""
    graph: Parents = {}
    previous: list[str] = []
    for start in range(0, count, LAYERED_WIDTH):
        layer = [f"n{i:05}" for i in range(start, min(start + LAYERED_WIDTH, count))]
        for at, name in enumerate(layer):
            graph[name] = (
                tuple(sorted({previous[at], previous[(at + 1) % len(previous)]}))
                if previous
                else ()
            )
        previous = layer
    return graph


def random_dag(count: int) -> Parents:
    """Each node has up to three parents among the fifty before it; the same every time."""
    chance = random.Random(7)
    graph: Parents = {}
    for i in range(count):
        pool = range(max(0, i - 50), i)
        parents = chance.sample(pool, min(len(pool), chance.randint(1, 3)))
        graph[f"n{i:05}"] = tuple(sorted(f"n{p:05}" for p in parents))
    return graph


SHAPES = {"chain": chain, "fan": fan, "layered": layered, "dag": random_dag}


def layers(graph: Parents) -> list[list[str]]:
    """The nodes layer by layer."""
    depth: dict[str, int] = {}
    for name, parents in graph.items():
        depth[name] = 1 + max((depth[p] for p in parents), default=-1)
    found: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name, level in depth.items():
        found[level].append(name)
    return found
