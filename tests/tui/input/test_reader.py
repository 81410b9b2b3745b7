"""Bytes become keys: an Esc that somebody pressed is told from the beginning of a sequence."""

from __future__ import annotations

import pytest
from textual import events

from tui.input.driver import ESCAPE_ALONE_S, _Reader


@pytest.mark.parametrize(
    ("second", "wait_s", "keys"),
    [
        (b"p", 0.0, ["alt+p"]),
        (b"p", ESCAPE_ALONE_S * 2, ["escape", "p"]),
        (b"\r", 0.0, ["alt+enter"]),
        (b"\r", ESCAPE_ALONE_S * 2, ["escape", "enter"]),
        (b"[A", ESCAPE_ALONE_S * 2, ["up"]),
        (b"OP", ESCAPE_ALONE_S * 2, ["f1"]),
        (b"\x1b[A", ESCAPE_ALONE_S * 2, ["escape", "up"]),
    ],
)
def test_a_key_well_after_an_escape_is_its_own(
    second: bytes, wait_s: float, keys: list[str]
) -> None:
    now_s = [100.0]
    reader = _Reader(debug=False, clock=lambda: now_s[0])
    messages = reader.feed(b"\x1b")
    now_s[0] += wait_s
    messages += reader.feed(second)
    assert [m.key for m in messages if isinstance(m, events.Key)] == keys
    assert reader.timeout_s is None
