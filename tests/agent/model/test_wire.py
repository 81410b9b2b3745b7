"""Token counts as endpoints write them, also careless ones."""

from __future__ import annotations

import pytest

from agent.events import Usage
from agent.model.wire import MOST_TOKENS, read_usage


@pytest.mark.parametrize("count", [-1, True, 2.5, "7", None, [1], MOST_TOKENS + 1, 10**400])
def test_a_count_that_makes_no_sense_keeps_what_was_known(count: object) -> None:
    known = Usage(input_tokens=3, output_tokens=5)
    assert read_usage({"input_tokens": count, "output_tokens": count}, known) == known


def test_a_later_count_replaces_the_earlier_one() -> None:
    assert read_usage({"output_tokens": 9}, Usage(3, 5)) == Usage(3, 9)
