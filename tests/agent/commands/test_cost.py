"""`/cost`: what has no known price is not said to be free."""

from __future__ import annotations

import pytest

from agent.commands.builtin.cost import total


@pytest.mark.parametrize(
    ("cost_usd", "is_complete", "expected"),
    [
        (0.0, True, "$0.0000 in this session"),
        (0.25, True, "$0.2500 in this session"),
        (0.25, False, "at least $0.2500 in this session"),
        (0.0, False, "no cost known so far"),
    ],
)
def test_the_first_line(cost_usd: float, is_complete: bool, expected: str) -> None:
    assert total(cost_usd, is_complete=is_complete) == expected
