"""Keyword arguments of `replace` name fields; the types of msgspec accept any name.

The same applies to a record created from a literal, `Record(**{"name": value, **changes})`.
"""

from __future__ import annotations

import re

import pytest

from tests.repo.checkout import ROOT, tracked_texts
from tests.repo.structure import Tree, read_tree

CHANGES = re.compile(
    r"^ *from (?:msgspec\.structs|dataclasses|copy) import .*\breplace\b|\bstructs\.replace\("
    r"|\(\*\*\{",
    re.MULTILINE,
)


def unknown_names(*trees: Tree) -> list[str]:
    """List each name that is not a field of its record, or of any record if that is unknown."""
    records = {name: fields for tree in trees for name, fields in tree.record_fields().items()}
    of_any = frozenset[str]().union(*records.values())
    return [
        f"{change}: {name}"
        for tree in trees
        for change in tree.record_changes
        for name in change.names
        if name not in records.get(change.record, of_any)
    ]


def test_changes_name_fields() -> None:
    texts = {str(path): text for path, text in tracked_texts().items() if path.suffix == ".py"}
    rest = {path: text for path, text in texts.items() if CHANGES.search(text)}
    product = read_tree(ROOT)
    tests = Tree({path: rest[path] for path in rest.keys() - product.sources.keys()})
    assert unknown_names(product, tests) == []


RECORD = """
from dataclasses import replace
from msgspec import Struct, structs
class Base(Struct):
    old: int
class Record(Base):
    new: int
class Other(Struct):
    other: int
"""


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(a: Record): return replace(a, old=1, new=2)", []),
        ("def f(a: Record): return replace(a, other=1)", ["other"]),
        ("def f(a: 'Record'): return structs.replace(a, other=1)", ["other"]),
        ("def f(a: Record): return lambda: replace(a, other=1)", ["other"]),
        ("def f(a: Record):\n a = g(a)\n return replace(a, other=1)", []),
        ("def f(a): return replace(a, other=1, older=1)", ["older"]),
        ("def f(a, **b): return replace(a, **{'older': 1}, **b)", ["older"]),
        ("def f(**a): return Record(**{'old': 1, 'older': 1, **a})", ["older"]),
        ("def f(a): return a.replace(older=1)", []),
        ("def f(a): return a(**{'older': 1})", []),
    ],
)
def test_unknown_names_are_seen(source: str, names: list[str]) -> None:
    found = unknown_names(Tree({"agent/one.py": RECORD + source}))
    assert [each.rpartition(": ")[2] for each in found] == names


def test_a_record_changes_itself() -> None:
    method = "    def f(self): return structs.replace(self, other=1)\n"
    found = unknown_names(
        Tree({"agent/one.py": RECORD.replace("new: int\n", f"new: int\n{method}")})
    )
    assert found == ["agent/one.py:8 agent.one.Record: other"]
