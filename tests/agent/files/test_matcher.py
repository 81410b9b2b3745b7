"""The search behind the `@` picker."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.files.matcher import NameList, Search


def found(names: list[str], query: str, limit: int = 50) -> list[str]:
    search = Search(NameList(names), query, limit=limit)
    while not search.step():
        pass
    return search.matches


NAMES = ["tui/app.py", "tui/", "agent/apply/x.py", "docs/app.md", "a/b/app.py", "zap.py"]


def test_names_that_begin_so_come_first_and_shallow_before_deep() -> None:
    assert found([*NAMES, "my-app.py"], "app") == [
        "tui/app.py",
        "docs/app.md",
        "a/b/app.py",
        "my-app.py",
        "agent/apply/x.py",
        "zap.py",
    ]


def test_letters_with_gaps_are_found_last() -> None:
    assert found(NAMES, "tpy") == ["tui/app.py", "agent/apply/x.py"]
    assert found(NAMES, "ap")[:2] == ["tui/app.py", "docs/app.md"]


def test_a_slash_asks_for_paths() -> None:
    assert found(NAMES, "tui/") == ["tui/", "tui/app.py"]


def test_an_empty_query_shows_the_top() -> None:
    assert found(NAMES, "", limit=2) == ["tui/", "zap.py"]


@given(st.lists(st.text(alphabet="abAB/.é ", min_size=1, max_size=8), max_size=30), st.text("ab/."))
def test_every_hit_holds_the_letters_in_order(names: list[str], query: str) -> None:
    for name in found(names, query):
        letters = iter(name.lower())
        assert all(char in letters for char in query)


@given(st.lists(st.text(alphabet="ab/.", min_size=1, max_size=8), unique=True, max_size=30))
def test_whatever_contains_the_text_is_found(names: list[str]) -> None:
    wanted = {name for name in names if "a/" in name}
    assert wanted <= set(found(names, "a/"))


def test_a_step_ends_when_its_time_is_over() -> None:
    names = NameList(f"folder{n}/file{n}.py" for n in range(20_000))
    ticks = iter(range(1_000_000))
    search = Search(names, "zzz", clock=lambda: float(next(ticks)))
    assert search.step(0.5) is False
    steps = 1
    while not search.step(0.5):
        steps += 1
    assert steps > 3
    assert search.matches == []


def test_names_made_for_it_take_no_longer() -> None:
    parts = [letter * 250 for letter in "readm" for _ in range(3)]
    names = ["/".join([str(index), *parts]) for index in range(50)]
    assert found(names, "readme") == []
    assert found([*names, "r-e-a-d-m-e"], "readme") == ["r-e-a-d-m-e"]
    assert found(["a]b^c-d\\e"], "]^-\\e") == ["a]b^c-d\\e"]
