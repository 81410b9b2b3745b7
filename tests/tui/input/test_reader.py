"""Bytes become keys: an Esc that somebody pressed is told from the beginning of a sequence."""

from __future__ import annotations

import pytest
from textual import events
from textual.constants import ESCAPE_DELAY

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


@pytest.mark.parametrize(
    ("rest", "kinds"),
    [
        (b"]11;rgb:1414/1717/1c1c\x1b\\", ["TerminalReply"]),
        (b"[<0;10;5M", ["MouseDown"]),
        (b"[200~pasted\x1b[201~", ["Paste"]),
        (b"[?2026;2$y", ["TerminalSupportsSynchronizedOutput"]),
        (b"[?62;22c", ["TerminalReply"]),
        (b"P>|tmux 3.4\x1b\\", ["TerminalReply"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("wait_s", [0.0, ESCAPE_ALONE_S * 2, ESCAPE_DELAY * 3])
def test_a_sequence_that_lag_cut_behind_its_escape_is_never_typed(
    rest: bytes, kinds: list[str], wait_s: float
) -> None:
    now_s = [100.0]
    reader = _Reader(debug=False, clock=lambda: now_s[0])
    reader.feed(b"\x1b")
    if wait_s > ESCAPE_DELAY:
        now_s[0] += ESCAPE_DELAY
        assert [m.key for m in reader.expire() if isinstance(m, events.Key)] == ["escape"]
    now_s[0] += wait_s
    assert [type(message).__name__ for message in reader.feed(rest)] == kinds
    assert reader.timeout_s is None


@pytest.mark.parametrize("typed", [b"]", b"[x", b"Pull", b"?", b"_Go"])
def test_what_is_typed_after_an_escape_stays_typed(typed: bytes) -> None:
    now_s = [100.0]
    reader = _Reader(debug=False, clock=lambda: now_s[0])
    reader.feed(b"\x1b")
    now_s[0] += ESCAPE_DELAY
    reader.expire()
    now_s[0] += ESCAPE_DELAY
    keys = [m.character for m in reader.feed(typed) if isinstance(m, events.Key)]
    assert keys == list(typed.decode())
