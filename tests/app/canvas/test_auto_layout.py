"""Where cards are put."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.canvas.auto_layout import laid_out, places
from app.canvas.geometry import CARD_HEIGHT, CARD_WIDTH
from app.canvas.graph_sketch import Card, Graph, Wire
from app.canvas.keyboard_walk import neighbour


def graph_of(
    names: str, wires: list[tuple[str, str]], at: dict[str, tuple[float, float]] | None = None
) -> Graph:
    known = at or {}
    cards = tuple(Card(name, name, "agent", "", *known.get(name, (None, None))) for name in names)
    return Graph("w", "W", cards, tuple(Wire(f"{a}{b}", a, b) for a, b in wires))


def test_places_of_the_file_are_kept_where_they_are_of_use() -> None:
    at = {"a": (5.0, 7.0), "b": (400.0, 7.0)}
    assert places(graph_of("ab", [("a", "b")], at)) == at


def test_missing_places_are_made_from_left_to_right() -> None:
    found = places(graph_of("dcba", [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]))
    assert found["a"][0] < found["b"][0] == found["c"][0] < found["d"][0]
    assert found["a"][1] == found["d"][1]


def test_touching_cards_are_laid_out_anew() -> None:
    at = {"a": (0.0, 0.0), "b": (CARD_WIDTH - 1, 0.0)}
    found = places(graph_of("ab", [("a", "b")], at))
    assert found["b"][0] > CARD_WIDTH


def test_rows_follow_what_they_are_joined_to() -> None:
    wires = [("a", "y"), ("b", "x")]
    found = laid_out(graph_of("abxy", wires))
    assert (found["a"][1] < found["b"][1]) == (found["y"][1] < found["x"][1])


def test_many_cards_without_edges_stand_in_rows_below_the_others() -> None:
    names = "abcdefghijklmnopqrstuvwx"
    found = laid_out(graph_of(names, [("a", "b")]))
    lone = [found[name] for name in names[2:]]
    across, down = zip(*lone, strict=True)
    assert max(across) - min(across) > max(down) - min(down)
    assert min(y for _, y in lone) > max(found["a"][1], found["b"][1]) + CARD_HEIGHT
    assert laid_out(graph_of(names, []))["a"] == (0.0, 0.0)


@given(
    st.integers(0, 12).flatmap(
        lambda count: st.tuples(
            st.just("abcdefghijkl"[:count]),
            st.lists(
                st.tuples(*[st.sampled_from("abcdefghijkl"[: max(1, count)])] * 2), max_size=20
            ).map(lambda wires: wires if count else []),
        )
    )
)
def test_no_layout_lets_cards_overlap_whatever_the_graph(
    drawn: tuple[str, list[tuple[str, str]]],
) -> None:
    names, wires = drawn
    found = laid_out(graph_of(names, wires))
    assert set(found) == set(names)
    spots = list(found.values())
    for index, (x, y) in enumerate(spots):
        for other_x, other_y in spots[index + 1 :]:
            assert abs(x - other_x) >= CARD_WIDTH or abs(y - other_y) >= CARD_HEIGHT


def test_arrow_keys_walk_along_the_edges() -> None:
    wires = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    graph = graph_of("abcd", wires)
    at = {"a": (0.0, 50.0), "b": (300.0, 0.0), "c": (300.0, 200.0), "d": (600.0, 50.0)}

    def step(start: str, direction: str) -> str:
        return neighbour(start, direction, graph.wires, at)

    assert step("", "right") == "a"
    assert step("a", "right") == "b"
    assert step("b", "down") == "c"
    assert step("a", "down") == "c"
    assert step("c", "right") == "d"
    assert step("d", "right") == "d"
    assert step("c", "up") == "b"
    assert step("d", "left") == "b"
