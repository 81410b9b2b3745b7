"""Patterns that are compiled with their first use."""

from __future__ import annotations

import re

import pytest

from permissions.base.text.late_pattern import compile_late


def test_it_behaves_as_a_compiled_pattern() -> None:
    late, compiled = (
        compile_late("(?P<letter>a)b", re.IGNORECASE),
        re.compile("(?P<letter>a)b", re.I),
    )
    assert late.findall("ab AB") == compiled.findall("ab AB") == ["a", "A"]
    assert late.sub("-", "xABx") == "x-x"
    assert (late.pattern, late.flags) == (compiled.pattern, compiled.flags)
    assert late.groupindex == compiled.groupindex
    assert compile_late(rb"\d").fullmatch(b"1")


def test_it_is_compiled_with_its_first_use() -> None:
    late = compile_late("(")
    assert late.pattern == "("
    with pytest.raises(re.error):
        late.match("")
