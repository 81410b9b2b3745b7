"""Parts that are referred to before they are built."""

from __future__ import annotations

import pytest

from agent.assembly.late import Late, ReadTooEarlyError
from agent.assembly.wiring import LateParts


def test_a_value_is_returned_once_it_is_bound() -> None:
    part: Late[list[int]] = Late("numbers")
    value = part.bind([1])
    assert part() is value


def test_reading_before_the_part_is_built_names_the_part() -> None:
    part: Late[int] = Late("permission gate")
    with pytest.raises(ReadTooEarlyError, match="permission gate is used before it is built"):
        part()


def test_none_is_a_value_like_any_other() -> None:
    part: Late[int | None] = Late("limit")
    part.bind(None)
    assert part() is None


def test_a_part_is_bound_once() -> None:
    part: Late[int] = Late("limit")
    part.bind(1)
    with pytest.raises(RuntimeError, match="limit is bound already"):
        part.bind(2)
    assert part() == 1


def test_each_assembly_has_parts_of_its_own() -> None:
    one, other = LateParts(), LateParts()
    one.gate.bind(object())  # type: ignore[arg-type]  # only its identity counts here
    with pytest.raises(ReadTooEarlyError, match="permission gate"):
        other.mode()
