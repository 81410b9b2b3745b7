"""The tree stays within the limits of its layout; `python -m tests.repo.structure` shows figures.

CONTRIBUTING.md explains the limits.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo import dead_code
from tests.repo.checkout import ROOT
from tests.repo.structure import ANY_IN_AGENT, COMPLEX_PERCENT, Tree, read_tree


@pytest.fixture(name="tree", scope="module")
def product_tree() -> Tree:
    return read_tree(ROOT)


def test_no_directory_is_crowded(tree: Tree) -> None:
    assert tree.crowded_directories() == []


def test_no_class_is_large_with_its_bases(tree: Tree) -> None:
    assert tree.large_classes() == []


def test_no_function_is_long(tree: Tree) -> None:
    assert tree.long_functions() == []


def test_few_functions_are_complex(tree: Tree) -> None:
    worst = [str(one) for one in tree.complex_functions()[:20]]
    assert tree.complex_percent() <= COMPLEX_PERCENT, worst


def test_a_public_class_name_has_one_meaning(tree: Tree) -> None:
    assert tree.shared_class_names() == []


def test_no_protocol_is_wide(tree: Tree) -> None:
    assert tree.wide_protocols() == []


def test_a_module_name_is_unique_in_its_package(tree: Tree) -> None:
    assert tree.shared_module_names() == []


def test_values_of_the_wire_have_types(tree: Tree) -> None:
    assert 1000 * tree.any_names["agent"] / tree.lines["agent"] <= ANY_IN_AGENT


@pytest.mark.parametrize(
    ("source", "complexity"),
    [
        ("def f(): return 1", 1),
        ("def f(a): return 1 if a else 2", 2),
        ("def f(a, b, c): return a and b or c", 3),
        ("def f(a): return [x for x in a]", 2),
        ("def f(a):\n for x in a:\n  if x: return x\n while a: pass", 4),
        ("def f(a):\n match a:\n  case 1: pass\n  case _: pass", 3),
        ("def f(a):\n def g():\n  if a: pass\n return g", 1),
    ],
)
def test_complexity_counts_the_branches_of_the_function_alone(source: str, complexity: int) -> None:
    functions = {one.name: one for one in Tree({"agent/one.py": source}).functions}
    assert functions["f"].complexity == complexity


def test_a_class_is_measured_with_its_bases() -> None:
    methods = "\n".join(f"    def m{n}(self): ..." for n in range(30))
    slices = Tree(
        {
            "tui/one.py": f"class Half:\n{methods}",
            "tui/two.py": "from tui.one import Half\n\n\nclass Whole(Half):\n"
            + methods.replace("m", "w"),
        }
    )
    assert slices.large_classes() == ["tui/two.py:4 Whole: 60 methods, 62 lines (Half)"]


def test_a_name_used_twice_is_found() -> None:
    tree = Tree({"agent/a/one.py": "class Same: ...\n", "agent/b/one.py": "class Same: ...\n"})
    assert tree.shared_class_names() == ["Same: agent/a/one.py, agent/b/one.py"]
    assert tree.shared_module_names() == ["agent: one: agent/a, agent/b"]


def test_a_wide_protocol_is_found() -> None:
    members = "".join(f"    a{n}: int\n" for n in range(9))
    tree = Tree({"tui/one.py": f"from typing import Protocol\nclass Wide(Protocol):\n{members}"})
    assert tree.wide_protocols() == ["tui/one.py:2 Wide: 9 members"]


def test_a_long_function_is_found() -> None:
    tree = Tree({"tui/one.py": "def f():\n" + "    pass\n" * 80})
    assert tree.long_functions() == ["tui/one.py:1 f: 81 lines"]


def test_dead_code_is_found_and_what_excuses_none(tmp_path: Path) -> None:
    for path in dead_code.PATHS:
        (tmp_path / path).mkdir()
    (tmp_path / "tui" / "one.py").write_text("def used(): ...\ndef unused(): ...\nused()\n")
    (tmp_path / "hooks" / "two.py").write_text("class Kept:\n    model_config = 1\nKept()\n")
    found = dead_code.find_dead_code(tmp_path, excused=(("hooks/*", "model_*", ""), ("a", "b", "")))
    assert found == ["tui/one.py:2: nothing uses the function unused", "excuses nothing: a b"]
