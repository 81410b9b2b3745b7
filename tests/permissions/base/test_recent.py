"""The mapping of values used lately."""

from __future__ import annotations

from permissions.base.recent import Recent


def test_recent_values_are_found_and_old_ones_go() -> None:
    recent: Recent[int] = Recent(3)
    for number in range(1, 20):
        recent.keep(number, number)
        assert [recent.get(one) for one in range(max(1, number - 2), number + 1)] == list(
            range(max(1, number - 2), number + 1)
        )
    assert sum(recent.get(number) is not None for number in range(1, 20)) <= 6
    assert recent.get(1) is None
